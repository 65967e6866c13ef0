import { availableParallelism } from 'node:os';
import { type Engine, type Opener, timed } from './engine.ts';
import { FLOOR, RAW_PROCESS } from './names.ts';
import { FLOOR_FLAGS, PEER_FLOORS } from './peerfloors.ts';
import { RawProcess, type RawRun } from './rawprocess.ts';
import type { Workload } from './workloads.ts';

/** Limits of every engine that supports them: ours cannot be switched off. */
const SECONDS = 10;
const MEMORY_MB = 64;

/** Monty by pydantic: Python in Rust, in this process. */
export async function openMonty(): Promise<Engine> {
  const { Monty } = await import('@pydantic/monty');
  return {
    name: '@pydantic/monty',
    boundary: 'in process',
    run: ({ python }) =>
      timed(() => new Monty(python).run({ limits: { maxDurationSecs: SECONDS, maxMemory: MEMORY_MB * 1024 * 1024 } })),
    async [Symbol.asyncDispose]() {},
  };
}

/** QuickJS in WebAssembly: a fresh runtime and context per run, disposed within the measured time. */
export async function openQuickJs(): Promise<Engine> {
  const { getQuickJS, shouldInterruptAfterDeadline } = await import('quickjs-emscripten');
  const quickjs = await getQuickJS();
  return {
    name: 'quickjs-emscripten',
    boundary: 'WebAssembly, in process',
    run: ({ javascript }) =>
      timed(() => {
        const context = quickjs.newContext();
        context.runtime.setMemoryLimit(MEMORY_MB * 1024 * 1024);
        context.runtime.setInterruptHandler(shouldInterruptAfterDeadline(Date.now() + SECONDS * 1000));
        try {
          return context.unwrapResult(context.evalCode(javascript)).consume((handle) => context.dump(handle));
        } finally {
          context.dispose();
        }
      }),
    async [Symbol.asyncDispose]() {},
  };
}

/** A bare V8 isolate that runs JavaScript: the cost of an isolate alone, measured inside its process, without the way there and back. */
export const openRawIsolate: Opener = () => openRaw('isolated-vm (raw)', 'isolate', 'insideMs');

/** The same, measured from host to host: what ours is compared with by the promises about turns. */
export const openRawProcess: Opener = () => openRaw(RAW_PROCESS, 'process + isolate', 'ms');

/**
 * The smallest interpreter of `peerfloors.ts` on the trivial turn, from host to host. As in our workers, the next isolate is made after the
 * answer, and young values are collected in one thread.
 */
export const openFloorProcess: Opener = () =>
  openRaw(FLOOR, 'process + isolate', 'ms', FLOOR_FLAGS, (raw) =>
    raw.run(PEER_FLOORS['trivial turn, rested'] ?? '', undefined, { ahead: true }),
  );

/** Runs on one process for each core, so that each may be in the middle of a run. */
async function openRaw(
  name: string,
  boundary: string,
  time: 'ms' | 'insideMs',
  flags: readonly string[] = [],
  perform = (raw: RawProcess, { javascript }: Workload): Promise<RawRun> => raw.run(javascript),
): Promise<Engine> {
  const processes = await Promise.all(Array.from({ length: availableParallelism() }, () => RawProcess.open(flags)));
  const free = [...processes];
  return {
    name,
    boundary,
    async run(workload) {
      const raw = free.pop();
      if (raw === undefined) throw new Error(`more runs at once than the ${processes.length} processes of ${name}`);
      const run = await perform(raw, workload);
      free.push(raw);
      return { value: run.value, ms: run[time] };
    },
    async [Symbol.asyncDispose]() {
      for (const raw of processes) await raw[Symbol.asyncDispose]();
    },
  };
}
