import { setTimeout as sleep } from 'node:timers/promises';
import { createRuntime, defineTool } from '../src/entries/index.ts';
import { OURS } from './names.ts';
import type { PeerProcess } from './peerprocess.ts';
import { descendants, residence } from './residence.ts';
import { median } from './stats.ts';
import { short, table } from './table.ts';

/** Resident memory of one thing, of ours or of a peer. */
export interface MemoryRow {
  readonly what: string;
  readonly engine: string;
  /** Null where the system does not tell. */
  readonly mb: number | null;
  /** The most that is promised; null without a promise. */
  readonly most: number | null;
}

const MB = 1024 ** 2;
const MOST = { worker: 60, prepared: 3 } as const;
/** Steps of a staircase: so many things at once. */
const STEPS = [1, 2, 3, 4] as const;
const SESSIONS = 500;
const EMIT = 'command\n  emit 1\nendcommand\n';
const WAIT = 'command\n  emit tool.bench.Wait()\nendcommand\n';
/** A worker has then made its spare isolate. */
const SPARE_MS = 100;
/** A worker has then given back what it does not need. */
const REST_MS = 400;

/** What ours takes: each is the slope of a staircase, or the size of one process. Empty where the system does not tell. */
export async function ourMemory(): Promise<MemoryRow[]> {
  if (process.platform !== 'linux') return [];
  const { workers, spares } = await idleWorkers();
  return [
    { what: 'idle worker, with its prepared isolates', engine: OURS, mb: median(workers), most: MOST.worker },
    { what: 'prepared isolate', engine: OURS, mb: median(spares), most: MOST.prepared },
    { what: 'turn in flight, with its worker', engine: OURS, mb: await turnsInFlight(), most: null },
    { what: 'open root interpreter with a fork', engine: OURS, mb: await openRoots(), most: null },
  ];
}

/** A process of a peer at rest, after its first run: Node, the engine, and whatever it keeps. */
export function peerMemory(engine: string, { pid }: PeerProcess): MemoryRow[] {
  if (process.platform !== 'linux') return [];
  return [{ what: 'process at rest, Node included', engine, mb: residence(pid).now / MB, most: null }];
}

/** Idle workers, each with its growth when it makes a spare isolate. */
async function idleWorkers(): Promise<{ readonly workers: readonly number[]; readonly spares: readonly number[] }> {
  const workers: number[] = [];
  const spares: number[] = [];
  for (const _ of STEPS) {
    const before = new Set(descendants());
    await using runtime = await createRuntime({ concurrency: 1 });
    await runtime.run(EMIT);
    // Its next isolate is made and warm, and the spare is not: the host sends the last step after 25 ms.
    await sleep(15);
    const worker = descendants()
      .filter((pid) => !before.has(pid))
      .at(-1);
    if (worker === undefined) continue;
    const one = residence(worker).now;
    await sleep(SPARE_MS);
    spares.push((residence(worker).now - one) / MB);
    await sleep(REST_MS);
    workers.push(residence(worker).now / MB);
  }
  return { workers, spares };
}

async function turnsInFlight(): Promise<number> {
  const opened = Promise.withResolvers<number>();
  const wait = defineTool({ name: 'tool.bench.Wait', description: 'waits', args: [], returns: 'any', run: () => opened.promise });
  const policy = { allow: ['tool.bench.Wait'] };
  await using runtime = await createRuntime({ tools: [wait], policy, concurrency: 1, maxWorkers: STEPS.length + 1 });
  await runtime.run(EMIT);
  const runs: Promise<unknown>[] = [];
  const stairs: number[] = [];
  for (const step of STEPS) {
    runs.push(runtime.run(WAIT, { limits: { wallMs: 60_000, toolMs: 60_000 } }));
    while (runtime.stats().waitingForHost < step) await sleep(5);
    await sleep(REST_MS);
    stairs.push([process.pid, ...descendants()].reduce((sum, pid) => sum + residence(pid).now, 0) / MB);
  }
  opened.resolve(1);
  await Promise.all(runs);
  return slope(stairs);
}

async function openRoots(): Promise<number> {
  await using runtime = await createRuntime({ concurrency: 1 });
  const held: unknown[] = [];
  const stairs: number[] = [];
  for (const _ of STEPS) {
    for (let session = 0; session < SESSIONS; session++) held.push(runtime.interpreter().fork());
    stairs.push(process.memoryUsage().heapUsed / MB);
  }
  if (held.length !== STEPS.length * SESSIONS) throw new Error('the sessions are gone');
  return slope(stairs) / SESSIONS;
}

/** The rise from one step to the next, by the first and the last. */
function slope(stairs: readonly number[]): number {
  return ((stairs.at(-1) ?? 0) - (stairs[0] ?? 0)) / (stairs.length - 1);
}

export function renderMemory(rows: readonly MemoryRow[]): string {
  const cells = rows.map(({ what, engine, mb, most }) => [
    what,
    engine,
    mb === null ? '-' : `${short(mb)} MB`,
    most === null ? '' : `≤ ${most} MB`,
    mb === null || most === null ? '' : mb <= most ? 'met' : 'missed',
  ]);
  return `${table(['memory', 'engine', 'resident', 'most', 'verdict'], cells)}\n`;
}
