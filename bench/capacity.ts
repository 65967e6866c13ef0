import { availableParallelism } from 'node:os';
import { createRuntime, defineTool } from '../src/entries/index.ts';
import { Sandbox } from '../src/sandbox/index.ts';
import { BusyError } from '../src/wire/errors.ts';
import { defaultLimits } from '../src/wire/limits.ts';
import { EMPTY_RUN } from '../src/wire/protocol.ts';
import { judged, type PromiseRow } from './promises.ts';
import { residence, workerPid } from './residence.ts';
import { summarize } from './stats.ts';

const SMALLEST = 'command\n  emit 1\nendcommand\n';

/** Measures what a pool of workers can do, against its promises. */
export async function benchCapacity(quick: boolean): Promise<PromiseRow[]> {
  return [
    await coldStart(quick ? 3 : 20),
    await idle(),
    await throughput(quick ? 500 : 3_000),
    await slowTools(),
    await nested(),
    await queue(),
  ];
}

/** From nothing to the first result. */
async function coldStart(runs: number): Promise<PromiseRow> {
  const ms: number[] = [];
  for (let run = 0; run < runs; run++) {
    const start = performance.now();
    await using runtime = await createRuntime({ concurrency: 1 });
    await runtime.run(SMALLEST);
    ms.push(performance.now() - start);
  }
  const median = summarize(ms)?.median ?? null;
  return judged('cold start of a runtime to its first result (p50)', median, { unit: 'ms', bound: 'most', target: 200 }, runs);
}

/** Only Linux reports the memory of a process. */
async function idle(): Promise<PromiseRow> {
  const promised = { unit: 'MB', bound: 'most', target: 75 } as const;
  const what = 'resident memory of an idle worker, a prepared isolate included';
  if (process.platform !== 'linux') return judged(what, null, promised, 0);
  await using runtime = await createRuntime({ concurrency: 1 });
  await runtime.run(SMALLEST);
  await new Promise((resolve) => setTimeout(resolve, 50));
  return judged(what, residence(workerPid()).now / 1024 ** 2, promised, 1);
}

/** Two workers, with one run in progress on each at all times. */
async function throughput(ms: number): Promise<PromiseRow> {
  await using runtime = await createRuntime({ concurrency: 2 });
  for (let warm = 0; warm < 50; warm++) await runtime.run(SMALLEST);
  let turns = 0;
  const start = performance.now();
  const lane = async (): Promise<void> => {
    while (performance.now() - start < ms) {
      if (!(await runtime.run(SMALLEST)).ok) throw new Error('the smallest program failed');
      turns++;
    }
  };
  await Promise.all([lane(), lane()]);
  const perSecond = (turns * 1000) / (performance.now() - start);
  const what = `2 workers in a closed loop, a fresh isolate each time (${availableParallelism()} cores)`;
  return judged(what, perSecond, { unit: 'turns/s', bound: 'least', target: 300 }, turns);
}

const SESSIONS = 50;

/** Fifty sessions on sixteen workers. Each waits a second for its tool. */
async function slowTools(): Promise<PromiseRow> {
  const slow = defineTool({
    name: 'tool.bench.Slow',
    description: 'answers after a second',
    args: [],
    returns: 'any',
    run: () => new Promise<number>((resolve) => setTimeout(resolve, 1000, 1)),
  });
  await using runtime = await createRuntime({ tools: [slow], policy: { allow: ['*'] }, maxWorkers: 16 });
  const start = performance.now();
  const results = await Promise.all(
    Array.from({ length: SESSIONS }, () => runtime.run('command\n  emit tool.bench.Slow()\nendcommand\n')),
  );
  const seconds = results.every(({ ok }) => ok) ? (performance.now() - start) / 1000 : Number.POSITIVE_INFINITY;
  const what = `${SESSIONS} sessions, each one tool call of 1 s, maxWorkers 16`;
  return judged(what, seconds, { unit: 's', bound: 'most', target: 4.5 }, SESSIONS);
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
async function queue(): Promise<PromiseRow> {
  await using runtime = await createRuntime({ concurrency: 1, queueLength: QUEUE });
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
