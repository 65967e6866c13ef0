/**
 * Counts how many mutants of the interpreter the differential run finds: `node apps/lab/mutation/differential.ts --count 30 --seed 1`.
 * It changes one place at a time in a copy of the sources, in `dist/`, from where packages are found. Mutants that no program can notice
 * stand with their reasons in `unobservable.ts`; they are passed over.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Mutant, mutantsOf } from './mutants.ts';
import { OTHER_FILES, UNOBSERVABLE, type Unobservable } from './unobservable.ts';
import { filesBelow } from './workspace.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PARTS = ['grammar', 'src', 'test/differential', 'conformance/language', 'package.json', 'tsconfig.json'];
/** A mutant may let a program take all memory. */
const HEAP_MB = 700;

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    programs: { type: 'string', default: '10000' },
  },
});

const copy = mkdtempSync(join(ROOT, 'dist/mutants-'));
try {
  for (const part of PARTS) cpSync(join(ROOT, part), join(copy, part), { recursive: true });
  const whole = difference();
  if (whole !== null) throw new Error(`the two interpreters disagree without any mutant: ${whole}`);
  const files = filesBelow(ROOT, ['src/guest']).filter((file) => !OTHER_FILES.some(({ path }) => file.startsWith(path)));
  const all = files.flatMap((file) => mutantsOf(file, readFileSync(join(ROOT, file), 'utf8')));
  const ordered = all.map(described).sort((a, b) => (a.key < b.key ? -1 : 1));
  const stale = UNOBSERVABLE.find((one) => !ordered.some((mutant) => isSame(one, mutant)));
  if (stale !== undefined) throw new Error(`unobservable.ts: ${stale.file} has no such mutant: ${stale.line}: ${stale.change}`);
  const [wanted, survivors] = [Number(values.count), [] as string[]];
  let [judged, passed] = [0, 0];
  for (const next of ordered) {
    if (judged === wanted) break;
    const { mutant, shown } = next;
    const known = UNOBSERVABLE.find((one) => isSame(one, next));
    if (known !== undefined) {
      passed += 1;
      process.stdout.write(`no program notices ${shown}: ${known.reason}\n`);
      continue;
    }
    judged += 1;
    const found = planted(mutant);
    if (found === null) survivors.push(shown);
    process.stdout.write(`${found === null ? 'SURVIVED' : 'found'} ${shown}${found === null ? '' : `; ${found}`}\n`);
  }
  process.stdout.write(
    `${judged - survivors.length} of ${judged} mutants found, ${passed} passed over, drawn from ${all.length} with seed ${values.seed}\n`,
  );
  process.exitCode = survivors.length === 0 ? 0 : 1;
} finally {
  rmSync(copy, { recursive: true, force: true });
}

/** The first difference with a mutant in the copy; null when the programs notice nothing. */
function planted({ file, start, end, replacement }: Mutant): string | null {
  const text = readFileSync(join(ROOT, file), 'utf8');
  writeFileSync(join(copy, file), text.slice(0, start) + replacement + text.slice(end));
  try {
    return difference();
  } finally {
    writeFileSync(join(copy, file), text);
  }
}

/** The first difference between the two interpreters of the copy; null when they agree on all programs. */
function difference(): string | null {
  const agree = fileURLToPath(new URL('agree.ts', import.meta.url));
  const args = ['--stack-size=3900', `--max-old-space-size=${HEAP_MB}`, agree, copy, values.programs, '1'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return status === 0 ? null : stdout.trim() || `the process fails: ${errorIn(stderr)}`;
}

function errorIn(text: string): string {
  return text.split('\n').find((line) => line.includes('rror')) ?? '';
}

/** A mutant in words, what {@link UNOBSERVABLE} names it by, and its place in the order, on which no other code has an influence. */
interface Described {
  readonly mutant: Mutant;
  readonly shown: string;
  readonly file: string;
  readonly line: string;
  readonly change: string;
  readonly key: string;
}

function described(mutant: Mutant): Described {
  const { file, start, end, replacement, place, kind } = mutant;
  const text = readFileSync(join(ROOT, file), 'utf8');
  const [first = ''] = text.slice(start, end).split('\n');
  const line = text.slice(text.lastIndexOf('\n', start) + 1, text.indexOf('\n', start)).trim();
  const change = `${first.trim()} → ${replacement}`;
  const key = createHash('sha256').update(`${values.seed}:${file}:${line}:${change}`).digest('hex');
  return { mutant, shown: `${file}:${place} ${kind}: ${change}`, file, line, change, key };
}

function isSame(one: Unobservable, { file, line, change }: Described): boolean {
  return one.file === file && one.line === line && one.change === change;
}
