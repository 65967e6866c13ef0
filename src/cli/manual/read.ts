import { readFileSync } from 'node:fs';
import { PACKAGE } from '../packagefiles.ts';
import type { Manual } from './manual.ts';

/** The manual that the build wrote; null without one. */
export function readManual(): Manual | null {
  try {
    // The file is a part of this package.
    return JSON.parse(readFileSync(new URL('dist/manual.json', PACKAGE), 'utf8')) as Manual;
  } catch {
    return null;
  }
}
