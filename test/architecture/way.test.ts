import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { LoopController, MemoryStore, readSession, replaySession, tryOut } from '../../src/loop/index.ts';
import { createRuntime } from '../../src/runtime/index.ts';
import { newKeyring, reply, TestClock, USERDATA } from '../loop/fake.ts';
import { ROOT } from './source.ts';
import { type Level, levelNamed, membersOf, Stacks } from './way.ts';

/** The shapes that a turn takes from its session to the isolate, as docs/architecture.md names them. */
const WAY: readonly string[] = [
  'src/loop/sessions/lease.ts DrivenSession',
  'src/loop/plan.ts Step',
  'src/loop/turn/request.ts TurnRequest',
  'src/runtime/request.ts RunRequest',
  'src/wire/protocol.ts RunInput',
  'src/wire/hostframes.ts SentInput',
  'src/wire/protocol.ts GuestInput',
];

/** Other types of parameters on the way, and why they are no shape of a turn. */
const OTHERS: Readonly<Record<string, string>> = {
  'src/loop/agents/agent.ts Agent': 'a part of the application',
  'src/loop/options.ts LoopControllerOptions': 'what all turns share',
  'src/loop/options.ts LoopOptions': 'what the application asks for',
  'src/loop/options.ts ResumeOptions': 'what the application asks for',
  'src/loop/options.ts StepOptions': 'what the application asks for',
  'src/loop/plan.ts Stepper': 'what all turns share',
  'src/loop/sessions/init.ts SessionCoordinatorInit': 'what all turns share',
  'src/loop/sessions/store.ts StartedTurn': 'what the store keeps of a turn, for the process that takes it after this one',
  'src/loop/turn/request.ts TurnHost': 'what all turns share',
  'src/runtime/context.ts RunContext': 'what all runs of a fork share',
  'src/sandbox/launch.ts StartedWorker': 'what all runs of a worker share',
  'src/sandbox/pool.ts PoolOptions': 'what all runs share',
  'src/sandbox/sandbox.ts OpenPool': 'what all runs share',
  'src/telemetry/telemetry.ts TelemetryOptions': 'what all spans share',
};

/** What is made for one run beside its shapes. It repeats nothing of them. */
const BESIDE: Readonly<Record<string, string>> = {
  'src/sandbox/execution.ts ExecutionInit': 'the worker of a run, with the whole input',
  'src/sandbox/execution.ts RunHandlers': 'who answers a run',
  'src/sandbox/jobqueue.ts Job': 'the place of a run in the queue',
  'src/telemetry/telemetry.ts SpanInit': 'a span',
  'src/wire/cancellation.ts Cancellation': 'a signal',
  'src/wire/hostframes.ts HostFrame': 'a frame, with the whole sent input',
  'src/wire/sourcereports.ts Admission': 'a part of the input',
  'src/worker/image.ts Prepared': 'the isolate of a run',
  'src/worker/parser.ts Tree': 'a parsed source',
};

/** What a replay and a trial read in the place of a session. */
const RECORDED: Readonly<Record<string, string>> = {
  'src/loop/record/record.ts Scene': 'a part of a record',
  'src/loop/record/record.ts TurnRecord': 'a record',
  'src/loop/replay/execute.ts ExecutionOptions': 'what the application asks for',
  'src/loop/replay/session.ts RecordedSession': 'records',
  'src/loop/replay/session.ts SessionSource': 'records',
  'src/loop/replay/session.ts SessionReplayOptions': 'what the application asks for',
  'src/loop/replay/trial.ts Changes': 'what the application asks for',
  'src/loop/replay/turn.ts ReplayOptions': 'what the application asks for',
};

/** The functions that take a run on from the pipe to the interpreter: they work in a thread of their own, or in an isolate. */
const INSIDE: readonly Level[] = [
  levelNamed('src/worker/server.ts', 'Server.#complete'),
  levelNamed('src/worker/server.ts', 'Server.#runProgram'),
  levelNamed('src/worker/run.ts', 'Run.execute'),
  levelNamed('src/worker/run.ts', 'guestInput'),
  levelNamed('src/guest/main.ts', 'GuestRun.execute'),
];

/** The functions on the stack when a turn is stored before it runs, and when its run, that of its replay and that of a trial are sent. */
async function stacksOfTurn(): Promise<Readonly<Record<'start' | 'turn' | 'replay' | 'trial', readonly Level[]>>> {
  await using runtime = await createRuntime({ policy: { allow: ['*'] }, concurrency: 1 });
  const clock = new TestClock();
  const store = new MemoryStore();
  const loop = new LoopController({ runtime, store, clock, keyring: newKeyring('way', clock) });
  const actions = 'command\n  emit tool.aeiou.magic("LOOP", {"action": "done"})\nendcommand';
  using stacks = new Stacks();
  const taken: (readonly Level[])[] = [];
  using started = vi.spyOn(store, 'start').mockImplementationOnce((...turn) => {
    taken.push(stacks.take());
    return store.start(...turn);
  });
  using _written = vi.spyOn(Duplex.prototype, 'write').mockImplementation(function (this: Duplex, ...chunk) {
    const stack = stacks.take();
    if (stack.some(({ name }) => name === 'src/sandbox/execution.ts Execution.begin')) taken.push(stack);
    return written.apply(this, chunk);
  });
  await loop.runLoop({ sid: 's', userdata: USERDATA, agent: { reply: async () => reply(actions) } });
  expect(started).toHaveBeenCalled();
  expect(await replaySession(runtime, store, 's')).toMatchObject({ ok: true });
  expect(await tryOut(runtime, await readSession(store, 's'), { fromTurn: 1 })).toMatchObject({ turns: [{ differences: [] }] });
  const [start = [], turn = [], replay = [], trial = []] = taken;
  return { start, turn, replay, trial };
}

const { write: written } = Duplex.prototype;
const { start, turn, replay, trial } = await stacksOfTurn();
const shapesOn = (...levels: readonly Level[]): string[] => [...new Set(levels.flatMap(({ shapes }) => shapes))].sort();

describe("a turn's way from its session to the isolate", () => {
  it('issue 42.5: takes seven shapes, which docs/architecture.md names', () => {
    expect(WAY).toHaveLength(7);
    expect(shapesOn(...start, ...turn, ...INSIDE)).toEqual([...WAY, ...Object.keys({ ...OTHERS, ...BESIDE })].sort());
    const [, section = ''] = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8').split('\n## One turn\n');
    const named = section.split('\n## ')[0]?.matchAll(/^\d\. `([\w/]+\.ts)`, `(\w+)`/gm) ?? [];
    expect([...named].map(([, path, name]) => `${path} ${name}`)).toEqual(WAY);
  });

  it('issue 42.5: is the same in a replay and in a trial, from the request of the turn on', () => {
    const known = [...WAY.slice(2), ...Object.keys({ ...OTHERS, ...BESIDE, ...RECORDED })];
    expect(shapesOn(...replay, ...trial).filter((shape) => !known.includes(shape))).toEqual([]);
    expect(shapesOn(...replay, ...trial)).toEqual(expect.arrayContaining(Object.keys(RECORDED)));
  });

  it('what is made beside these shapes repeats hardly any of their members', () => {
    const repeated = Object.keys(BESIDE).flatMap((beside) =>
      WAY.map((shape) => ({ beside, shape, both: membersOf(beside).filter((name) => membersOf(shape).includes(name)) })),
    );
    expect(repeated.filter(({ both }) => both.length > 3)).toEqual([]);
  });

  it.each(Object.entries({ turn, replay, trial }))(
    'issue 42.5: %s: at most 20 functions are nested up to the pipe',
    (_, levels) => {
      const [inner, ...others] = levels.map(({ name }) => name);
      expect(inner).toBe('src/sandbox/worker.ts WorkerProcess.send');
      expect(others.at(-1)).toMatch(/ (?:LoopController\.runLoop|replaySession|tryOut)$/);
      expect(levels.slice(0, -1).length, others.join('\n')).toBeLessThanOrEqual(20);
    },
  );
});
