import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { nonceOf } from '../../src/context/nonce.ts';
import { currentTurn, DeadlineError, rootTurn, TurnClosedError, TurnContext, turnStorage } from '../../src/context/turn.ts';
import { ConfigError } from '../../src/wire/errors.ts';

const now = () => Date.now();

describe('a turn context', () => {
  it('CTX-2B-2: carries the session and the turn index, and what is derived has them too', () => {
    const loop = rootTurn(now).derive({ sessionId: 's-1' });
    const turn = loop.derive({ turnIndex: 3 });
    expect([turn.sessionId, turn.turnIndex]).toEqual(['s-1', 3]);
    expect([loop.sessionId, loop.turnIndex]).toEqual(['s-1', null]);
    expect(turn.derive({ turnIndex: 4 }).turnIndex).toBe(4);
  });

  it('CTX-2B-5: derives from its parent alone: values are inherited, and no context can be made from nothing', () => {
    const outer = rootTurn(now).derive({ values: { tenant: 'blue', depth: 1 } });
    const inner = outer.derive({ sessionId: 's', values: { depth: 2 } });
    expect([inner.value('tenant'), inner.value('depth'), outer.value('depth')]).toEqual(['blue', 2, 1]);
    expect(inner.value('constructor')).toBeUndefined();
    expect(() => new TurnContext(Symbol('root'), null, {}, now)).toThrow(ConfigError);
  });

  it('CTX-2B-3: the deadline is inherited and never extended', () => {
    const at = Date.now() + 60_000;
    const timers = (): string[] => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout');
    const before = timers();
    const outer = rootTurn(now).derive({ deadline: at });
    // A deadline alone must not keep the process alive.
    expect(timers()).toEqual(before);
    expect(outer.derive({}).deadline).toBe(at);
    expect(outer.derive({ deadline: at + 1 }).deadline).toBe(at);
    expect(outer.derive({ deadline: at - 1 }).deadline).toBe(at - 1);
    outer.close();
  });

  it('CTX-2B-3: cancelling the outer one aborts everything derived, with the same reason', () => {
    const cancel = new AbortController();
    const outer = rootTurn(now).derive({ signal: cancel.signal });
    const inner = outer.derive({}).derive({ sessionId: 's' });
    const reason = new Error('stop');
    cancel.abort(reason);
    expect(inner.signal.aborted).toBe(true);
    expect(inner.signal.reason).toBe(reason);
    expect(outer.derive({}).signal.aborted).toBe(true);
    expect(inner.closed).toBe(false);
  });

  it('CTX-2B-3: the signal is aborted when the deadline passes', async () => {
    const turn = rootTurn(now).derive({ deadline: Date.now() + 20 });
    expect(turn.signal.aborted).toBe(false);
    await sleep(60);
    expect(turn.signal.reason).toBeInstanceOf(DeadlineError);
    const late = rootTurn(now).derive({ deadline: Date.now() - 1000 });
    await sleep(10);
    expect(late.signal.reason).toBeInstanceOf(DeadlineError);
  });

  it('CTX-2B-1: ends with its operation: the signal is aborted and nothing can be derived any more', () => {
    const parent = rootTurn(now);
    const turn = parent.derive({ sessionId: 's' });
    const child = turn.derive({});
    turn.close();
    turn.close();
    expect([turn.closed, turn.signal.aborted, child.signal.aborted, parent.closed]).toEqual([true, true, true, false]);
    expect(turn.signal.reason).toBeInstanceOf(TurnClosedError);
    expect(() => turn.derive({})).toThrow(TurnClosedError);
    expect(parent.derive({}).signal.aborted).toBe(false);
  });

  it('makes an AbortController for those who read its signal alone', () => {
    const made = vi.spyOn(globalThis, 'AbortController');
    const parent = rootTurn(now);
    const child = parent.derive({});
    const heard: string[] = [];
    const forgotten = (): void => void heard.push('forgotten');
    child.addEventListener('abort', () => heard.push('child'));
    child.addEventListener('abort', forgotten);
    child.removeEventListener('abort', forgotten);
    expect(child.aborted).toBe(false);
    parent.close();
    parent.close();
    expect([child.aborted, ...heard]).toEqual([true, 'child']);
    expect(made).not.toHaveBeenCalled();
    expect(child.signal).toBe(child.signal);
    expect([child.signal.aborted, child.signal.reason]).toEqual([true, parent.signal.reason]);
    made.mockRestore();
  });

  it('is immutable', () => {
    const turn = rootTurn(now).derive({ sessionId: 's', values: { a: 1 } });
    expect(() => Object.assign(turn, { sessionId: 'other' })).toThrow(TypeError);
    expect(() => Object.assign(turn, { extra: 1 })).toThrow(TypeError);
  });

  it('refuses values that no turn can have', () => {
    const root = rootTurn(now);
    for (const init of [{ sessionId: '' }, { turnIndex: 0 }, { turnIndex: 1.5 }, { nonce: '' }, { deadline: Number.NaN }])
      expect(() => root.derive(init)).toThrow(ConfigError);
  });

  it('a closed child leaves nothing behind in its parent', () => {
    const parent = rootTurn(now);
    let listeners = 0;
    const { addEventListener, removeEventListener } = parent.signal;
    Object.assign(parent.signal, {
      addEventListener: (...args: Parameters<typeof addEventListener>) => {
        listeners++;
        addEventListener.apply(parent.signal, args);
      },
      removeEventListener: (...args: Parameters<typeof removeEventListener>) => {
        listeners--;
        removeEventListener.apply(parent.signal, args);
      },
    });
    for (let index = 0; index < 100; index++) parent.derive({}).close();
    expect(listeners).toBe(0);
  });
});

describe('the clock of an operation', () => {
  it("is the runtime's, or the one that the nearest context was given", () => {
    const root = rootTurn(() => 5);
    const turn = root.derive({ clock: () => 1_760_000_000_000 });
    expect([root.now(), root.derive({}).now(), turn.now(), turn.derive({ turnIndex: 2 }).now()]).toEqual([
      5, 5, 1_760_000_000_000, 1_760_000_000_000,
    ]);
    expect(() => root.derive(JSON.parse('{"clock":7}'))).toThrow(ConfigError);
  });
});

describe('the nonce', () => {
  it('is inherited, replaced by a new one, and nowhere on the context itself', () => {
    const root = rootTurn(now);
    const turn = root.derive({ nonce: 'first-nonce' });
    expect([nonceOf(root), nonceOf(turn), nonceOf(turn.derive({})), nonceOf(turn.derive({ nonce: 'second' }))]).toEqual([
      null,
      'first-nonce',
      'first-nonce',
      'second',
    ]);
    expect(turn.value('nonce')).toBeUndefined();
    const seen = [...Object.entries(turn), ...Object.entries(Object.getOwnPropertyDescriptors(TurnContext.prototype))];
    expect(JSON.stringify(seen)).not.toContain('first-nonce');
  });
});

describe('turnStorage', () => {
  it('carries the turn through asynchronous code, and the one from before is back afterwards', async () => {
    const root = rootTurn(now);
    const outer = root.derive({ turnIndex: 1 });
    const inner = outer.derive({ turnIndex: 2 });
    expect(currentTurn()).toBeUndefined();
    await turnStorage.run(outer, async () => {
      await turnStorage.run(inner, async () => {
        await sleep(1);
        expect(currentTurn()).toBe(inner);
      });
      expect(currentTurn()).toBe(outer);
    });
    expect(currentTurn()).toBeUndefined();
  });
});
