import { availableParallelism } from 'node:os';
import { type Engine, type Opener, type Timed, timed } from './compare.ts';
import { FLOOR, QUICKJS_PROCESS, RAW_PROCESS } from './names.ts';
import { FLOOR_FLAGS, runFloor } from './peerfloors.ts';
import { TRIVIAL } from './peerrows.ts';
import { QuickJsProcess } from './quickjs.ts';
import { RawProcess, type RawRun } from './rawprocess.ts';
import { script, type Workload } from './workloads.ts';

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
    run: (workload) =>
      timed(() => {
        const context = quickjs.newContext();
        context.runtime.setMemoryLimit(MEMORY_MB * 1024 * 1024);
        context.runtime.setInterruptHandler(shouldInterruptAfterDeadline(Date.now() + SECONDS * 1000));
        try {
          return context.unwrapResult(context.evalCode(script(workload))).consume((handle) => context.dump(handle));
        } finally {
          context.dispose();
        }
      }),
    async [Symbol.asyncDispose]() {},
  };
}

/** QuickJS in a process that can be killed, one for each core. */
export async function openQuickJsProcess(): Promise<Engine> {
  const free = await Promise.all(Array.from({ length: availableParallelism() }, () => QuickJsProcess.open()));
  return pooled(free, {
    name: QUICKJS_PROCESS,
    boundary: 'process + WebAssembly',
    run: (own, workload) => timed(() => own.run({ script: script(workload), ms: SECONDS * 1000, memoryMb: MEMORY_MB })),
  });
}

/** An engine of several processes, each of which runs one program at a time. */
function pooled<Process extends AsyncDisposable>(
  processes: readonly Process[],
  { name, boundary, run }: Pick<Engine, 'name' | 'boundary'> & { run(own: Process, workload: Workload): Promise<Timed> },
): Engine {
  const free = [...processes];
  const waiting: ((own: Process) => void)[] = [];
  return {
    name,
    boundary,
    async run(workload) {
      const own = free.pop() ?? (await new Promise<Process>((resolve) => waiting.push(resolve)));
      const done = await run(own, workload);
      const next = waiting.shift();
      if (next === undefined) free.push(own);
      else next(own);
      return done;
    },
    async [Symbol.asyncDispose]() {
      for (const each of processes) await each[Symbol.asyncDispose]();
    },
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
  openRaw(FLOOR, 'process + isolate', 'ms', FLOOR_FLAGS, (raw) => runFloor(raw, TRIVIAL, 'fresh'));

/** Runs on one process for each core, so that each may be in the middle of a run. */
async function openRaw(
  name: string,
  boundary: string,
  time: 'ms' | 'insideMs',
  flags: readonly string[] = [],
  perform = (raw: RawProcess, workload: Workload): Promise<RawRun> => raw.run(script(workload)),
): Promise<Engine> {
  const processes = await Promise.all(Array.from({ length: availableParallelism() }, () => RawProcess.open(flags)));
  return pooled(processes, {
    name,
    boundary,
    run: async (raw, workload) => {
      const { value, [time]: ms } = await perform(raw, workload);
      return { value, ms };
    },
  });
}
