import { readFileSync } from 'node:fs';

/** The folder of this package's package.json, with a slash at the end. */
export const PACKAGE = new URL('.', import.meta.resolve('#package'));

let known: string | null = null;

/** The package's version, from its package.json. */
export function version(): string {
  known ??= read();
  return known;
}

function read(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('package.json', PACKAGE), 'utf8'));
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) return String(manifest.version);
  throw new TypeError('package.json names no version');
}
