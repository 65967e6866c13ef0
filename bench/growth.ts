import { createRuntime } from '../src/entries/index.ts';
import { forgetPeak, residence, workerPid } from './residence.ts';
import { short, table } from './table.ts';
import { command } from './workloads.ts';

/** One way to grow, and the memory that the process took. */
export interface GrowthRow {
  readonly pattern: string;
  /** `memoryBytes`, in MB. */
  readonly limitMb: number;
  /** Peak of the worker above its idle memory, which includes one prepared isolate, as a multiple of the limit. */
  readonly ratio: number;
  /** Whether the interpreter refused the growth and the worker survived. */
  readonly refused: boolean;
  readonly ms: number;
}

const MB = 1024 * 1024;
const LIMIT_MB = 32;
/** The promise about the ratio. */
export const MOST_GROWTH = 1.25;

const forever = (...lines: string[]): string[] => ['while true', ...lines, 'endwhile'];
/** A list that grows by `steps` without end. */
const list = (...steps: string[]): string => command('set l = []', ...forever(...steps));
const map = (step: string): string => command('set m = {}', ...forever(step));
/** Lists of `size` items that are set one by one. */
const grownLists = (size: number): string =>
  list('set p = []', ...Array.from({ length: size }, (_, index) => `set p[${index}] = 1`), 'set l[len(l)] = p');
const mapsOf = (size: number): string =>
  list(`set l[len(l)] = {${Array.from({ length: size }, (_, index) => `'${String.fromCharCode(97 + index)}': 1`).join(', ')}}`);
const handledErrors = (message: string): string =>
  command('set l = []', 'on error do', 'set l[len(l)] = system_error', 'clear_error', 'endon', ...forever(`fail ${message}`));

/** All ways in which values grow: texts, lists, maps, and each of them within the others. */
const PATTERNS: Readonly<Record<string, string>> = {
  'text doubled': command("set s = 'x'", ...forever('set s = s + s')),
  'wide text doubled': command('set s = char(8364)', ...forever('set s = s + s')),
  'wide text tripled': command('set s = char(8364)', ...forever('set s = s + s + s')),
  'wide texts': command('set l = []', 'set s = char(8364) * 5000', ...forever('set l[len(l)] = s + len(l)')),
  'grown lists of 1': grownLists(1),
  'grown lists of 4': grownLists(4),
  'list of texts': list("set l[len(l)] = 'k' + len(l)"),
  'list of long texts': list("set l[len(l)] = 'k' * 1000"),
  'list of numbers': list('set l[len(l)] = len(l) + 0.5'),
  'list of ints': list('set l[len(l)] = 1'),
  'list of empty lists': list('set l[len(l)] = []'),
  'list of lists of one': list('set l[len(l)] = [1]'),
  'list of lists of 3': list('set l[len(l)] = [1,2.5,3]'),
  'list of lists of 10': list('set l[len(l)] = [1,2,3,4,5,6,7,8,9,10]'),
  'list of grown lists of 5': grownLists(5),
  'list of empty maps': list('set l[len(l)] = {}'),
  'list of maps of 1': mapsOf(1),
  'list of maps of 2': mapsOf(2),
  'list of maps of 5': mapsOf(5),
  'list of maps of 9': mapsOf(9),
  'list of maps of 17': mapsOf(17),
  'map of numbers': map("set m['k' + len(m)] = 1"),
  'map of fractions': map("set m['k' + len(m)] = len(m) + 0.5"),
  'map by numbers': map("set m['' + len(m)] = 1"),
  'map long keys': command("set p = 'p' * 100", 'set m = {}', ...forever('set m[p + len(m)] = 1')),
  'map of maps': map("set m['k' + len(m)] = {}"),
  'map of maps of 1': map("set m['k' + len(m)] = {'a':1}"),
  'map of lists': map("set m['k' + len(m)] = []"),
  'map of lists of 1': map("set m['k' + len(m)] = [1]"),
  'map of texts': map("set m['k' + len(m)] = 'v' + len(m)"),
  'nested lists': list('set l = [l]'),
  'nested maps': map("set m = {'m': m}"),
  'list joined': command('set l = [1]', ...forever('set l = l + l')),
  'list joined fractions': command('set l = [1.5]', ...forever('set l = l + l')),
  'padded lists': list('set p = nil', 'set p[10000] = 1', 'set l[len(l)] = p'),
  copies: command('set l[5000] = 1', 'set all = []', ...forever('set all[len(all)] = l', 'set l[0] = len(all)')),
  'map copies': command(
    'set m = {}',
    'set i = 0',
    'while i < 1000',
    "set m['k'+i]=i",
    'set i=i+1',
    'endwhile',
    'set all = []',
    ...forever('set all[len(all)] = m', 'set m["k0"] = len(all)'),
  ),
  template: command("set s = 'x'", ...forever('set s = ```{{s}}{{s}}```')),
  chars: list('set l[len(l)] = char(len(l) % 60000)'),
  'wide chars': list('set l[len(l)] = char(128512)+len(l)'),
  slices: command("set s='abcdefghij'*100", 'set l = []', ...forever('for each c in s', 'set l[len(l)] = c', 'endfor')),
  'text of lists': list("set l[len(l)] = '' + [len(l), 'x']"),
  errors: handledErrors("'x' * 5000"),
  'short errors': handledErrors("'x'"),
};

/** Grows in each way until the limit ends the run, in a new worker each. Only Linux reports the memory of a process. */
export async function benchGrowth(quick: boolean, onRow: () => void): Promise<GrowthRow[]> {
  const rows: GrowthRow[] = [];
  for (const [pattern, source] of growthPatterns(quick)) {
    rows.push(await grow(pattern, source));
    onRow();
  }
  return rows;
}

/** The programs whose growth is measured, by name; none where the system does not report the memory of a process. */
export function growthPatterns(quick: boolean): readonly (readonly [name: string, source: string])[] {
  if (process.platform !== 'linux') return [];
  const patterns = Object.entries(PATTERNS);
  return quick ? patterns.filter((_, index) => index % 12 === 0) : patterns;
}

async function grow(pattern: string, source: string): Promise<GrowthRow> {
  await using runtime = await createRuntime({
    concurrency: 1,
    limits: { memoryBytes: LIMIT_MB * MB, fuel: 1e12, cpuMs: 60_000, wallMs: 120_000 },
  });
  await runtime.run(command('emit 1'));
  await new Promise((resolve) => setTimeout(resolve, 50));
  const pid = workerPid();
  forgetPeak(pid);
  const base = residence(pid).now;
  const { error, usage, outputComplete } = await runtime.run(source);
  const refused = error?.code === 'ERR_QUOTA' && error.limit === 'memoryBytes' && outputComplete === undefined;
  const peak = refused ? residence(pid).peak : Number.POSITIVE_INFINITY;
  return { pattern, limitMb: LIMIT_MB, ratio: (peak - base) / LIMIT_MB / MB, refused, ms: usage.wallMs };
}

export function renderGrowth(rows: readonly GrowthRow[]): string {
  if (rows.length === 0) return 'What the process takes can be measured on Linux alone.\n';
  const cells = rows.map(({ pattern, limitMb, ratio, refused, ms }) => [
    pattern,
    `${limitMb} MB`,
    short(ratio),
    refused ? 'yes' : 'NO',
    short(ms),
  ]);
  return `${table(['what grows', 'memoryBytes', 'process grew by x', 'refused by ring 1', 'ms'], cells)}\n`;
}
