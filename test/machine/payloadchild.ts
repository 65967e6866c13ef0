// Runs a native payload in a worker, during a run and at rest, beside the runs of a neighbour: `node payloadchild.ts LAUNCHER MODULE`.
// Prints what the host said of it. It runs in a namespace of its own, because threads and memory without bounds hurt the machine.
import { setTimeout as pause } from 'node:timers/promises';
import { type LauncherChoice, Sandbox } from '../../src/sandbox/index.ts';
import { handlers, inputOf, ROGUE } from '../sandbox/input.ts';

const [launcher, guest = ''] = process.argv.slice(2);
const files = { worker: ROGUE, guest };
const options = { concurrency: 1, files, launcher: launcher as LauncherChoice };

/** The number of a deed of payload.c, and how often. The page tables come to 400 MB. */
const DEEDS = { tables: [0, 100_000], waits: [1, 3000], spins: [2, 4] };
/** On a slow machine a deed takes long: no limit on time comes before its end. */
const UNHURRIED = { cpuMs: 600_000, wallMs: 600_000, toolMs: 600_000 };
const LOOK_MS = 60_000;

const USAGE = { fuel: 1, cpuMs: 1, wallMs: 1, peakMemoryBytes: 1, toolCalls: 0, outputBytes: 0 };
const RESULT = { ok: true, phase: 'exec', result: null, eventErrors: [], error: null, ...USAGE };
const started = { frame: { t: 'started', id: 0 } };
const ended = { frame: { t: 'result', id: 0, result: RESULT, usage: USAGE, errors: [], last: false } };

await using neighbour = await Sandbox.create(options);
const honest = async (): Promise<number> => {
  const begun = performance.now();
  const { result } = await neighbour.run(inputOf('', { value: 7 }), handlers());
  if (result.result !== 7) throw new Error(`the neighbour got ${JSON.stringify(result)}`);
  return performance.now() - begun;
};
await honest();

const report: object[] = [];
for (const [deed, native] of Object.entries(DEEDS))
  for (const when of ['running', 'idle']) {
    await using sandbox = await Sandbox.create(options);
    const steps = when === 'running' ? [started, { native }, { sleep: 60_000 }] : [started, ended, { sleep: 50 }, { native }];
    const begun = performance.now();
    const run = sandbox.run(inputOf('', { steps }, UNHURRIED), handlers());
    const times: number[] = [];
    while (sandbox.boundaryBreaches === 0 && performance.now() - begun < LOOK_MS) {
      times.push(await honest());
      await pause(10);
    }
    const ms = Math.round(performance.now() - begun);
    const { result, usage } = await run;
    const next = await sandbox.run(inputOf('', { value: 8 }), handlers());
    const { code, message } = result.error ?? {};
    const slowest = Math.round(Math.max(...times));
    report.push({
      deed,
      when,
      breaches: sandbox.boundaryBreaches,
      code,
      message,
      cpuMs: usage.cpuMs,
      ms,
      slowest,
      next: next.result.result,
    });
  }
process.stdout.write(JSON.stringify({ report, neighbour: neighbour.boundaryBreaches }));
