import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { BURST, type Engine, throughput } from './compare.ts';
import { benchContexts, type Library } from './contexts.ts';
import { FLOOR, RAW_PROCESS } from './names.ts';
import { openOurs } from './ours.ts';
import { openFloorProcess } from './peers.ts';
import { medianBound, summarize } from './stats.ts';
import { short, table } from './table.ts';
import { PAUSE_MS, SLICE_MS } from './turns.ts';
import { TURN, WORKLOADS, type Workload } from './workloads.ts';

/** The benchmarks that can compare this build with that of another checkout. */
export const COMPARABLE = ['interp', 'turns', 'contexts'] as const;
export type Comparable = (typeof COMPARABLE)[number];

/** Rounds unless `--rounds` says otherwise. With fewer than five no median has a 95 % bound. */
export const ROUNDS = { default: 30, least: 5, most: 1000 } as const;

/** The most that the bound of a ratio may be. */
const MOST = 1.05;

/** One build: every call measures each of its workloads once and gives their times by name. */
export interface Build extends AsyncDisposable {
  measure(): Promise<ReadonlyMap<string, number>>;
}

/** One workload on both builds. */
export interface BuildRow {
  readonly workload: string;
  readonly rounds: number;
  /** Median of the rounds' ratios: the time of this build divided by that of the other. */
  readonly ratio: number;
  /** The median ratio is at most this, with a confidence of 95 %. */
  readonly bound: number;
}

/**
 * Measures both builds in every round, right after each other and in alternating order, so that whatever else the machine does
 * meets both alike. The first round is not counted. A workload that only one of them has is left out.
 */
export async function compareBuilds(ours: Build, other: Build, rounds: number): Promise<BuildRow[]> {
  const ratios = new Map<string, number[]>();
  for (let round = 0; round <= rounds; round++) {
    const first = round % 2 === 0 ? ours : other;
    const second = round % 2 === 0 ? other : ours;
    const times = [await first.measure(), await second.measure()] as const;
    const [mine, theirs] = first === ours ? times : [times[1], times[0]];
    for (const [workload, ms] of round === 0 ? [] : mine) {
      const their = theirs.get(workload);
      if (their === undefined) continue;
      const series = ratios.get(workload) ?? [];
      series.push(ms / their);
      ratios.set(workload, series);
    }
  }
  return [...ratios].map(([workload, series]) => ({
    workload,
    rounds: series.length,
    ratio: summarize(series)?.median ?? Number.NaN,
    bound: medianBound(series),
  }));
}

/** Compares this build with that in `dist/` of another checkout. */
export async function benchAgainst(bench: Comparable, checkout: string, rounds: number): Promise<BuildRow[]> {
  const theirs = (file: string) => import(pathToFileURL(resolve(checkout, file)).href);
  if (bench === 'contexts') {
    const { exports } = JSON.parse(readFileSync(resolve(checkout, 'package.json'), 'utf8'));
    const library: Library = { ...(await theirs(exports['.'].default)), ...(await theirs(exports['./stdlib-tools'].default)) };
    return compareBuilds(contexts(), contexts(library), rounds);
  }
  const { openOurs: openTheirs }: { readonly openOurs: typeof openOurs } = await theirs('dist/bench/ours.js');
  await using ours = engine(bench, await openOurs());
  await using other = engine(bench, await openTheirs());
  const rows = await compareBuilds(ours, other, rounds);
  if (bench !== 'turns') return rows;
  await using floor = closedLoop(await openFloorProcess());
  return [...rows, ...(await compareBuilds(floor, closedLoop(other.opened), rounds)).map(ofFloor)];
}

/** The closed loop alone. */
function closedLoop(opened: Engine): Build {
  return {
    measure: async () => new Map([[CLOSED_LOOP, await elapsedOfTurn(opened)]]),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

/** The row of the smallest interpreter, which says how far the ratio could fall. */
const ofFloor = (row: BuildRow): BuildRow => ({ ...row, workload: `${FLOOR}: ${row.workload}` });

/** Measures by the benchmark of this build: another build's has other pauses. The bare round trips and raw isolates are not ours. */
function contexts(library?: Library): Build {
  return {
    async measure() {
      const { rows } = await benchContexts(true, library);
      const own = rows.filter(({ what }) => !what.includes('bare') && !what.includes(RAW_PROCESS));
      return new Map(own.map(({ what, measured }) => [what, measured?.median ?? Number.NaN]));
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function engine(bench: 'interp' | 'turns', opened: Engine): Build & { readonly opened: Engine } {
  const [workloads, runs, pauseMs] = bench === 'turns' ? [[TURN], BURST, PAUSE_MS] : [WORKLOADS, RUNS, 0];
  return {
    opened,
    async measure() {
      const times = new Map<string, number>();
      for (const workload of workloads) times.set(workload.name, await medianOf(opened, workload, runs, pauseMs));
      if (bench === 'turns') times.set(CLOSED_LOOP, await elapsedOfTurn(opened));
      return times;
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

const CLOSED_LOOP = 'turn in a closed loop, every core busy';

/** Elapsed milliseconds for each turn while as many turns as cores are always in progress. */
async function elapsedOfTurn(opened: Engine): Promise<number> {
  const { perSecond } = await throughput(opened, TURN, availableParallelism(), SLICE_MS);
  return 1000 / perSecond;
}

/** Runs of each program in a round. */
const RUNS = 3;

async function medianOf(opened: Engine, workload: Workload, runs: number, pauseMs: number): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < runs; run++) {
    if (pauseMs > 0) await sleep(pauseMs);
    const { value, ms } = await opened.run(workload);
    if (value !== workload.result) throw new Error(`${workload.name} gave ${String(value)} instead of ${workload.result}`);
    times.push(ms);
  }
  return summarize(times)?.median ?? Number.NaN;
}

export function renderBuilds(rows: readonly BuildRow[]): string {
  const cells = rows.map((row) => [row.workload, `${short(row.ratio)}x`, `${short(row.bound)}x`, String(row.rounds)]);
  return `${table(['workload', 'median ratio', '95 % bound', 'rounds'], cells)}\n\nratio: our time divided by that of the other build.\n`;
}

/** What to say of each workload that may have become slower by more than 5 %. */
export function slowerWorkloads(rows: readonly BuildRow[]): string[] {
  return rows
    .filter(({ workload, bound }) => !workload.startsWith(FLOOR) && !(bound <= MOST))
    .map(({ workload, bound }) => `${workload}: the median ratio may be as high as ${short(bound)}, above ${MOST}`);
}
