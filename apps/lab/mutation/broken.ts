/**
 * Breaks 100 requirements, one at a time, and shows which named tests notice: `node apps/lab/mutation/broken.ts [--only ID,…]`. The ids are
 * those of `test/traceability` with the smallest hashes of seed and id; `broken.txt` says how each is broken and which test file names it.
 * It works in a copy of the sources, in `dist/`, from where packages are found, and runs of a file only the tests with the id in their titles.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { requirements } from '../../../test/traceability/ids.ts';
import { type Break, parseBreaks } from './breaks.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SEED = '23';
const COUNT = 100;
/** A test that a break makes endless has failed. */
const TIMEOUT_MS = 300_000;

const { values } = parseArgs({ options: { only: { type: 'string' } } });
const only = values.only?.split(',');
const breaks = parseBreaks(readFileSync(new URL('broken.txt', import.meta.url), 'utf8'));
const missing = drawn().filter((id) => !breaks.some((one) => one.id === id));
if (only === undefined && missing.length > 0) throw new Error(`broken.txt has no break for ${missing.join(', ')}`);

const copy = mkdtempSync(join(ROOT, 'dist/broken-'));
try {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0');
  for (const file of files) if (file !== '') cpSync(join(ROOT, file), join(copy, file));
  for (const name of readdirSync(join(ROOT, 'dist')))
    if (!/^(broken|mutants)-/.test(name)) cpSync(join(ROOT, 'dist', name), join(copy, 'dist', name), { recursive: true });
  const chosen = breaks.filter(({ id }) => only === undefined || only.includes(id));
  const survivors = chosen.filter((one) => !isNoticed(one));
  process.stdout.write(`${chosen.length - survivors.length} of ${chosen.length} broken requirements noticed, seed ${SEED}\n`);
  process.exitCode = survivors.length === 0 ? 0 : 1;
} finally {
  rmSync(copy, { recursive: true, force: true });
}

/** The ids of the sample. */
function drawn(): string[] {
  const key = (id: string): string => createHash('sha256').update(`${SEED}:${id}`).digest('hex');
  return requirements()
    .toSorted((a, b) => (key(a) < key(b) ? -1 : 1))
    .slice(0, COUNT);
}

function isNoticed({ id, file, test, changes }: Break): boolean {
  const whole = readFileSync(join(ROOT, file), 'utf8');
  const built = join(copy, 'dist', file.replace(/\.ts$/, '.js'));
  const wasBuilt = existsSync(built) ? readFileSync(built) : null;
  const broken = changed(whole, file, changes);
  // Throws for a break that is no TypeScript.
  const script = stripTypeScriptTypes(broken).replace(/(from|import\() ?'(\.[^']*)\.ts'/g, "$1 '$2.js'");
  writeFileSync(join(copy, file), broken);
  // Some tests start processes, which run what is built.
  if (wasBuilt !== null) writeFileSync(built, script);
  try {
    const { passed, failed } = outcome(id, test);
    const verdict = failed > 0 ? `noticed, ${failed} of ${passed + failed} tests fail` : `SURVIVED ${passed} tests`;
    process.stdout.write(`${id} ${test}: ${verdict}\n`);
    return failed > 0;
  } finally {
    writeFileSync(join(copy, file), whole);
    if (wasBuilt !== null) writeFileSync(built, wasBuilt);
  }
}

function changed(whole: string, file: string, changes: Break['changes']): string {
  let text = whole;
  for (const { from, to } of changes) {
    if (text.split(from).length !== 2) throw new Error(`${file} has not exactly one ${JSON.stringify(from)}`);
    text = text.replace(from, () => to);
  }
  return text;
}

/** Runs the tests of a file that name an id. A file that does not load tells nothing about the requirement. */
function outcome(id: string, test: string): { readonly passed: number; readonly failed: number } {
  const name = `(?<![A-Za-z0-9.-])${id.replaceAll('.', '\\.')}(?![A-Za-z0-9]|[.-][A-Za-z0-9])`;
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const args = ['run', '--maxWorkers=1', '--reporter=json', `--outputFile=${report}`, '-t', name, test];
  const { signal } = spawnSync(join(ROOT, 'node_modules/.bin/vitest'), args, {
    cwd: copy,
    stdio: 'ignore',
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  if (signal !== null) return { passed: 0, failed: 1 };
  const { numPassedTests: passed, numFailedTests: failed }: { numPassedTests: number; numFailedTests: number } = JSON.parse(
    readFileSync(report, 'utf8'),
  );
  if (passed + failed === 0) throw new Error(`${test} does not load, or no title in it names ${id}`);
  return { passed, failed };
}
