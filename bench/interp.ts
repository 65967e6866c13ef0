import { type Candidate, compare, type Row } from './compare.ts';
import { type PromiseReport, renderPromises } from './promises.ts';
import { measurePromises } from './speed.ts';
import { short, spread, table } from './table.ts';
import { WORKLOADS } from './workloads.ts';

/** Measures every workload on every engine, then the promises. */
export async function benchInterp(candidates: readonly Candidate[], quick: boolean): Promise<PromiseReport<Row>> {
  const rows: Row[] = [];
  for (const workload of WORKLOADS) rows.push(...(await compare(workload, candidates, quick ? 1 : 15, quick ? 0 : 3)));
  return { rows, promises: await measurePromises(rows, candidates, quick) };
}

/** The results as a page of text. */
export function renderInterp({ rows, promises }: PromiseReport<Row>): string {
  const about = WORKLOADS.map(({ name, about }) => `${name}: ${about}`).join('; ');
  const cells = rows.map((row) => [
    row.workload,
    row.engine,
    row.ms === null ? (row.note ?? '-') : short(row.ms.median),
    spread(row.ms),
    row.ms === null ? '-' : String(row.ms.samples),
    row.ratio === null ? '-' : `${short(row.ratio)}x`,
  ]);
  return `${table(['workload', 'engine', 'median ms', 'q1–q3 ms', 'runs', 'vs ours'], cells)}\n\nvs ours: how often our median fits into theirs. ${about}.\n\n${renderPromises(promises)}\n`;
}
