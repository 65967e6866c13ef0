import { createRuntime, type Runtime } from '../src/entries/index.ts';
import { CASES, type Case, TOOLS } from './breaches.ts';
import { benchCapacity } from './capacity.ts';
import { benchGrowth, type GrowthRow, growthPatterns, MOST_GROWTH, renderGrowth } from './growth.ts';
import { brokenPromises, judged, type PromiseReport, type PromiseRow, ratio, renderPromises } from './promises.ts';
import { RawProcess, rawColdStart } from './rawprocess.ts';
import { type Summary, summarize } from './stats.ts';
import { short, type Table, table } from './table.ts';
import { benchWedge } from './wedge.ts';

/** One limit, breached many times. */
export interface QuotaRow {
  readonly limit: string;
  readonly program: string;
  /** The limit, in `unit`. */
  readonly set: number;
  readonly unit: Case['unit'];
  /** What the run had used when it ended. */
  readonly observed: Summary | null;
  /** Observed minus set, never below 0. */
  readonly overshoot: Summary | null;
  /** For a limit of time, the milliseconds after which a raw process under such a limit is known to have ended, measured in alternation. */
  readonly bareMs: Summary | null;
  /** Elapsed milliseconds of the next run: a fresh program that must succeed. */
  readonly nextMs: Summary | null;
  readonly runs: number;
  /** Number of runs that ended with the error of the limit. */
  readonly typed: number;
  /** Number of runs after which the next one succeeded. */
  readonly survived: number;
  /** Whether the count is the same on every run. */
  readonly exact: boolean;
}

export interface QuotaReport extends PromiseReport<QuotaRow> {
  readonly growth: readonly GrowthRow[];
}

/** Called with how much of how much is done, in milliseconds on an idle machine. */
export type OnProgress = (done: number, whole: number) => void;

/** Milliseconds that the parts take on an idle machine: one breach with the run after it, one wedge, one pattern, all of capacity. */
const [CASE_MS, WEDGE_MS, GROWTH_MS, CAPACITY_MS] = [50, 300, 700, 30_000];

/** Cases from one cold start of the yardstick to the next. */
const COLD_EVERY = { whole: 3, quick: 13 } as const;

/** Breaches every limit many times and runs a program after each breach, which must succeed. Then measures growth, wedged workers and pools. */
export async function benchQuotas(quick: boolean, onProgress: OnProgress = () => {}): Promise<QuotaReport> {
  const rows: QuotaRow[] = [];
  const runs = quick ? 3 : 100;
  const wedges = quick ? 2 : 100;
  const whole = CASES.length * runs * CASE_MS + wedges * WEDGE_MS + growthPatterns(quick).length * GROWTH_MS + CAPACITY_MS;
  let done = 0;
  const spent = (ms: number): void => {
    done += ms;
    onProgress(done, whole);
  };
  const coldMs: number[] = [];
  {
    // The default fuel lasts for less than some limits of time on a fast machine, and a run can only tighten it.
    await using runtime = await createRuntime({ tools: TOOLS, policy: { allow: ['*'] }, limits: { fuel: 1e12 } });
    await using raw = await RawProcess.open();
    for (const [index, each] of CASES.entries()) {
      rows.push(await breach(runtime, raw, each, runs));
      if (index % COLD_EVERY[quick ? 'quick' : 'whole'] === 0) coldMs.push(await rawColdStart());
      spent(runs * CASE_MS);
    }
  }
  const wedged = await benchWedge(wedges, () => spent(WEDGE_MS));
  rows.push({
    limit: 'wallMs',
    program: 'wedged in native code: killed',
    set: wedged[0]?.setMs ?? 0,
    unit: 'ms',
    observed: summarize(wedged.map(({ killedMs }) => killedMs)),
    overshoot: summarize(wedged.map(({ killedMs, setMs }) => Math.max(0, killedMs - setMs))),
    bareMs: summarize(wedged.map(({ bareMs }) => bareMs)),
    nextMs: null,
    runs: wedged.length,
    typed: wedged.filter(({ typed }) => typed).length,
    survived: wedged.length,
    exact: false,
  });
  const growth = await benchGrowth(quick, () => spent(GROWTH_MS));
  return { rows, growth, promises: [...promisesOf(rows, growth, summarize(coldMs)), ...(await benchCapacity(quick))] };
}

/** What is promised of the end of a breach, as a multiple of that of the raw process: the most for the median and the 95th percentile. */
const BREACHES_OF_TIME = [
  ['cpuMs', 'endless loop', 1.05, 1.3],
  ['wallMs', 'tool that never answers', 1.05, 1.3],
  ['wallMs', 'endless loop', 1.05, 1.3],
  // The host gives a worker 20 ms to end by itself, and kills it then.
  ['wallMs', 'wedged in native code', 1.25, 1.5],
] as const;

/** The promises about the rows. `cold` is the start of a raw isolate in a new process. */
function promisesOf(rows: readonly QuotaRow[], growth: readonly GrowthRow[], cold: Summary | null): PromiseRow[] {
  /** When a breach of a limit of time ended, as a multiple of when the raw process under such a limit did: that is the limit and the delay of this machine. */
  const ended = (limit: string, program: string, at: 'median' | 'p95', most: number): PromiseRow => {
    const row = rows.find((each) => each.limit === limit && each.program.startsWith(program));
    const what = `${limit} of ${row?.set} ms, ${program}: end by that of a raw process under such a limit`;
    return ratio(`${what} (${at})`, [row?.observed, row?.bareMs], 'ms', ['most', most], at);
  };
  const exact = rows.filter((row) => row.exact);
  const spread = exact.filter(({ observed }) => observed !== null && observed.min !== observed.max).length;
  const none = { unit: 'steps', bound: 'most', target: 0 } as const;
  const all = exact.reduce((sum, { runs }) => sum + runs, 0);
  const next = summarize(rows.flatMap(({ nextMs }) => (nextMs === null ? [] : [nextMs.max])));
  const survived = rows.reduce((sum, row) => sum + Math.min(row.survived, row.typed), 0);
  const runs = rows.reduce((sum, row) => sum + row.runs, 0);
  const largest = growth.length === 0 ? null : Math.max(...growth.map(({ ratio }) => ratio));
  return [
    judged('what is counted: most beyond any limit', Math.max(...exact.map(({ overshoot }) => overshoot?.max ?? 0)), none, all),
    judged('what is counted: limits that ended at another place on another run', spread, none, all),
    ...BREACHES_OF_TIME.flatMap(([limit, program, median, p95]) => [
      ended(limit, program, 'median', median),
      ended(limit, program, 'p95', p95),
    ]),
    judged(
      'memory limit of 32 MB: most the process grew by',
      largest,
      { unit: 'x', bound: 'most', target: MOST_GROWTH },
      growth.length,
    ),
    judged('breaches survived and typed', (100 * survived) / runs, { unit: '%', bound: 'least', target: 100 }, runs),
    ratio(
      'run after a breach, slowest, by the cold start of a raw isolate in a process',
      [next, cold],
      'ms',
      ['most', 1.5],
      'max',
    ),
  ];
}

/** Invalid numbers, and limits that did not hold. Promises of time are judged only with enough samples. */
export function quotaFailures({ rows, growth, promises }: QuotaReport, quick: boolean): string[] {
  const broken = promises.filter(({ kept, unit }) => kept === false && !(quick && (unit === 'x' || unit === 'MB')));
  return [
    ...rows.flatMap(({ limit, program, runs, typed, survived }) => [
      ...(typed === runs
        ? []
        : [`${limit} (${program}): ${runs - typed} of ${runs} runs did not end with the error of the limit`]),
      ...(survived === runs ? [] : [`${limit} (${program}): ${runs - survived} of ${runs} runs after it failed`]),
    ]),
    ...growth
      .filter(({ refused }) => !refused)
      .map(({ pattern }) => `${pattern}: was not refused by the interpreter's own account`),
    ...brokenPromises(broken),
  ];
}

async function breach(runtime: Runtime, raw: RawProcess, each: Case, runs: number): Promise<QuotaRow> {
  const observed: number[] = [];
  const next: number[] = [];
  const bare: number[] = [];
  let typed = 0;
  let survived = 0;
  for (let run = 0; run < runs; run++) {
    const result = await runtime.run(each.source, { limits: each.limits, ...each.options });
    const fits = each.fits === undefined || (await runtime.run(each.fits, { limits: each.limits })).ok;
    if (fits && result.error?.code === each.code && (each.code === 'NS37' || result.error.limit === each.limit)) typed++;
    observed.push(each.observe(result));
    const start = performance.now();
    const after = await runtime.run('command\n  emit 1\nendcommand\n');
    next.push(performance.now() - start);
    if (after.ok && after.values[0] === 1) survived++;
    if (each.bare !== null) bare.push(await raw[each.bare](each.set));
  }
  return {
    limit: each.limit,
    program: each.program,
    set: each.set,
    unit: each.unit,
    observed: summarize(observed),
    overshoot: summarize(observed.map((value) => Math.max(0, value - each.set))),
    bareMs: summarize(bare),
    nextMs: summarize(next),
    runs,
    typed,
    survived,
    exact: each.exact,
  };
}

export function quotaTable(rows: readonly QuotaRow[]): Table {
  const cells = rows.map((row) => [
    row.limit,
    row.program,
    `${row.set} ${row.unit}`,
    short(row.observed?.median ?? null),
    short(row.overshoot?.median ?? null),
    short(row.overshoot?.p95 ?? null),
    short(row.overshoot?.p99 ?? null),
    short(row.overshoot?.max ?? null),
    `${row.typed}/${row.runs}`,
    `${row.survived}/${row.runs}`,
    short(row.bareMs?.median ?? null),
    short(row.nextMs?.median ?? null),
    short(row.nextMs?.max ?? null),
  ]);
  const head = [
    'limit',
    'program',
    'set',
    'observed',
    'over p50',
    'p95',
    'p99',
    'max',
    'right error',
    'next run ok',
    'raw process p50',
    'next ms p50',
    'max',
  ];
  return { head, cells };
}

export function renderQuotas({ rows, growth, promises }: QuotaReport): string {
  const { head, cells } = quotaTable(rows);
  return `${table(head, cells)}\n\nover: observed minus set, in the unit of the row; raw process: the end of a raw isolate under such a limit of time; next: the run\nright after a breach.\n\n${renderGrowth(growth)}\n${renderPromises(promises)}\n`;
}
