import { availableParallelism } from 'node:os';
import { type Candidate, compare, type Row, throughput } from './compare.ts';
import { short, spread, table } from './table.ts';
import { TURN } from './workloads.ts';

/** Latency of one warm turn after the other, and turns per second. */
export interface TurnRow extends Row {
  /** Turns per second when every core is kept busy; for engines in process, one after the other. */
  readonly perSecond: number | null;
}

/** The smallest program on every engine, each run in a fresh sandbox. */
export async function benchTurns(candidates: readonly Candidate[], quick: boolean): Promise<TurnRow[]> {
  const rows = await compare(TURN, candidates, quick ? 20 : 300, quick ? 5 : 30);
  const measured: TurnRow[] = [];
  for (const [index, row] of rows.entries()) {
    const candidate = candidates[index];
    const lanes = index === 0 ? availableParallelism() : 1;
    const open = candidate !== undefined && 'engine' in candidate && row.ms !== null;
    measured.push({ ...row, perSecond: open ? await throughput(candidate.engine, TURN, lanes, quick ? 200 : 1500) : null });
  }
  return measured;
}

/** The rows as a page of text. */
export function renderTurns(rows: readonly TurnRow[]): string {
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
  return `${table(['engine', 'boundary', 'median ms', 'q1–q3 ms', 'p95', 'p99', 'runs', 'turns/s'], cells)}\n\n${TURN.about}.\n`;
}
