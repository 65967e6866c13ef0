import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createRuntime, defineTool, type Runtime, TurnClosedError } from '../../src/entries/index.ts';
import { SLOW } from '../groups.ts';
import { command } from './sources.ts';

/** Everything that a tool can do wrong has one typed, named outcome, and the session goes on or halts as documented. */

class Account {
  balance = 1;
}
const cycle: { self?: unknown } = {};
cycle.self = [cycle];

let late: Promise<readonly PromiseSettledResult<unknown>[]> = Promise.resolve([]);
let deepLater: (() => Promise<unknown>) | null = null;

const misbehaving: Readonly<Record<string, () => unknown>> = {
  ThrowError: () => {
    throw new TypeError('x is not a function');
  },
  Reject: () => Promise.reject(new Error('the network is down')),
  ThrowText: () => {
    throw 'just a text';
  },
  ThrowNothing: () => {
    throw undefined;
  },
  Undefined: () => undefined,
  Nothing: async () => {},
  Instance: () => new Account(),
  Function: () => () => 1,
  Symbol: () => Symbol('s'),
  Cycle: () => cycle,
  Bigint: () => 2n ** 80n,
  Gigabyte: () => new Uint8Array(2 ** 30),
  Gigabytes: () => Array.from({ length: 64 }, () => 'x'.repeat(2 ** 24)),
  Surrogate: () => '\ud800',
  Deep: () => {
    let list: unknown[] = [];
    for (let n = 0; n < 10_000; n++) list = [list];
    return list;
  },
  Trap: () =>
    new Proxy(
      {},
      {
        ownKeys() {
          throw new RangeError('no keys for you');
        },
      },
    ),
  Getter: () => ({
    get value() {
      throw new Error('not now');
    },
  }),
  Hang: () => new Promise(() => {}),
  Promised: () => ({ nested: Promise.resolve(1) }),
};

const TOOLS = [
  ...Object.entries(misbehaving).map(([name, run]) => defineTool({ name: `tool.bad.${name}`, run })),
  defineTool({
    name: 'tool.bad.Late',
    description: 'returns at once, and goes on in the background',
    run: (_args, runtime) => {
      // Settled at once: on a busy machine some fail before the test looks at them.
      late = Promise.allSettled([
        sleep(20).then(() => runtime.setVar('x', 'late')),
        sleep(20).then(() => runtime.callTool('bad.Undefined', [])),
        sleep(20).then(() => runtime.sandboxDir()),
        sleep(20).then(() => runtime.handles),
        sleep(20).then(() => runtime.defineConstant('c', 1)),
        sleep(20).then(() => runtime.definitions),
      ]);
      return 'soon';
    },
  }),
  defineTool({
    name: 'tool.bad.AfterTurn',
    run: (_args, runtime) => {
      deepLater = () => runtime.getVar('x');
      return 'kept';
    },
  }),
];

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ tools: TOOLS, policy: { allow: ['*'] }, concurrency: 1 });
});
afterAll(() => runtime.close());
afterEach(async () => {
  // Whatever happened, the next program runs.
  expect((await runtime.run(command('emit 1'))).emits).toEqual(['1']);
});

const caught = (call: string): string =>
  command(
    'on error do',
    '  emit [system_error["code"], system_error["message"]]',
    '  clear_error',
    'endon',
    `emit ${call}`,
    'emit "on"',
  );

describe('a tool that', () => {
  it.each([
    ['throws', 'ThrowError', "tool 'tool.bad.throwerror' failed: x is not a function"],
    ['rejects', 'Reject', "tool 'tool.bad.reject' failed: the network is down"],
    ['throws a text', 'ThrowText', "tool 'tool.bad.throwtext' failed: just a text"],
    [
      'throws undefined',
      'ThrowNothing',
      "tool 'tool.bad.thrownothing' failed: it threw a value of type undefined, which is not an Error",
    ],
    ['returns a class instance', 'Instance', 'Account is a class instance'],
    ['returns a function', 'Function', 'a function has no counterpart'],
    ['returns a symbol', 'Symbol', 'a symbol has no counterpart'],
    ['returns a cycle', 'Cycle', 'contains itself'],
    ['returns a bigint that is no number', 'Bigint', 'does not fit a number'],
    ['returns half a character', 'Surrogate', 'lone surrogate'],
    ['nests ten thousand deep', 'Deep', 'nests deeper than'],
    ['returns an object that throws when it is looked at', 'Trap', 'no keys for you'],
    ['has a getter that throws', 'Getter', 'not now'],
    ['forgets to await', 'Promised', 'Promise is a class instance'],
  ])('%s is code 21, which the program can handle', async (_what, name, message) => {
    const result = await runtime.run(caught(`tool.bad.${name}()`));
    expect(result.error).toBeNull();
    expect(result.values).toEqual([[21, expect.stringContaining(message)], 'on']);
    const plain = await runtime.run(command(`call tool.bad.${name}()`));
    expect(plain.error).toMatchObject({ kind: 'runtime', code: 'NS21', name: 'ToolExecutionFailed', line: 2 });
    expect(plain.journal).toMatchObject([{ outcome: { ok: false, code: 21 } }]);
  });

  it.each(['Undefined', 'Nothing'])('returns nothing (%s) gives nil', async (name) => {
    expect((await runtime.run(caught(`tool.bad.${name}()`))).values).toEqual([null, 'on']);
  });

  it.each(['Gigabyte', 'Gigabytes'])(
    'returns more than may cross (%s) ends the run: toolBytes, which no program can catch',
    SLOW,
    async (name) => {
      const before = process.memoryUsage().rss;
      const result = await runtime.run(caught(`tool.bad.${name}()`));
      expect(result).toMatchObject({
        ok: false,
        values: [],
        error: { kind: 'quota', code: 'ERR_QUOTA', limit: 'toolBytes', line: 6 },
      });
      expect(process.memoryUsage().rss - before).toBeLessThan(2 ** 30);
    },
  );

  it('never settles ends the run at toolMs, and leaves nothing open behind it', async () => {
    const result = await runtime.run(caught('tool.bad.Hang()'), { limits: { toolMs: 40 } });
    expect(result).toMatchObject({ ok: false, values: [], error: { kind: 'timeout', code: 'ERR_TIMEOUT', limit: 'toolMs' } });
    expect(result.journal).toMatchObject([{ outcome: { halted: { code: 'ERR_TIMEOUT' } } }]);
  });

  it('never settles with a bound of its own is code 37 for the program', async () => {
    const tool = defineTool({ name: 'tool.bad.Bounded', timeoutMs: 20, run: () => new Promise(() => {}) });
    const result = await runtime
      .interpreter()
      .fork({ tools: [tool] })
      .execute(caught('tool.bad.Bounded()'));
    expect(result.values).toMatchObject([[37, expect.stringContaining('took longer than 20 ms')], 'on']);
  });

  it('goes on after its answer gets ERR_TURN_CLOSED for whatever it tries, and changes nothing', async () => {
    const result = await runtime.run(command('set x = 1', 'emit tool.bad.Late()', 'call tool.bad.Undefined()', 'emit x'));
    expect(result.values).toEqual(['soon', 1]);
    const outcomes = await late;
    expect(outcomes).toHaveLength(6);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(TurnClosedError) });
  });

  it('calls back after the turn gets ERR_TURN_CLOSED, and cannot reach the next turn of the session', async () => {
    const root = runtime.interpreter();
    {
      using turn = runtime.turn({ sessionId: 's', turnIndex: 1 });
      await root.fork({ turn }).execute(command('set x = 1', 'emit tool.bad.AfterTurn()'));
    }
    using next = runtime.turn({ sessionId: 's', turnIndex: 2 });
    const running = root.fork({ turn: next }).execute(command('set x = 2', 'emit x'));
    await expect(deepLater?.()).rejects.toMatchObject({ code: 'ERR_TURN_CLOSED', message: expect.stringContaining('after the') });
    expect((await running).values).toEqual([2]);
  });
});
