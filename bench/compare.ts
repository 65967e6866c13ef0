import { arch, availableParallelism, cpus, platform, totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { usedCpuMs } from './residence.ts';
import { type Summary, summarize } from './stats.ts';
import type { Workload } from './workloads.ts';

/** One engine on one workload. `ms` is null when the engine is missing or gave a wrong result. */
export interface Row {
  readonly workload: string;
  readonly engine: string;
  readonly boundary: string;
  readonly ms: Summary | null;
  /** Its median divided by the median of ours: above 1, ours is faster. */
  readonly ratio: number | null;
  /** Why there is no number. */
  readonly note: string | null;
}

/** An engine, or the reason why it could not be opened. */
export type Candidate = { readonly engine: Engine } | { readonly name: string; readonly note: string };

/** Opens the engines one by one. An engine whose package is missing stays in the list, with the reason. */
export async function openAll(openers: Readonly<Record<string, Opener>>): Promise<Candidate[]> {
  const candidates: Candidate[] = [];
  for (const [name, open] of Object.entries(openers)) {
    try {
      candidates.push({ engine: await open() });
    } catch (error) {
      if (!isMissing(error)) throw error;
      candidates.push({ name, note: 'not installed' });
    }
  }
  return candidates;
}

/** Runs of one engine in a row where there is a pause before each. */
export const BURST = 50;

/**
 * Measures all engines on a workload, interleaved: each round runs every engine once and starts with another one, so that other load of
 * the machine meets all alike. The first `warmup` rounds are not counted. The first candidate is ours. An engine with a wrong result gets
 * no number. With `pauseMs` each engine makes `burst` runs in a row with a pause before each: a run after a pause meets a colder
 * machine.
 */
export async function compare(
  workload: Workload,
  candidates: readonly Candidate[],
  rounds: number,
  warmup: number,
  pauseMs = 0,
  burst = BURST,
): Promise<Row[]> {
  const lanes = candidates.map((candidate) => ({ candidate, times: [] as number[], wrong: [] as string[] }));
  for (let round = 0; round < warmup + rounds; round++) {
    for (const lane of rotated(lanes, round)) {
      if (!('engine' in lane.candidate)) continue;
      for (let run = pauseMs > 0 ? burst : 1; run > 0; run--) {
        if (pauseMs > 0) await sleep(pauseMs);
        const { value, ms } = await lane.candidate.engine.run(workload);
        if (value !== workload.result) lane.wrong.push(String(value));
        else if (round >= warmup) lane.times.push(ms);
      }
    }
  }
  const ours = summarize(lanes[0]?.times ?? []);
  return lanes.map(({ candidate, times, wrong }) => {
    const ms = wrong.length > 0 ? null : summarize(times);
    const missing = 'engine' in candidate ? null : candidate.note;
    return {
      workload: workload.name,
      engine: 'engine' in candidate ? candidate.engine.name : candidate.name,
      boundary: 'engine' in candidate ? candidate.engine.boundary : '',
      ms,
      ratio: ms === null || ours === null ? null : ms.median / ours.median,
      note: wrong.length > 0 ? `wrong result: ${wrong[0]} instead of ${workload.result}` : missing,
    };
  });
}

function rotated<T>(list: readonly T[], by: number): T[] {
  const start = by % Math.max(1, list.length);
  return [...list.slice(start), ...list.slice(0, start)];
}

/** Closes the engines that {@link openAll} opened. */
export async function closeAll(candidates: readonly Candidate[]): Promise<void> {
  for (const candidate of candidates) if ('engine' in candidate) await candidate.engine[Symbol.asyncDispose]();
}

/** What a closed loop did. */
export interface Throughput {
  readonly perSecond: number;
  /** CPU milliseconds of a run, in all processes; null where the system does not tell. */
  readonly cpuMs: number | null;
}

/** Runs of an engine when `lanes` of them are always in progress. */
export async function throughput(
  { run }: Pick<Engine, 'run'>,
  workload: Workload,
  lanes: number,
  milliseconds: number,
): Promise<Throughput> {
  const end = performance.now() + milliseconds;
  let finished = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() < end) {
      await run(workload);
      finished++;
    }
  };
  const start = performance.now();
  const before = usedCpuMs();
  await Promise.all(Array.from({ length: lanes }, lane));
  const after = usedCpuMs();
  const perSecond = (finished * 1000) / (performance.now() - start);
  return { perSecond, cpuMs: before === null || after === null ? null : (after - before) / finished };
}

/** The machine on which the numbers were measured; part of every report. */
export function machine(): Machine {
  return {
    node: process.version,
    cores: availableParallelism(),
    cpu: cpus()[0]?.model ?? 'unknown',
    platform: `${platform()} ${arch()}`,
    memoryGb: Math.round(totalmem() / 1024 ** 3),
  };
}

/** What a report says of its machine. */
interface Machine {
  readonly node: string;
  readonly cores: number;
  readonly cpu: string;
  readonly platform: string;
  readonly memoryGb: number;
}

/** An engine that is open and warm. One run is one program in a sandbox of its own. */
export interface Engine extends AsyncDisposable {
  readonly name: string;
  /** What stands between the program and the host. */
  readonly boundary: string;
  run(workload: Workload): Promise<Timed>;
}

/** One run: its result, and its milliseconds from handing over the text to holding the result. */
export interface Timed {
  readonly value: unknown;
  readonly ms: number;
}

/** Opens an engine. Rejects when its package is not installed. */
export type Opener = () => Promise<Engine>;

/** Times a run that happens in this process. */
export async function timed(run: () => unknown): Promise<Timed> {
  const start = performance.now();
  const value = await run();
  return { value, ms: performance.now() - start };
}

/** Whether an import failed because the package is missing, as in a published installation. */
function isMissing(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && (error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND')
  );
}
