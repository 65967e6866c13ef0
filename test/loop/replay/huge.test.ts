// @module-tag slow
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { it } from 'vitest';

const CHILD = fileURLToPath(new URL('hugechild.ts', import.meta.url));

it('foreign sessions with 300,000 mistakes are refused within a heap of 192 MB (finding 9)', () => {
  // A process that needs more memory ends with an abort, which throws here, as does a failed assertion.
  execFileSync(process.execPath, ['--max-old-space-size=192', CHILD], { stdio: ['ignore', 'ignore', 'pipe'] });
}, 60_000);
