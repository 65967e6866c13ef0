import { availableParallelism } from 'node:os';
import { BURST, type Candidate, compare, type Engine, type Row, type Throughput, throughput } from './compare.ts';
import { OURS, OURS_KEPT, QUICKJS_PROCESS, RAW_PROCESS } from './names.ts';
import { type PromiseReport, ratio, renderPromises } from './promises.ts';
import { inTurns, type Summary, summarize } from './stats.ts';
import { short, spread, table } from './table.ts';
import { TURN } from './workloads.ts';

/** Latency of one warm turn after the other, and turns per second. */
export interface TurnRow extends Row {
  /** Turns per second when every core is kept busy; for engines in process, one after the other. Median of slices in alternation. */
  readonly perSecond: number | null;
}

/** Engines that have a process for each core. */
const LANED: ReadonlySet<string> = new Set([OURS, OURS_KEPT, QUICKJS_PROCESS, RAW_PROCESS]);

/** Pause between two runs: a turn comes when a model has answered, not right after another. */
export const PAUSE_MS = 5;

/** Pause of the turns that are judged. */
const REST_MS = 20;

/** Slices of the closed loops: each engine has its turn in each. */
const SLICES = { whole: 7, quick: 1 } as const;
export const SLICE_MS = 300;
const QUICK_SLICE_MS = 50;

/** Runs in a row of a quick run. */
const QUICK_BURST = 10;

/** The smallest program on every engine, each run in a fresh sandbox, and the promises about ours. */
export async function benchTurns(candidates: readonly Candidate[], quick: boolean): Promise<PromiseReport<TurnRow>> {
  const rows = await compare(TURN, candidates, quick ? 1 : 6, quick ? 0 : 1, PAUSE_MS, quick ? QUICK_BURST : BURST);
  const rested = await alternating(candidates, quick ? 10 : 200);
  const loops = rows.map((): Throughput[] => []);
  const sliceMs = quick ? QUICK_SLICE_MS : SLICE_MS;
  for (let slice = 0; slice < SLICES[quick ? 'quick' : 'whole']; slice++)
    for (const [index, candidate] of candidates.entries()) {
      if (!('engine' in candidate) || rows[index]?.ms === null) continue;
      const { engine } = candidate;
      loops[index]?.push(await throughput(engine, TURN, LANED.has(engine.name) ? availableParallelism() : 1, sliceMs));
    }
  const measured = rows.map((row, index) => ({
    ...row,
    perSecond: summarize(loops[index]?.map(({ perSecond }) => perSecond) ?? [])?.median ?? null,
  }));
  const cpu = loops.map((slices) => summarize(slices.flatMap(({ cpuMs }) => (cpuMs === null ? [] : [cpuMs]))));
  const [ours, raw] = [OURS, RAW_PROCESS].map((name) => rows.findIndex(({ engine }) => engine === name));
  const used = [cpu[ours ?? -1], cpu[raw ?? -1]] as const;
  return {
    rows: measured,
    promises: [
      ratio(`rested turn by ${RAW_PROCESS}`, rested, 'ms', ['most', 1]),
      ratio(`rested turn by ${RAW_PROCESS}, 95th percentile`, rested, 'ms', ['most', 2], 'p95'),
      ratio(`CPU time of a turn in a closed loop by that of ${RAW_PROCESS}`, used, 'ms', ['most', 4], 'median'),
    ],
  };
}

/** Turns of ours and of the raw isolate in a process in turn, each after a rest, which a busy machine also needs to prepare the next one. */
async function alternating(candidates: readonly Candidate[], rounds: number): Promise<readonly [Summary | null, Summary | null]> {
  const engines = candidates.flatMap((candidate): Engine[] => ('engine' in candidate ? [candidate.engine] : []));
  const pair = [OURS, RAW_PROCESS].flatMap((name) => engines.find((each) => each.name === name) ?? []);
  const pieces = pair.map((engine) => async () => (await engine.run(TURN)).ms);
  const [ours = null, raw = null] = await inTurns({ rounds, pauseMs: REST_MS }, pieces);
  return [ours, raw];
}

export function renderTurns({ rows, promises }: PromiseReport<TurnRow>): string {
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
