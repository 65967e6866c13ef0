import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRuntime, type LimitOptions, type RunResult, type Runtime } from '../src/entries/index.ts';
import { TOOLS } from './breaches.ts';
import type { OnProgress } from './quotas.ts';
import { RawProcess } from './rawprocess.ts';
import { type Summary, summarize } from './stats.ts';
import { short, table } from './table.ts';

/** One part of the time. */
export interface SoakRow {
  /** Seconds since the start, at the end of this part. */
  readonly until: number;
  readonly runs: number;
  /** Runs with an unexpected end. */
  readonly wrong: number;
  /** Milliseconds of the honest runs. */
  readonly honestMs: Summary | null;
  /** Milliseconds of a raw isolate in a process, in between. */
  readonly rawMs: Summary | null;
  /** Resident bytes of the host process, at the end of this part. */
  readonly hostRssBytes: number;
  /** Open descriptors of the host process, or its active resources where the system does not report descriptors. */
  readonly handles: number;
}

interface Visitor {
  readonly source: string;
  readonly limits?: LimitOptions;
  readonly honest: boolean;
  ended(result: RunResult): boolean;
}

const MB = 1024 * 1024;
/** Samples of a soak: enough for a line through them. */
const PARTS = 20;
const quota = (limit: string) => (result: RunResult) => result.error?.code === 'ERR_QUOTA' && result.error.limit === limit;
const loop = (body: string): string => `command\n  set s = "x"\n  while true\n    ${body}\n  endwhile\nendcommand\n`;

/** Five honest turns and four hostile ones, in this order, repeated. */
const VISITORS: readonly Visitor[] = [
  { source: 'command\n  emit 1 + 2\nendcommand\n', honest: true, ended: ({ emits }) => emits[0] === '3' },
  { source: loop('set s = "x"'), limits: { cpuMs: 20 }, honest: false, ended: quota('cpuMs') },
  { source: 'command\n  emit tool.bench.Echo("a")\nendcommand\n', honest: true, ended: ({ emits }) => emits[0] === 'a' },
  { source: 'command\n  emit secret\nendcommand\n', honest: true, ended: ({ emits }) => emits[0] === 'nil' },
  { source: loop('set s = s + s'), limits: { memoryBytes: 4 * MB }, honest: false, ended: quota('memoryBytes') },
  { source: 'command\n  set secret = 1\n  emit 1\nendcommand\n', honest: true, ended: ({ ok }) => ok },
  { source: 'command\n  emit )\nendcommand\n', honest: true, ended: ({ error }) => error?.kind === 'syntax' },
  { source: loop('emit s'), limits: { outputBytes: 64 * 1024 }, honest: false, ended: quota('outputBytes') },
  {
    source: 'command\n  emit tool.bench.Never()\nendcommand\n',
    limits: { wallMs: 50 },
    honest: false,
    ended: ({ error }) => error?.code === 'ERR_TIMEOUT',
  },
];

/** Keeps every core busy with honest and hostile turns. */
export async function benchSoak(seconds: number, onProgress: OnProgress = () => {}): Promise<SoakRow[]> {
  await using runtime = await createRuntime({ tools: TOOLS, policy: { allow: ['*'] } });
  await using raw = await RawProcess.open();
  const rows: SoakRow[] = [];
  // Every part goes on where the last one ended, so that each visitor comes even when the parts are short.
  const visitors = inTurn(VISITORS);
  for (let part = 1; part <= PARTS; part++) {
    rows.push(await soak(runtime, raw, visitors, (seconds * 1000) / PARTS, (seconds * part) / PARTS));
    onProgress(part, PARTS);
  }
  return rows;
}

/** The items, again and again. */
function* inTurn<T>(items: readonly T[]): Generator<T, never, undefined> {
  for (;;) yield* items;
}

async function soak(
  runtime: Runtime,
  raw: RawProcess,
  visitors: Generator<Visitor, never, undefined>,
  ms: number,
  until: number,
): Promise<SoakRow> {
  const end = performance.now() + ms;
  const honest: number[] = [];
  const bare: number[] = [];
  let runs = 0;
  let wrong = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() < end) {
      const visitor = visitors.next().value;
      runs++;
      const start = performance.now();
      const result = await runtime.run(visitor.source, { limits: visitor.limits });
      if (visitor.honest) honest.push(performance.now() - start);
      if (!visitor.ended(result)) wrong++;
    }
  };
  const beside = async (): Promise<void> => {
    for (; performance.now() < end; await sleep(REST_MS)) bare.push((await raw.run('1')).ms);
  };
  await Promise.all([beside(), ...Array.from({ length: availableParallelism() }, lane)]);
  const handles = openHandles();
  return {
    until,
    runs,
    wrong,
    honestMs: summarize(honest),
    rawMs: summarize(bare),
    hostRssBytes: process.memoryUsage.rss(),
    handles,
  };
}

/** Open descriptors, or active resources where the system does not report descriptors. */
export function openHandles(): number {
  // Node's active resources lack handles that do not keep the process alive, such as the pipes of workers.
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length : process.getActiveResourcesInfo().length;
}

/** Parts that fill caches and start workers. The line is fitted to the others. */
const WARM_PARTS = PARTS / 4;
/** Growth of the host after warming up that is too large to be garbage. */
const GROWTH_BYTES = 64 * MB;
/** Handles that may come and go: timers of ending runs, pipes of workers that are replaced. */
const SPARE_HANDLES = 16;
/** Pause between two raw isolates beside the turns. */
const REST_MS = 50;
/** Most by which honest turns may become slower than the raw isolate from the beginning of the line to its end. */
const SLOWER = 1.5;

/** A line through the rows after warming up. */
export interface Trend {
  readonly what: 'host RSS' | 'handles' | 'honest p50 by raw';
  readonly unit: string;
  /** At the beginning and the end of the line. */
  readonly from: number;
  readonly to: number;
  /** In the unit, per hour. */
  readonly perHour: number;
  readonly flat: boolean;
}

/** Fits lines of least squares to memory, handles and latency, and judges them. */
export function soakTrends(rows: readonly SoakRow[]): Trend[] {
  const warm = rows.length > WARM_PARTS ? rows.slice(WARM_PARTS) : rows;
  const trend = (
    what: Trend['what'],
    unit: string,
    value: (row: SoakRow) => number,
    flat: (from: number, to: number) => boolean,
  ): Trend => {
    const { from, to, slope } = line(warm.map((row) => [row.until, value(row)]));
    return { what, unit, from, to, perHour: slope * 3600, flat: flat(from, to) };
  };
  return [
    trend(
      'host RSS',
      'MB',
      ({ hostRssBytes }) => hostRssBytes / MB,
      (from, to) => to - from <= GROWTH_BYTES / MB,
    ),
    trend(
      'handles',
      '',
      ({ handles }) => handles,
      (from, to) => to - from <= SPARE_HANDLES,
    ),
    trend(
      'honest p50 by raw',
      'x',
      ({ honestMs, rawMs }) => (honestMs?.median ?? 0) / (rawMs?.median ?? 1),
      (from, to) => to <= from * SLOWER,
    ),
  ];
}

/** A line through points by least squares: its values at the first and the last, and its slope. */
export function line(points: readonly (readonly [x: number, y: number])[]): { from: number; to: number; slope: number } {
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = mean(points.map(([at]) => at));
  const y = mean(points.map(([, value]) => value));
  const spread = points.reduce((sum, [at]) => sum + (at - x) ** 2, 0);
  const slope = spread === 0 ? 0 : points.reduce((sum, [at, value]) => sum + (at - x) * (value - y), 0) / spread;
  const at = (place: number): number => y + slope * (place - x);
  return { from: at(points[0]?.[0] ?? x), to: at(points.at(-1)?.[0] ?? x), slope };
}

/** The broken promises. A quick soak is too short to judge latency. */
export function soakFailures(rows: readonly SoakRow[], quick = false): string[] {
  const wrong = rows.reduce((sum, row) => sum + row.wrong, 0);
  if (rows.length === 0) return ['nothing ran'];
  return [
    ...(wrong === 0 ? [] : [`${wrong} runs did not end as they should`]),
    ...soakTrends(rows)
      .filter(({ flat, unit }) => !flat && !(quick && unit === 'x'))
      .map(({ what, unit, from, to }) => `${what} did not stay flat: from ${short(from)} to ${short(to)} ${unit}`.trimEnd()),
  ];
}

/** The rows as a page of text. */
export function renderSoak(rows: readonly SoakRow[]): string {
  const head = ['until s', 'runs', 'wrong', 'honest ms p50', 'p95', 'p99', 'max', 'raw p50', 'host RSS MB', 'handles'];
  const cells = rows.map(({ until, runs, wrong, honestMs, rawMs, hostRssBytes, handles }) => [
    until.toFixed(1),
    String(runs),
    String(wrong),
    short(honestMs?.median ?? null),
    short(honestMs?.p95 ?? null),
    short(honestMs?.p99 ?? null),
    short(honestMs?.max ?? null),
    short(rawMs?.median ?? null),
    short(hostRssBytes / MB),
    String(handles),
  ]);
  const trends = soakTrends(rows).map(({ what, unit, from, to, perHour, flat }) => [
    what,
    `${short(from)} ${unit}`.trimEnd(),
    `${short(to)} ${unit}`.trimEnd(),
    `${short(perHour)} ${unit}`.trimEnd(),
    flat ? 'flat' : 'NOT FLAT',
  ]);
  const verdict = table(['line through the last three quarters', 'from', 'to', 'per hour', 'verdict'], trends);
  return `${table(head, cells)}\n\nFive honest turns to four hostile ones, every core busy.\n\n${verdict}\n`;
}
