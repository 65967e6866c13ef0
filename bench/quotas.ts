import { createRuntime, type Runtime } from '../src/index.ts';
import { CASES, type Case, TOOLS } from './breaches.ts';
import { type Summary, summarize } from './stats.ts';
import { short, table } from './table.ts';

/** One limit, breached again and again. */
export interface QuotaRow {
  readonly limit: string;
  readonly program: string;
  /** What was set, in `unit`. */
  readonly set: number;
  readonly unit: Case['unit'];
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

/** Breaches every limit again and again; after each breach, runs a program that must succeed. */
export async function benchQuotas(quick: boolean): Promise<QuotaRow[]> {
  await using runtime = await createRuntime({ tools: TOOLS, policy: { allow: ['*'] } });
  const rows: QuotaRow[] = [];
  for (const each of CASES) rows.push(await breach(runtime, each, quick ? 3 : 100));
  return rows;
}

async function breach(runtime: Runtime, each: Case, runs: number): Promise<QuotaRow> {
  const observed: number[] = [];
  const next: number[] = [];
  let typed = 0;
  let survived = 0;
  for (let run = 0; run < runs; run++) {
    const result = await runtime.run(each.source, { limits: each.limits, ...each.options });
    if (result.error?.code === each.code && (each.code === 'NS37' || result.error.limit === each.limit)) typed++;
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
    short(row.overshoot?.p99 ?? null),
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
    'p99',
    'max',
    'right error',
    'next run ok',
    'next ms p50',
    'max',
  ];
  return `${table(head, cells)}\n\nover: observed minus set, in the unit of the row; next: the run right after a breach.\n`;
}
