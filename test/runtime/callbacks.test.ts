import { setImmediate as nextRound } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  defineTool,
  type HostContextInit,
  createRuntime as openRuntime,
  SILENT_LOGGER,
  ToolError,
} from '../../src/entries/index.ts';
import { functionAgent } from '../../src/loop/agents/index.ts';
import type { LoopEvent } from '../../src/loop/events.ts';
import { runtimeExecutor } from '../../src/loop/turn/executor.ts';
import { executeV1Turn } from '../../src/loop/v1/turn.ts';
import { SessionStorage } from '../../src/tools/index.ts';
import { callBack } from '../../src/wire/callback.ts';
import { errorOf, messageOf, shown } from '../../src/wire/unknown.ts';
import { reply } from '../loop/fake.ts';
import { controller, run } from '../loop/host.ts';
import { sections } from '../loop/v1/bench.ts';
import { type FakeProgram, fakeRuntime } from './fake.ts';

const FAILURE = new Error('full disk');

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const unreadable = Object.defineProperty(new Error('x'), 'message', {
  get() {
    throw new Error('no message');
  },
});

/** What code of an application can throw, and the message that stands for it. */
const THROWN: readonly (readonly [what: string, make: () => unknown, message: string])[] = [
  ['an error', () => FAILURE, 'full disk'],
  ['an error without a message', () => new TypeError(), 'TypeError'],
  ['an error whose message throws', () => unreadable, 'it threw a value that cannot be read'],
  ['an error whose message is a symbol', () => Object.assign(new Error('x'), { message: Symbol('m') }), 'Error'],
  ['a proxy that was revoked', () => revoked(), 'it threw a value that cannot be read'],
  ['a symbol', () => Symbol('s'), 'it threw a value of type symbol, which is not an Error'],
  ['nothing', () => undefined, 'it threw a value of type undefined, which is not an Error'],
  ['null', () => null, 'it threw a value of type null, which is not an Error'],
  ['an object without a prototype', () => Object.create(null), 'it threw a value of type object, which is not an Error'],
  ['a text', () => 'full disk', 'full disk'],
];

const FAILING: readonly (readonly [how: string, fail: () => unknown])[] = [
  [
    'throws',
    () => {
      throw FAILURE;
    },
  ],
  ['rejects at once', () => Promise.reject(FAILURE)],
  [
    'rejects later',
    async () => {
      await null;
      throw FAILURE;
    },
  ],
];

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', note);
});
afterEach(async () => {
  await nextRound();
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

/** Emits, whispers, calls a tool, and leaves an error in a handler of an event. */
const talking: FakeProgram = async (guest) => {
  guest.emit('e');
  guest.whisper('self', 'w');
  await guest.tool('tool.none.Such');
  return undefined;
};

describe('finding 10: what an application throws', () => {
  it.each(THROWN)('%s has a message', (_what, make, message) => {
    const thrown = make();
    expect(messageOf(thrown)).toBe(message);
    expect(errorOf(thrown)).toBeInstanceOf(Error);
    let failure: Error | null = null;
    const fails = (): never => {
      throw thrown;
    };
    callBack(fails, (error) => {
      failure = error;
    });
    expect(failure).toMatchObject({ message });
  });

  it.each(THROWN)('%s, thrown by a tool, is code 21 for the program', async (_what, make, message) => {
    const broken = defineTool({
      name: 'tool.t.Broken',
      run: () => {
        throw make();
      },
    });
    let reply: unknown = null;
    const { runtime } = fakeRuntime(
      async (guest) => {
        reply = await guest.tool('tool.t.Broken');
        return undefined;
      },
      { tools: [broken], policy: { allow: ['*'] } },
    );
    expect((await runtime.run('x')).ok).toBe(true);
    expect(reply).toMatchObject({ t: 'error', code: 21, message: `tool 'tool.t.broken' failed: ${message}` });
  });

  it('and a hint that is no text is left out', async () => {
    const odd = Object.assign(new ToolError(1004, 'no'), { hint: Symbol('hint') });
    const broken = defineTool({
      name: 'tool.t.Broken',
      run: () => {
        throw odd;
      },
    });
    let reply: unknown = null;
    const { runtime } = fakeRuntime(
      async (guest) => {
        reply = await guest.tool('tool.t.Broken');
        return undefined;
      },
      { tools: [broken], policy: { allow: ['*'] } },
    );
    await runtime.run('x');
    expect(reply).toEqual({ t: 'error', code: 1004, message: 'no', hint: undefined });
  });

  it('a wrong value is shown in messages, whatever it is', () => {
    const values = [Object.create(null), revoked(), Symbol('s'), () => 1, [], -0.5];
    const words = ['an object', 'an object that cannot be read', 'Symbol(s)', 'a function', 'a list', '-0.5'];
    expect(values.map(shown)).toEqual(words);
  });
});

describe('finding 10: a callback that fails, sync or async, never ends the process', () => {
  it.each(FAILING)('of a request: it ends the run, which rejects with that (%s)', async (_how, fail) => {
    for (const name of ['onOut', 'onCall']) {
      const forever: FakeProgram = async (guest) => {
        await talking(guest);
        return new Promise(() => {});
      };
      await expect(fakeRuntime(forever).runtime.run('x', { [name]: fail })).rejects.toBe(FAILURE);
    }
  });

  it.each(FAILING)('that receives the input: the run rejects with that (%s)', async (_how, fail) => {
    const { runtime } = fakeRuntime(() => new Promise(() => {}));
    await expect(runtime.interpreter().fork().runRequest({ onInput: fail })).rejects.toBe(FAILURE);
  });

  it.each(FAILING)('of an AEIOU v1 turn: the turn rejects with that (%s)', async (how, fail) => {
    await using stage = await openRuntime({ concurrency: 1 });
    const request = { loopId: 'l', turn: 1, reply: sections({ ACTIONS: 'command\nset x = 1\nendcommand' }), userdata: null };
    const onSection = (section: string): unknown => (how === 'throws' || section === 'USERDATA' ? fail() : undefined);
    await expect(executeV1Turn(runtimeExecutor(stage), { ...request, onSection })).rejects.toBe(FAILURE);
  });

  it.each(FAILING)('of the host: the run goes on, and the log says so (%s)', async (_how, fail) => {
    const logged: string[] = [];
    const logger = { ...SILENT_LOGGER, error: (_fields: object, message: string) => void logged.push(message) };
    const host: HostContextInit = { logger, emit: fail, whisper: fail };
    const { runtime } = fakeRuntime(talking, { audit: fail });
    expect((await runtime.interpreter({ host }).execute('x')).ok).toBe(true);
    await nextRound();
    expect(logged.toSorted()).toEqual(['the callback audit failed', 'the callback emit failed', 'the callback whisper failed']);
  });

  it.each(FAILING)('of a log that fails itself: nothing happens (%s)', async (_how, fail) => {
    const logger = { debug: fail, info: fail, warn: fail, error: fail };
    const { runtime } = fakeRuntime(talking);
    expect((await runtime.interpreter({ host: { logger, emit: fail } }).execute('x')).ok).toBe(true);
  });

  it.each(FAILING)(
    'of a session: the call rejects with that, or the process warns when it is too late (%s)',
    async (how, fail) => {
      const { loop, store } = controller();
      const agent = functionAgent(() => reply('program done'));
      await expect(loop.runLoop(run(agent, { onEvent: fail }))).rejects.toBe(FAILURE);
      expect(await store.read('s')).toMatchObject({ status: 'open' });
      const warnings: Error[] = [];
      const warned = (warning: Error): void => void warnings.push(warning);
      process.on('warning', warned);
      const onEvent = ({ type }: LoopEvent): unknown => (type === 'decided' ? fail() : undefined);
      const ended = loop.runLoop(run(agent, { onEvent, sid: 'other' }));
      if (how === 'throws') await expect(ended).rejects.toBe(FAILURE);
      else expect(await ended).toMatchObject({ decision: 'DONE' });
      expect(await store.read('other')).toMatchObject({ status: 'done' });
      await nextRound();
      process.off('warning', warned);
      expect(warnings).toMatchObject(how === 'throws' ? [] : [{ code: 'NEUROSCRIPT_LATE_FAILURE' }]);
    },
  );

  it.each(FAILING)('of session storage: what cannot be recorded is refused from then on (%s)', async (how, fail) => {
    const storage = new SessionStorage<number>({ allow: () => true, audit: fail });
    const { runtime } = fakeRuntime(talking);
    using turn = runtime.turn({ sessionId: 'a' });
    if (how === 'throws') expect(() => storage.of(turn, 'b')).toThrow(FAILURE);
    else storage.of(turn, 'b');
    await nextRound();
    expect(() => storage.of(turn, 'b')).toThrow();
  });
});
