import { readdirSync } from 'node:fs';
import type { Summary } from './stats.ts';
import { short, table } from './table.ts';

/** One part of the time. */
export interface SoakRow {
  /** Seconds since the start, at the end of this part. */
  readonly until: number;
  readonly runs: number;
  /** Runs with an unexpected end. */
  readonly wrong: number;
  readonly honestMs: Summary | null;
  /** Milliseconds of a raw isolate in a process, in between. */
  readonly rawMs: Summary | null;
  /** Resident bytes of the host process, at the end of this part. */
  readonly hostRssBytes: number;
  /** Open descriptors of the host process, or its active resources where the system does not report descriptors. */
  readonly handles: number;
}

const MB = 1024 * 1024;
/** Open descriptors, or active resources where the system does not report descriptors. */
export function openHandles(): number {
  // Node's active resources lack handles that do not keep the process alive, such as the pipes of workers.
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length : process.getActiveResourcesInfo().length;
}

/** Parts that fill caches and start workers. The line is fitted to the others. */
const WARM_PARTS = 5;
/** Growth of the host after warming up that is too large to be garbage. */
const GROWTH_BYTES = 64 * MB;
/** Handles that may come and go: timers of ending runs, pipes of workers that are replaced. */
const SPARE_HANDLES = 16;
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
