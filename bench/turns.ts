import { availableParallelism } from 'node:os';
import { type Candidate, compare, type Row, throughput } from './compare.ts';
import { judged, type PromiseRow, renderPromises } from './promises.ts';
import { short, spread, table } from './table.ts';
import { TURN } from './workloads.ts';

/** Latency of one warm turn after the other, and turns per second. */
export interface TurnRow extends Row {
  /** Turns per second when every core is kept busy; for engines in process, one after the other. */
  readonly perSecond: number | null;
}

/** What the benchmark found. */
export interface TurnReport {
  readonly rows: readonly TurnRow[];
  readonly promises: readonly PromiseRow[];
}

/** Pause between two runs: a turn comes when a model has answered, not right after another. */
export const PAUSE_MS = 5;

/** The smallest program on every engine, each run in a fresh sandbox, and the promises about ours. */
export async function benchTurns(candidates: readonly Candidate[], quick: boolean): Promise<TurnReport> {
  const rows = await compare(TURN, candidates, quick ? 1 : 6, quick ? 0 : 1, PAUSE_MS);
  const measured: TurnRow[] = [];
  for (const [index, row] of rows.entries()) {
    const candidate = candidates[index];
    const lanes = index === 0 ? availableParallelism() : 1;
    const open = candidate !== undefined && 'engine' in candidate && row.ms !== null;
    measured.push({ ...row, perSecond: open ? await throughput(candidate.engine, TURN, lanes, quick ? 200 : 1500) : null });
  }
  return { rows: measured, promises: promisesOf(measured) };
}

/** The promises about a warm turn. */
function promisesOf(rows: readonly TurnRow[]): PromiseRow[] {
  const [ours] = rows;
  const raw = rows.find(({ engine }) => engine.startsWith('isolated-vm'));
  const samples = ours?.ms?.samples ?? 0;
  const over = raw?.ratio == null ? null : 1 / raw.ratio;
  return [
    judged('warm turn, median', ours?.ms?.median ?? null, { unit: 'ms', bound: 'most', target: 1 }, samples),
    judged('warm turn, 95th percentile', ours?.ms?.p95 ?? null, { unit: 'ms', bound: 'most', target: 3 }, samples),
    judged('warm turn over a raw isolate in process', over, { unit: 'x', bound: 'most', target: 1 }, samples),
    judged('closed loop', ours?.perSecond ?? null, { unit: 'turns/s', bound: 'least', target: 300 }, samples),
  ];
}

/** The rows as a page of text. */
export function renderTurns({ rows, promises }: TurnReport): string {
  const cells = rows.map((row) => [
    row.engine,
    row.boundary,
    row.ms === null ? (row.note ?? '-') : short(row.ms.median),
    spread(row.ms),
    short(row.ms?.p95 ?? null),
    short(row.ms?.p99 ?? null),
    row.ms === null ? '-' : String(row.ms.samples),
    short(row.perSecond),
  ]);
  return `${table(['engine', 'boundary', 'median ms', 'q1–q3 ms', 'p95', 'p99', 'runs', 'turns/s'], cells)}\n\n${TURN.about}; ${PAUSE_MS} ms between two runs.\n\n${renderPromises(promises)}\n`;
}
