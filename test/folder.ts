import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new folder, which is removed with the one of the whole run (`environment.ts`). */
export function tempFolder(): string {
  return mkdtempSync(join(tmpdir(), 't-'));
}
