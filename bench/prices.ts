import { Sandbox } from '../src/sandbox/index.ts';
import { canonicalName } from '../src/tools/index.ts';
import { defaultLimits } from '../src/wire/limits.ts';
import { EMPTY_RUN } from '../src/wire/protocol.ts';
import { PURE_TOOLS } from '../src/wire/pure/tools.ts';
import { PRICE_ROWS, type PriceRow } from './pricerows.ts';
import { judged, type PromiseReport, type PromiseRow, renderPromises } from './promises.ts';
import { threadNs, workerPid } from './residence.ts';
import { short, table } from './table.ts';

/** The time of a step for its fuel. */
export interface Price extends Pick<PriceRow, 'step' | 'size'> {
  /** Fuel of the step once. */
  readonly fuel: number;
  /** CPU time for one unit of it, in nanoseconds: the least that was measured. Other work of the machine only adds to it. */
  readonly nsPerFuel: number;
  /** The same, as a multiple of that of the cheapest row. */
  readonly ratio: number;
}

/** How often a pass runs the step, so that the loop around it hardly counts. */
const TIMES = 10;
/** Thread time of a measured series of passes, in nanoseconds, and the number of series. */
const SERIES = { quick: { ns: 1e6, rounds: 1 }, whole: { ns: 10e6, rounds: 5 } } as const;
/** How many of the dearest and of the cheapest rows are measured again, and how often at most. */
const AGAIN = { dearest: 40, cheapest: 8, rounds: 8 } as const;
/** A quick run measures one row of so many. */
const QUICK_SHARE = 8;
/** The tool that says how many passes come next; with 0 the program ends. */
const NEXT = 'tool.bench.next';
const MB = 1024 * 1024;
const LIMITS = {
  ...defaultLimits('run'),
  fuel: 1e12,
  cpuMs: 60_000,
  wallMs: 120_000,
  memoryBytes: 256 * MB,
  emits: 1e7,
  outputBytes: 1024 * MB,
  scratchBytes: 1024 * MB,
};
const PURE = Object.values(PURE_TOOLS).flatMap((group) => Object.keys(group).map(canonicalName));

/**
 * What a unit of fuel takes, for every operator, statement, built-in function and tool of the isolate; the dearest row comes first. A
 * program runs the step in a loop and asks the host after each series of passes, so the host can read the time that the worker's thread has
 * computed. Only Linux tells it; elsewhere there are no rows.
 */
export async function benchPrices(quick: boolean): Promise<PromiseReport<Price>> {
  if (process.platform !== 'linux') return { rows: [], promises: [] };
  await using sandbox = await Sandbox.create({ concurrency: 1, launcher: 'none' });
  const measured: Measured[] = [];
  for (const row of PRICE_ROWS.filter((_, index) => !quick || index % QUICK_SHARE === 0)) {
    const ns = await measure(sandbox, row, quick);
    measured.push({ row, ns, fuel: (await fuelOf(sandbox, row, 2)) - (await fuelOf(sandbox, row, 1)) });
  }
  if (!quick) await measureEndsAgain(sandbox, measured);
  const cheapest = Math.min(...measured.map(nsPerFuel));
  const rows = measured
    .map((each) => {
      const { step, size } = each.row;
      return { step, size, fuel: each.fuel / TIMES, nsPerFuel: nsPerFuel(each), ratio: nsPerFuel(each) / cheapest };
    })
    .sort((a, b) => b.ratio - a.ratio);
  // A quick run measures too briefly for a promise.
  return { rows, promises: quick ? [] : promisesOf(rows) };
}

/** A pass of a row: its nanoseconds and its fuel. */
interface Measured {
  readonly row: PriceRow;
  ns: number;
  readonly fuel: number;
}

function nsPerFuel({ ns, fuel }: Measured): number {
  return ns / fuel;
}

/**
 * The dearest of hundreds of rows is easily the one that other work of the machine disturbed most. So the rows that took most and least for
 * a unit of fuel are measured again, in rounds, until the promise is kept.
 */
async function measureEndsAgain(sandbox: Sandbox, measured: readonly Measured[]): Promise<void> {
  const sorted = measured.toSorted((a, b) => nsPerFuel(b) - nsPerFuel(a));
  const ends = [...sorted.slice(0, AGAIN.dearest), ...sorted.slice(-AGAIN.cheapest)];
  for (let round = 0; round < AGAIN.rounds; round++) {
    for (const each of ends) each.ns = Math.min(each.ns, await measure(sandbox, each.row, false));
    const prices = ends.map(nsPerFuel);
    if (Math.max(...prices) <= MOST * Math.min(...prices)) return;
  }
}

/** The promise: the most that the dearest row takes, by the cheapest. */
const MOST = 100;

function promisesOf(rows: readonly Price[]): PromiseRow[] {
  const what = 'a unit of fuel of the dearest row, by one of the cheapest';
  return [judged(what, rows[0]?.ratio ?? null, { unit: 'x', bound: 'most', target: MOST }, rows.length)];
}

/** Fuel of a run of one to nine passes. */
async function fuelOf(sandbox: Sandbox, row: PriceRow, passes: number): Promise<number> {
  let asked = 0;
  return run(sandbox, row, () => (asked++ === 0 ? passes : 0));
}

/** Nanoseconds of a pass: the least of the series. The first ones warm up and find out how many passes a series needs. */
async function measure(sandbox: Sandbox, row: PriceRow, quick: boolean): Promise<number> {
  const { ns: wanted, rounds } = SERIES[quick ? 'quick' : 'whole'];
  const series: number[] = [];
  let passes = 0;
  let before = 0;
  await run(sandbox, row, () => {
    const now = threadNs(workerPid());
    const ns = now - before;
    if (passes === 0) passes = 1;
    else if (series.length === 0 && ns < wanted) passes = Math.ceil(passes * Math.min(10, (1.5 * wanted) / ns));
    else if (series.push(ns / passes) > rounds) return 0;
    before = threadNs(workerPid());
    return passes;
  });
  return Math.min(...series.slice(1));
}

/** Runs a row's program; `next` gives the number of passes whenever the program asks. Resolves to the fuel that it used. */
async function run(sandbox: Sandbox, row: PriceRow, next: () => number): Promise<number> {
  const sources = priceProgram(row).map((text, index) => ({ name: `${index}.ns`, text }));
  const { result, usage } = await sandbox.run(
    { ...EMPTY_RUN, sources, pure: PURE, limits: LIMITS },
    { onOut: () => {}, onCall: async () => ({ t: 'ok', value: next() }) },
  );
  if (result.error !== null) throw new Error(`${row.step}: ${result.error.code}: ${result.error.message}`);
  return usage.fuel;
}

/** The library and the commands of a row. The commands repeat the step as often as a tool says, until that says 0. */
export function priceProgram({ before, line, library = '' }: PriceRow): readonly [library: string, commands: string] {
  const ask = `set passes = ${NEXT}()`;
  const pass = ['while passes > 0', 'set passes = passes - 1', ...Array<string>(TIMES).fill(line), 'endwhile'];
  return [library, ['command', before, ask, 'while passes > 0', ...pass, ask, 'endwhile', 'endcommand', ''].join('\n')];
}

export function renderPrices({ rows, promises }: PromiseReport<Price>): string {
  if (rows.length === 0) return 'The time that a thread has computed is known on Linux alone.\n';
  const cells = rows.map((row) => [
    row.step.split('\n')[0] ?? '',
    row.size,
    short(row.fuel),
    short(row.nsPerFuel),
    short(row.ratio),
  ]);
  return `${table(['step', 'given', 'fuel', 'ns per fuel', 'by the cheapest'], cells)}\n\n${renderPromises(promises)}\n`;
}
