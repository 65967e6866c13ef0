import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LoopController } from '../../../src/loop/controller.ts';
import type { LoopEvent } from '../../../src/loop/events.ts';
import { seededIds } from '../../../src/loop/ids.ts';
import { MemoryLog } from '../../../src/loop/log/log.ts';
import type { LoopControllerOptions } from '../../../src/loop/options.ts';
import { replayTurn } from '../../../src/loop/replay/turn.ts';
import { MemoryStore } from '../../../src/loop/sessions/sqlite.ts';
import { runtimeExecutor, type TurnExecutor } from '../../../src/loop/turn/executor.ts';
import { createRuntime, type Runtime } from '../../../src/runtime/index.ts';
import { defineTool } from '../../../src/tools/index.ts';
import { workerError } from '../../../src/wire/errorinfo.ts';
import { refusedResult } from '../../../src/wire/result.ts';
import { RunError } from '../../../src/wire/text/runerror.ts';
import { newKeyring } from '../../aeiou/kit.ts';
import { fakeExecutor, programAgent, reply, TestClock, USERDATA } from '../fake.ts';

const KILLED = workerError('the worker process crashed: signal SIGKILL');
const PROGRAM = `command
  set a = tool.w.Pay("ada")
  set b = tool.w.Wait()
  set c = tool.w.Pay("bob")
  emit [a, b, c]
  emit tool.aeiou.magic("LOOP", {"action": "done"})
endcommand`;

let made: string[] = [];
const pay = defineTool({
  name: 'tool.w.Pay',
  args: [{ name: 'to', type: 'string' }],
  run: ({ to }) => {
    made.push(to);
    return `paid ${to}`;
  },
});
let waits = false;
const wait = defineTool({
  name: 'tool.w.Wait',
  args: [],
  run: (_, call) => {
    made.push('wait');
    return waits ? call.pending({ reason: 'a person answers' }) : 'waited';
  },
});

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ tools: [pay, wait], policy: { allow: ['*'] } });
});
afterAll(() => runtime.close());

/** How a worker of one attempt dies: before it runs, or when the program has made this number of calls. Or its run is cancelled. */
type Death = 'before' | 'cancelled' | number | null;

/** Runs programs as `runtime` does, but the worker of each attempt dies as `deaths` says. */
function mortal(deaths: readonly Death[]): TurnExecutor {
  const own = runtimeExecutor(runtime);
  const left = [...deaths];
  return {
    ...own,
    fork(init) {
      const fork = own.fork(init);
      return {
        ...fork,
        async execute(request) {
          const death = left.shift() ?? null;
          if (death === 'before') return refusedResult(KILLED);
          if (death === 'cancelled') return fork.execute({ ...request, signal: AbortSignal.abort() });
          const cancel = new AbortController();
          const result = await fork.execute({
            ...request,
            signal: cancel.signal,
            onCall: (entry) => {
              request.onCall?.(entry);
              if (death !== null && entry.seq >= death) cancel.abort();
            },
          });
          if (result.ok || !cancel.signal.aborted) return result;
          return {
            ...result,
            journal: result.journal.filter(({ seq }) => seq <= Number(death)),
            error: new RunError(KILLED, []),
          };
        },
      };
    },
  };
}

async function session(deaths: readonly Death[], options: Partial<LoopControllerOptions> = {}) {
  made = [];
  const clock = new TestClock();
  const [log, store] = [new MemoryLog(), new MemoryStore({ clock })];
  const parts = { keyring: newKeyring('k', clock), clock, ids: seededIds('interrupted'), log, store };
  const loop = new LoopController({ executor: mortal(deaths), ...parts, ...options });
  const events: LoopEvent[] = [];
  let asks = 0;
  const agent = {
    reply: async () => {
      asks++;
      return reply(PROGRAM);
    },
  };
  const result = await loop.runLoop({ sid: 's', userdata: USERDATA, agent, onEvent: (event) => void events.push(event) });
  return { loop, agent, result, store, log, events, asks: () => asks, record: (await store.turns('s'))[0] };
}

describe.each(['turn', 'call'] as const)('a worker that is killed, durable: %s', (durable) => {
  it.each<[string, readonly Death[]]>([
    ['before the turn', ['before']],
    ['after a call', [1]],
    ['twice, the second time before it comes to the calls of the first', [2, 'before']],
    ['twice, the second time amid the calls of the first', [3, 1]],
    ['three times', [1, 2, 'before']],
  ])('%s: the same program runs again, and no call is made twice', async (_, deaths) => {
    const { result, record, events, asks, log, loop } = await session(deaths, { durable });
    expect(result).toMatchObject({ decision: 'DONE', output: expect.stringContaining('paid ada') });
    expect(made).toEqual(['ada', 'wait', 'bob']);
    expect(asks()).toBe(1);
    expect(record?.attempts).toMatchObject(deaths.map(() => ({ end: 'interrupted', error: { code: 'ERR_WORKER' } })));
    expect(record?.journal.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    const undecided = events.filter(({ type }) => type === 'undecided');
    expect(undecided).toMatchObject(deaths.map((_each, at) => ({ attempt: at + 1, end: 'interrupted', code: 'ERR_WORKER' })));
    expect(log.entries).toMatchObject([{ decision: 'DONE', attempts: deaths.length + 1 }]);
    expect(loop.metrics.snapshot().repairs_total).toEqual({ interrupted: deaths.length });
    expect(loop.metrics.prometheus()).toContain(`repairs_total{end="interrupted"} ${deaths.length}\n`);
  });

  it('four times: the turn is halted, and the log says why', async () => {
    const { result, record, log } = await session([1, 1, 1, 1], { durable });
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_INTERRUPTED', error: { code: 'ERR_WORKER' } });
    expect(made).toEqual(['ada']);
    expect(record?.attempts).toHaveLength(3);
    expect(record?.journal).toMatchObject([{ seq: 1, outcome: { value: 'paid ada' } }]);
    expect(log.entries).toMatchObject([{ reason: 'ERR_INTERRUPTED', attempts: 4, message: `ERR_WORKER: ${KILLED.message}` }]);
  });

  it.each<[string, readonly Death[]]>([
    ['killed for the fourth time', [2, 1, 'before', 'before']],
    ['cancelled', [2, 'cancelled']],
  ])('and then %s before it comes to the calls of the first: the record has them all the same', async (_, deaths) => {
    const { record } = await session(deaths, { durable });
    expect(record?.decision).toBe('HALT');
    expect(made).toEqual(['ada', 'wait']);
    expect(record?.journal).toMatchObject([
      { seq: 1, outcome: { ok: true, value: 'paid ada' } },
      { seq: 2, outcome: { ok: true, value: 'waited' } },
    ]);
    expect(record && (await replayTurn(runtime, record))).toMatchObject({ verdict: 'prefix' });
  });

  it('is no second attempt with onInterrupted: halt', async () => {
    const { result, record } = await session([1], { durable, onInterrupted: 'halt' });
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_INTERRUPTED' });
    expect(record?.attempts).toBeUndefined();
    expect(made).toEqual(['ada']);
  });

  it.each<Death>(['before', 1, 2, 3])(
    'while a turn goes on after a wait (killed at %s): nothing is made twice',
    async (death) => {
      waits = true;
      try {
        const { loop, agent, result, store } = await session([null, death], { durable });
        expect(result.decision).toBe('SUSPENDED');
        await loop.complete('s', result.waiting?.call ?? '', { result: 'answered' });
        expect(await loop.resume('s', { agent })).toMatchObject({ decision: 'DONE' });
        expect(made).toEqual(['ada', 'wait', 'bob']);
        expect((await store.turns('s'))[0]?.output).toContain('answered');
      } finally {
        waits = false;
      }
    },
  );
});

it('a call without an answer is not made again: nobody knows whether it took effect', async () => {
  const at = { fork: 'f', source: 'ACTIONS', line: 2, column: 3 };
  const open = {
    kind: 'tool',
    seq: 1,
    name: 'tool.w.pay',
    args: ['ada'],
    at,
    outcome: { ok: false, halted: KILLED },
    begin: 0,
    ms: 1,
  } as const;
  const fake = fakeExecutor({ only: () => KILLED });
  const executor: TurnExecutor = {
    ...fake,
    fork(init) {
      const fork = fake.fork(init);
      return { ...fork, execute: async (request) => ({ ...(await fork.execute(request)), journal: [open] }) };
    },
  };
  const clock = new TestClock();
  const loop = new LoopController({ executor, keyring: newKeyring('k', clock), clock });
  const result = await loop.runLoop({ userdata: USERDATA, agent: programAgent('only') });
  expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_INTERRUPTED' });
  expect(fake.spy.calls.filter((call) => call === 'execute')).toHaveLength(1);
});
