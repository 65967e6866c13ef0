import { setTimeout as sleep } from 'node:timers/promises';
import { createRuntime, defineTool, type Runtime } from '../src/entries/index.ts';
import { Sandbox } from '../src/sandbox/index.ts';
import { BusyError } from '../src/wire/errors.ts';
import { defaultLimits } from '../src/wire/limits.ts';
import { EMPTY_RUN } from '../src/wire/protocol.ts';
import { judged, type PromiseRow, ratio } from './promises.ts';
import { rawColdStart } from './rawprocess.ts';
import { residence, workerPid } from './residence.ts';
import { summarize } from './stats.ts';

const SMALLEST = 'command\n  emit 1\nendcommand\n';

/** Measures what a pool of workers can do, against its promises. */
export async function benchCapacity(quick: boolean): Promise<PromiseRow[]> {
  const cold = await coldStart(quick ? 1 : 20);
  const slow = await slowTools(CROWD[quick ? 'quick' : 'whole']);
  const deep = await nested();
  await using runtime = await createRuntime({ concurrency: 1, queueLength: QUEUE });
  return [cold, await idle(runtime), slow, deep, await queue(runtime)];
}

/** From nothing to the first result, beside a raw isolate in a new process. */
async function coldStart(runs: number): Promise<PromiseRow> {
  const ours: number[] = [];
  const yardstick: number[] = [];
  for (let run = 0; run < runs; run++) {
    const start = performance.now();
    {
      await using runtime = await createRuntime({ concurrency: 1 });
      await runtime.run(SMALLEST);
      ours.push(performance.now() - start);
    }
    yardstick.push(await rawColdStart());
  }
  const what = 'cold start of a runtime to its first result, by a raw isolate in a new process';
  return ratio(what, [summarize(ours), summarize(yardstick)], 'ms', ['most', 3]);
}

/** Its only worker, at rest after a run. Only Linux reports the memory of a process. */
async function idle(runtime: Runtime): Promise<PromiseRow> {
  const promised = { unit: 'MB', bound: 'most', target: 75 } as const;
  const what = 'resident memory of an idle worker, a prepared isolate included';
  if (process.platform !== 'linux') return judged(what, null, promised, 0);
  await runtime.run(SMALLEST);
  await sleep(50);
  return judged(what, residence(workerPid()).now / 1024 ** 2, promised, 1);
}

interface Crowd {
  readonly sessions: number;
  readonly workers: number;
}

/** Starting a worker or its yardstick takes a third of a second of CPU time: a quick run has few of them. */
const CROWD = { whole: { sessions: 50, workers: 16 }, quick: { sessions: 5, workers: 2 } } as const;
const TOOL_MS = 1000;

/**
 * Fifty sessions on sixteen workers. Each waits a second for its tool, so they need four waves of that second. The yardstick is the time of
 * the waves, and of starting as many processes of raw isolates at once.
 */
async function slowTools({ sessions, workers }: Crowd): Promise<PromiseRow> {
  const waves = Math.ceil(sessions / workers);
  const slow = defineTool({
    name: 'tool.bench.Slow',
    description: 'answers after a second',
    args: [],
    returns: 'any',
    run: () => sleep(TOOL_MS, 1),
  });
  const starting = performance.now();
  await Promise.all(Array.from({ length: workers }, rawColdStart));
  const yardstick = waves * TOOL_MS + performance.now() - starting;
  await using runtime = await createRuntime({ tools: [slow], policy: { allow: ['*'] }, maxWorkers: workers });
  const start = performance.now();
  const results = await Promise.all(
    Array.from({ length: sessions }, () => runtime.run('command\n  emit tool.bench.Slow()\nendcommand\n')),
  );
  const ours = results.every(({ ok }) => ok) ? performance.now() - start : Number.POSITIVE_INFINITY;
  const what = `${sessions} sessions, each one tool call of 1 s, maxWorkers ${workers}, by ${waves} waves and the start of ${workers} raw processes`;
  return ratio(what, [summarize([ours]), summarize([yardstick])], 'ms', ['most', 1.3]);
}

const DEPTH = 3;
const PROMPT_MS = 5_000;

/** Nested turns, as `ask` makes them, when one may compute at a time. Measures how deep they get. */
async function nested(): Promise<PromiseRow> {
  await using sandbox = await Sandbox.create({ concurrency: 1 });
  const limits = { ...defaultLimits('run'), wallMs: PROMPT_MS };
  let deepest = 0;
  const turn = async (depth: number): Promise<void> => {
    const last = depth === DEPTH;
    const text = last ? SMALLEST : 'command\n  call tool.bench.Nested()\nendcommand\n';
    const input = { ...EMPTY_RUN, sources: [{ name: 'src', text }], limits, forkId: `nested-${depth}` };
    const { result } = await sandbox.run(input, {
      onOut() {},
      nested: depth > 0,
      onCall: async () => {
        await turn(depth + 1);
        return { t: 'ok', value: null };
      },
    });
    if (result.ok) deepest = Math.max(deepest, depth);
  };
  await turn(0);
  return judged(
    'turns that wait for turns within each other, concurrency 1',
    deepest,
    { unit: 'deep', bound: 'least', target: DEPTH },
    1,
  );
}

const QUEUE = 20;

/** A queue of twenty accepts twenty runs and refuses the next one. */
async function queue(runtime: Runtime): Promise<PromiseRow> {
  const hog = runtime.run('command\n  while true\n    set n = 1\n  endwhile\nendcommand\n', { limits: { cpuMs: 200 } });
  const rest = await Promise.allSettled(Array.from({ length: QUEUE + 10 }, () => runtime.run(SMALLEST)));
  await hog;
  const refused = rest.filter(
    ({ status, ...rest }) => status === 'rejected' && 'reason' in rest && rest.reason instanceof BusyError,
  );
  const over = Math.abs(rest.length - refused.length - QUEUE);
  return judged(
    'queueLength 20: runs more or less than that were taken',
    over,
    { unit: 'runs', bound: 'most', target: 0 },
    rest.length,
  );
}
