// Lets a command of the root package find the clients of this one, as it finds those of the project that it is installed in.
import { registerHooks } from 'node:module';

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier, specifier === 'pg' || specifier === 'postgres' ? { ...context, parentURL: import.meta.url } : context),
});
