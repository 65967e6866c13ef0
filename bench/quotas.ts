import { createRuntime, defineTool, type LimitOptions, type RunResult, type Runtime } from '../src/index.ts';
import { type Summary, summarize } from './stats.ts';
import { short, table } from './table.ts';

/** One limit, breached again and again. */
export interface QuotaRow {
  readonly limit: string;
  readonly program: string;
  /** What was set, in `unit`. */
  readonly set: number;
  readonly unit: 'fuel' | 'ms' | 'MB';
  /** What the run had used when it was ended. */
  readonly observed: Summary | null;
  /** Observed minus set, never below 0. */
  readonly overshoot: Summary | null;
  /** Elapsed milliseconds of the run after it: a fresh program that must succeed. */
  readonly nextMs: Summary | null;
  readonly runs: number;
  /** How many of the runs ended with the error that the limit promises. */
  readonly typed: number;
  /** After how many of them the next run succeeded. */
  readonly survived: number;
}

interface Case {
  readonly limit: string;
  readonly program: string;
  readonly source: string;
  readonly limits: LimitOptions;
  readonly set: number;
  readonly unit: QuotaRow['unit'];
  readonly code: string;
  observe(result: RunResult): number;
}

const MB = 1024 * 1024;
const SPIN = 'command\n  while true\n    set n = 1\n  endwhile\nendcommand\n';
const GROW = 'command\n  set s = "x"\n  while true\n    set s = s + s\n  endwhile\nendcommand\n';
const APPEND = 'command\n  set l = []\n  while true\n    set l[len(l)] = "an item"\n  endwhile\nendcommand\n';
const WAIT = 'command\n  emit tool.bench.Never()\nendcommand\n';

const CASES: readonly Case[] = [
  {
    limit: 'fuel',
    program: 'endless loop',
    source: SPIN,
    limits: { fuel: 1_000_000 },
    set: 1_000_000,
    unit: 'fuel',
    code: 'ERR_QUOTA',
    observe: ({ usage }) => usage.fuel,
  },
  {
    limit: 'cpuMs',
    program: 'endless loop',
    source: SPIN,
    limits: { cpuMs: 50, fuel: 1e12 },
    set: 50,
    unit: 'ms',
    code: 'ERR_QUOTA',
    observe: ({ usage }) => usage.cpuMs,
  },
  {
    limit: 'wallMs',
    program: 'endless loop',
    source: SPIN,
    limits: { wallMs: 50, fuel: 1e12 },
    set: 50,
    unit: 'ms',
    code: 'ERR_TIMEOUT',
    observe: ({ usage }) => usage.wallMs,
  },
  {
    limit: 'wallMs',
    program: 'tool that never answers',
    source: WAIT,
    limits: { wallMs: 50 },
    set: 50,
    unit: 'ms',
    code: 'ERR_TIMEOUT',
    observe: ({ usage }) => usage.wallMs,
  },
  {
    limit: 'memoryBytes',
    program: 'doubled text',
    source: GROW,
    limits: { memoryBytes: 32 * MB },
    set: 32,
    unit: 'MB',
    code: 'ERR_QUOTA',
    observe: ({ usage }) => usage.peakMemoryBytes / MB,
  },
  {
    limit: 'memoryBytes',
    program: 'endless list',
    source: APPEND,
    limits: { memoryBytes: 32 * MB, fuel: 1e12, cpuMs: 60_000 },
    set: 32,
    unit: 'MB',
    code: 'ERR_QUOTA',
    observe: ({ usage }) => usage.peakMemoryBytes / MB,
  },
];

/** Breaches every limit again and again; after each breach, runs a program that must succeed. */
export async function benchQuotas(quick: boolean): Promise<QuotaRow[]> {
  const never = defineTool({
    name: 'tool.bench.Never',
    description: 'never answers',
    args: [],
    returns: 'any',
    run: () => new Promise<never>(() => {}),
  });
  await using runtime = await createRuntime({ tools: [never], policy: { allow: ['*'] } });
  const rows: QuotaRow[] = [];
  for (const each of CASES) rows.push(await breach(runtime, each, quick ? 3 : 25));
  return rows;
}

async function breach(runtime: Runtime, each: Case, runs: number): Promise<QuotaRow> {
  const observed: number[] = [];
  const next: number[] = [];
  let typed = 0;
  let survived = 0;
  for (let run = 0; run < runs; run++) {
    const result = await runtime.run(each.source, { limits: each.limits });
    if (result.error?.code === each.code && result.error.limit === each.limit) typed++;
    observed.push(each.observe(result));
    const start = performance.now();
    const after = await runtime.run('command\n  emit 1\nendcommand\n');
    next.push(performance.now() - start);
    if (after.ok && after.values[0] === 1) survived++;
  }
  return {
    limit: each.limit,
    program: each.program,
    set: each.set,
    unit: each.unit,
    observed: summarize(observed),
    overshoot: summarize(observed.map((value) => Math.max(0, value - each.set))),
    nextMs: summarize(next),
    runs,
    typed,
    survived,
  };
}

/** The rows as a page of text. */
export function renderQuotas(rows: readonly QuotaRow[]): string {
  const cells = rows.map((row) => [
    row.limit,
    row.program,
    `${row.set} ${row.unit}`,
    short(row.observed?.median ?? null),
    short(row.overshoot?.median ?? null),
    short(row.overshoot?.p95 ?? null),
    short(row.overshoot?.max ?? null),
    `${row.typed}/${row.runs}`,
    `${row.survived}/${row.runs}`,
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
    'max',
    'right error',
    'next run ok',
    'next ms p50',
    'max',
  ];
  return `${table(head, cells)}\n\nover: observed minus set, in the unit of the row; next: the run right after a breach.\n`;
}
