import { registerHooks } from 'node:module';

/** The service of the template is loaded as it is: its package is the one of this repository, its other packages are those of this folder. */
const ROOT = new URL('../../../package.json', import.meta.url).href;
const HERE = import.meta.url;

registerHooks({
  resolve(specifier, context, next) {
    const from = specifier.startsWith('neuroscript-runtime') ? ROOT : specifier === 'fastify' ? HERE : context.parentURL;
    return next(specifier, { ...context, parentURL: from });
  },
});
