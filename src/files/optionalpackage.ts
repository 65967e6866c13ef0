import { createRequire } from 'node:module';
import { ConfigError } from '../wire/errors.ts';

// The build puts calls of this function in the place of imports of optional packages: see `scripts/peers.mjs`.
const load = createRequire(import.meta.url);

/**
 * An optional package, or a part of it. Throws {@link ConfigError} (`ERR_CONFIG`) with the command that installs `packages`: this one, and
 * those that its use needs beside it.
 */
export function optionalPackage(path: string, name: string, packages: string): unknown {
  try {
    return load(path);
  } catch (cause) {
    const { code, message } = cause instanceof Error && 'code' in cause ? cause : { code: '', message: '' };
    if ((code !== 'MODULE_NOT_FOUND' && code !== 'ERR_MODULE_NOT_FOUND') || !message.includes(`'${path}'`)) throw cause;
    throw new ConfigError(`this needs the package ${name}, which is not installed: npm install ${packages}`, { cause });
  }
}
