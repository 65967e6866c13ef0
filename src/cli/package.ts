/** Where this package is, and its version; the command line prints both. */
export { PACKAGE, version } from '../runtime/version.ts';
