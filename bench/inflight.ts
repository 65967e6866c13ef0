import { availableParallelism } from 'node:os';
import type { Engine } from './compare.ts';
import { openOurs } from './ours.ts';
import { openQuickJsProcess } from './peers.ts';
import { descendants, residence } from './residence.ts';
import { summarize } from './stats.ts';
import { short, table } from './table.ts';
import { TURN } from './workloads.ts';

/** Small turns of one engine, of which so many are always in flight. */
export interface InFlightRow {
  readonly engine: string;
  readonly inFlight: number;
  /** Turns per second of the machine, and of each of its cores. */
  readonly perSecond: number;
  readonly perCore: number;
  /** Milliseconds from handing over a text to its result, waiting included. The second is null below 100 turns. */
  readonly p50: number;
  readonly p99: number | null;
  /** Resident memory of the processes that run programs; null where the system does not tell. */
  readonly megabytes: number | null;
  readonly turns: number;
}

const IN_FLIGHT = { whole: [1, 4, 16, 64], quick: [1, 16] } as const;
const SLICES = { whole: 5, quick: 1 } as const;
/** Long enough for the workers beyond the first, which start after a second. */
const WARM_MS = 1500;
const SLICE_MS = { whole: 1000, quick: 200 } as const;

/**
 * Keeps numbers of small turns in flight, in fresh isolates, in kept ones, and in QuickJS in processes that can be killed, a process for each core
 * each time. The engines take turns, so that other load of the machine meets all alike.
 */
export async function benchInFlight(quick: boolean): Promise<readonly InFlightRow[]> {
  const extent = quick ? 'quick' : 'whole';
  const owners = new Owners();
  const opened: Engine[] = [];
  for (const open of [() => openOurs('run'), () => openOurs('tenant'), openQuickJsProcess]) {
    const engine = await open();
    opened.push(engine);
    await keepInFlight(engine, availableParallelism(), WARM_MS);
    owners.claim(engine);
  }
  const rows: InFlightRow[] = [];
  try {
    for (const inFlight of IN_FLIGHT[extent]) {
      const found = opened.map((engine) => ({ engine, times: [] as number[], elapsed: 0 }));
      for (let slice = -1; slice < SLICES[extent]; slice++)
        for (const each of found) {
          const { times, elapsed } = await keepInFlight(each.engine, inFlight, SLICE_MS[extent]);
          owners.claim(each.engine);
          if (slice < 0) continue;
          each.times.push(...times);
          each.elapsed += elapsed;
        }
      for (const { engine, times, elapsed } of found) {
        const summary = summarize(times);
        const perSecond = (times.length * 1000) / elapsed;
        const perCore = perSecond / availableParallelism();
        const { median: p50 = Number.NaN, p99 = null } = summary ?? {};
        rows.push({
          engine: engine.name,
          inFlight,
          perSecond,
          perCore,
          p50,
          p99,
          megabytes: owners.megabytes(engine),
          turns: times.length,
        });
      }
    }
  } finally {
    for (const engine of opened) await engine[Symbol.asyncDispose]();
  }
  return rows;
}

/** Which processes belong to which engine. An engine starts and replaces its own while it works, and one works at a time. */
class Owners {
  readonly #of = new Map<number, Engine>();

  /** Gives the processes that nobody has to the engine that has worked. */
  claim(engine: Engine): void {
    for (const pid of processes()) if (!this.#of.has(pid)) this.#of.set(pid, engine);
  }

  megabytes(engine: Engine): number | null {
    const sizes = processes().flatMap((pid) => (this.#of.get(pid) === engine ? [residence(pid).now] : []));
    return sizes.length === 0 ? null : sizes.reduce((sum, size) => sum + size, 0) / 1024 ** 2;
  }
}

const processes = (): readonly number[] => (process.platform === 'linux' ? descendants() : []);

async function keepInFlight(
  engine: Engine,
  inFlight: number,
  ms: number,
): Promise<{ times: readonly number[]; elapsed: number }> {
  const times: number[] = [];
  const start = performance.now();
  const lane = async (): Promise<void> => {
    while (performance.now() - start < ms) {
      const asked = performance.now();
      const { value } = await engine.run(TURN);
      if (value !== TURN.result) throw new Error(`${engine.name} gave ${String(value)} instead of ${TURN.result}`);
      times.push(performance.now() - asked);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return { times, elapsed: performance.now() - start };
}

export function renderInFlight(rows: readonly InFlightRow[]): string {
  const cells = rows.map(({ engine, inFlight, perSecond, perCore, p50, p99, megabytes, turns }) => [
    engine,
    String(inFlight),
    short(perSecond),
    short(perCore),
    short(p50),
    short(p99),
    short(megabytes),
    String(turns),
  ]);
  return `${table(['engine', 'in flight', 'turns/s', 'a core', 'p50 ms', 'p99', 'MB', 'turns'], cells)}\n\n${TURN.about}; MB: the processes that run programs.\n`;
}
