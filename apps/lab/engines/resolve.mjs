// Lets a command of the root package find the clients of this one, as it finds those of the project that it is installed in.
import { registerHooks } from 'node:module';

const CLIENTS = ['pg', 'postgres', '@restatedev/restate-sdk'];

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier, CLIENTS.includes(specifier) ? { ...context, parentURL: import.meta.url } : context),
});
