/**
 * Counts how many mutants of the interpreter the differential run finds: `node lab/mutation/differential.ts --count 30 --seed 1`.
 * It changes one place at a time in a copy of the sources, in `dist/`, from where packages are found.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { mutantsOf, sample } from './mutants.ts';
import { filesBelow } from './workspace.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PARTS = ['grammar', 'src', 'test', 'conformance', 'package.json', 'tsconfig.json'];
/** A mutant that takes longer is found: it does not end. */
const TIMEOUT_MS = 120_000;

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    programs: { type: 'string', default: '2000' },
  },
});

const copy = mkdtempSync(join(ROOT, 'dist/mutants-'));
try {
  for (const part of PARTS) cpSync(join(ROOT, part), join(copy, part), { recursive: true });
  if (!agrees()) throw new Error('the two interpreters disagree without any mutant');
  const all = filesBelow(ROOT, ['src/guest']).flatMap((file) => mutantsOf(file, readFileSync(join(ROOT, file), 'utf8')));
  const chosen = sample(all, Number(values.count), Number(values.seed));
  let found = 0;
  for (const { file, start, end, replacement, place, kind } of chosen) {
    const text = readFileSync(join(ROOT, file), 'utf8');
    writeFileSync(join(copy, file), text.slice(0, start) + replacement + text.slice(end));
    const isFound = !agrees();
    writeFileSync(join(copy, file), text);
    if (isFound) found += 1;
    process.stdout.write(`${isFound ? 'found' : 'SURVIVED'} ${file}:${place} ${kind}\n`);
  }
  process.stdout.write(`${found} of ${chosen.length} mutants found, drawn from ${all.length} with seed ${values.seed}\n`);
} finally {
  rmSync(copy, { recursive: true, force: true });
}

/** Whether the two interpreters of the copy agree on the programs. */
function agrees(): boolean {
  const main = join(copy, 'test/differential/main.ts');
  const args = ['--stack-size=3900', main, '--programs', values.programs, '--seed', '1'];
  return spawnSync(process.execPath, args, { timeout: TIMEOUT_MS, stdio: 'ignore' }).status === 0;
}
