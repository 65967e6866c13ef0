import { describe, expect, it, vi } from 'vitest';
import type { Agent } from '../../src/loop/agents/agent.ts';
import { type DecisionLog, MemoryLog } from '../../src/loop/log/log.ts';
import { SessionLeasedError, SessionStateError } from '../../src/loop/sessions/errors.ts';
import { Leases } from '../../src/loop/sessions/lease.ts';
import { MemoryStore } from '../../src/loop/sessions/sqlite.ts';
import type { Held, Renewal } from '../../src/loop/sessions/store.ts';
import { CallScope } from '../../src/tools/dispatch/callscope.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import { fakeExecutor, newKeyring, type Program, programAgent, reply, TestClock, USERDATA } from './fake.ts';
import { controller, run } from './host.ts';

/** A store that dies with the process: from the given call on, nothing reaches it any more. */
function dying(store: MemoryStore, at: 'commit' | 'logged'): MemoryStore {
  const dead = new MemoryStore();
  for (const name of ['create', 'read', 'claim', 'start', 'commit', 'logged', 'turns'] as const)
    Object.assign(dead, { [name]: store[name].bind(store) });
  const gone = (): Promise<never> => Promise.reject(new Error('killed'));
  Object.assign(dead, { [at]: gone, release: gone, withdraw: gone });
  return dead;
}

/** The process that comes after: same store, same clock, 20 seconds later, so that the lease has ended. */
function next(clock: TestClock, options: Parameters<typeof controller>[0]) {
  clock.ms += 20_000;
  return controller({ clock, ...options });
}

describe('after the death of a process', () => {
  it('AL3-1-1 AL3-11-6: committed turns are not run again, and the session goes on with the next', async () => {
    const store = new MemoryStore();
    const { loop } = controller({ store });
    await loop.open(USERDATA, 's');
    await loop.step('s', { agent: programAgent('continue') });
    const [first] = await store.turns('s');
    const agent = programAgent('continue', 'done');
    const after = controller({ store });
    expect(await after.loop.resume('s', { agent })).toMatchObject({ decision: 'DONE', turns: [{ turn: 2 }] });
    expect(agent.prompts).toHaveLength(1);
    const turns = await store.turns('s');
    expect(turns.map(({ turn }) => turn)).toEqual([1, 2]);
    expect(turns[0]).toEqual(first);
  });

  it('an interrupted turn is run again: the same program, a new nonce, and the agent is not asked twice', async () => {
    const clock = new TestClock();
    const store = new MemoryStore({ clock });
    const died = controller({ clock, store: dying(store, 'commit') });
    const first = programAgent('done');
    await expect(died.loop.runLoop(run(first))).rejects.toThrow('killed');
    clock.ms += 20_000;
    const { next: interrupted } = await store.claim('s', { owner: 'dead', ms: 0 });
    const nonce = interrupted.kind === 'interrupted' ? interrupted.started.nonce : null;
    expect(nonce).toBeTypeOf('string');
    const second = programAgent('abort');
    const { loop, log } = next(clock, {
      store,
      ids: { session: () => '', nonce: () => 'AAECAwQFBgcICQoLDA0ODw', jti: () => 'j' },
    });
    expect(await loop.resume('s', { agent: second })).toMatchObject({ decision: 'DONE', turns: [{ turn: 1 }] });
    expect(second.prompts).toEqual([]);
    const [turn] = await store.turns('s');
    expect(turn?.inputs.nonce).not.toBe(nonce);
    expect(log.entries).toHaveLength(1);
  });

  it('AL3-1-1: under onInterrupted halt it is not run again: its one decision is HALT ERR_INTERRUPTED, and is logged', async () => {
    const clock = new TestClock();
    const store = new MemoryStore({ clock });
    await expect(controller({ clock, store: dying(store, 'commit') }).loop.runLoop(run(programAgent('done')))).rejects.toThrow();
    const { loop, log, executor } = next(clock, { store, onInterrupted: 'halt' });
    const result = await loop.resume('s', { agent: programAgent('done') });
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_INTERRUPTED', error: { code: 'ERR_INTERRUPTED' } });
    expect(result.turns).toMatchObject([{ turn: 1, decision: 'HALT', output: '', outputComplete: false, latencyMs: 0 }]);
    expect(result.error?.message).toMatch(/turn 1 was started and not decided: it was interrupted$/);
    expect(executor.spy.calls).toEqual([]);
    expect(log.entries).toMatchObject([{ turn_index: 1, decision: 'HALT', reason: 'ERR_INTERRUPTED' }]);
    expect(await store.read('s')).toMatchObject({ status: 'halted', reason: 'ERR_INTERRUPTED', nextTurn: 2 });
  });

  it('a turn that always ends its process is run once beside others and three times alone, then halted', async () => {
    const clock = new TestClock();
    const store = new MemoryStore({ clock });
    const { loop } = controller({ clock, store: dying(store, 'commit') });
    await expect(loop.runLoop(run(programAgent('done')))).rejects.toThrow('killed');
    for (let attempt = 2; attempt <= 4; attempt++) {
      const again = next(clock, { store: dying(store, 'commit') });
      await expect(again.loop.resume('s', { agent: programAgent() })).rejects.toThrow('killed');
    }
    const last = next(clock, { store });
    const result = await last.loop.resume('s', { agent: programAgent() });
    expect(result).toMatchObject({ reason: 'ERR_INTERRUPTED' });
    expect(result.error?.message).toMatch(/it was interrupted 4 times$/);
  });

  it.each([true, false])(
    'AL3-9-1: a decision that was committed and not marked is logged once (was written: %s)',
    async (written) => {
      const clock = new TestClock();
      const store = new MemoryStore({ clock });
      const log = new MemoryLog();
      const full = { append: () => Promise.reject(new Error('killed')), has: async () => false };
      const first = controller({ clock, store: dying(store, 'logged'), log: written ? log : full });
      await expect(first.loop.runLoop(run(programAgent('done')))).rejects.toThrow('killed');
      expect(log.entries).toHaveLength(written ? 1 : 0);
      const { loop } = next(clock, { store, log });
      expect(await loop.recover()).toEqual([]);
      expect(log.entries).toMatchObject([{ SID: 's', turn_index: 1, decision: 'DONE' }]);
      expect((await loop.list())[0]).toMatchObject({ status: 'done', owed: 0, lease: null });
    },
  );

  it('a turn that fails on the host after its program has run is interrupted, not forgotten', async () => {
    const broken = () => {
      throw new Error('broken check');
    };
    const { loop, store } = controller({ checks: [broken] });
    await expect(loop.runLoop(run(programAgent('continue')))).rejects.toThrow('broken check');
    expect((await store.list())[0]).toMatchObject({ started: 1, lease: null });
  });

  it('recover names the open sessions that nobody drives', async () => {
    const clock = new TestClock();
    const store = new MemoryStore({ clock });
    const { loop } = controller({ clock, store });
    for (const sid of ['a', 'b', 'c']) await loop.open(USERDATA, sid);
    await store.claim('b', { owner: 'other', ms: 1000 });
    await loop.step('c', { agent: programAgent('done') });
    expect(await loop.recover()).toEqual(['a']);
  });

  it('recover leaves alone what its own process drives: while the agent thinks, and before a decision is known to be logged', async () => {
    const store = new MemoryStore();
    const kept = new MemoryLog();
    const seen: unknown[] = [];
    const look = async (when: string): Promise<void> => {
      const found = await loop.recover();
      seen.push([when, found, (await store.list())[0]?.lease !== null]);
    };
    const log: DecisionLog = {
      has: (sid, turn) => kept.has(sid, turn),
      append: async (entry) => {
        await kept.append(entry);
        await look('logged');
      },
    };
    const { loop } = controller({ store, log });
    const programs = programAgent('continue', 'done');
    const agent: Agent = {
      reply: async (request) => {
        await look('asked');
        return programs.reply(request);
      },
    };
    // Who reads the events holds the next turn up: then the session is between two turns.
    const found: string[] = [];
    for await (const _ of loop.stream(run(agent))) found.push(...(await loop.recover()));
    expect(found).toEqual([]);
    expect((await store.list())[0]).toMatchObject({ status: 'done', turns: 2 });
    expect(seen).toEqual([
      ['asked', [], true],
      ['logged', [], true],
      ['asked', [], true],
      ['logged', [], true],
    ]);
    expect(kept.entries).toHaveLength(2);
    await loop.open(USERDATA, 'own');
    await loop.step('own', { agent });
    expect(seen.slice(4)).toEqual([
      ['asked', [], true],
      ['logged', [], true],
    ]);
  });

  it('AL3-5.2-8 AL3-8-11: ids that were used before the death are still used afterwards', async () => {
    const clock = new TestClock();
    const store = new MemoryStore({ clock });
    const keyring = newKeyring('test', clock);
    const same = { session: () => '', nonce: () => 'AAECAwQFBgcICQoLDA0ODw', jti: () => 'always-the-same' };
    const { loop } = controller({ clock, store, keyring, ids: same });
    await loop.open(USERDATA, 's');
    await loop.step('s', { agent: programAgent('continue') });
    const after = controller({ clock, store, keyring, ids: same });
    const result = await after.loop.resume('s', { agent: programAgent('continue') });
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_TOKEN_REPLAY', turns: [{ turn: 2 }] });
  });

  it('a session that has ended, or that nobody knows, is not resumed', async () => {
    const { loop } = controller();
    await loop.runLoop(run(programAgent('done')));
    await expect(loop.resume('s', { agent: programAgent('done') })).rejects.toThrow(SessionStateError);
    await expect(loop.resume('t', { agent: programAgent('done') })).rejects.toThrow('session "t" is unknown');
  });

  it('a session that has ended keeps its end, however few turns or milliseconds the next call allows', async () => {
    const { loop, log } = controller();
    await loop.runLoop(run(programAgent('continue', 'done')));
    for (const tight of [{ maxTurns: 1 }, { wallMs: 1 }])
      await expect(loop.resume('s', { agent: programAgent('done'), ...tight })).rejects.toThrow('session "s" is done');
    expect(log.entries.map(({ decision }) => decision)).toEqual(['CONTINUE', 'DONE']);
  });
});

describe('two processes on one store', () => {
  it('AL3-3-1: only one of them drives a session; the other is told who does', async () => {
    const clock = new TestClock();
    const store = new MemoryStore({ clock });
    const a = controller({ clock, store, owner: 'first' });
    const b = controller({ clock, store, owner: 'second' });
    await a.loop.open(USERDATA, 's');
    let other: unknown;
    const agent: Agent = {
      async reply() {
        other = await b.loop.step('s', { agent: programAgent('done') }).catch((error: unknown) => error);
        return reply('program continue');
      },
    };
    await a.loop.step('s', { agent });
    expect(other).toBeInstanceOf(SessionLeasedError);
    expect(String(other)).toContain('first until 2024-08-30T10:06:00.000Z');
    expect((await b.loop.step('s', { agent: programAgent('done') })).turn).toBe(2);
  });

  it('a turn whose lease was taken over is not kept: the new owner runs it', async () => {
    const clock = new TestClock();
    const store = new MemoryStore({ clock });
    const b = controller({ clock, store });
    const slow: Program = async ({ emit, magic }) => {
      clock.ms += 20_000;
      // Another process runs the turn, so the turns of this process do not hold it up, as with the turns of a tool.
      await new CallScope(1).run(() => b.loop.step('s', { agent: programAgent('never asked') }));
      emit(await magic('abort'));
    };
    const done: Program = async ({ emit, magic }) => emit(await magic('done'));
    let calls = 0;
    const executor = fakeExecutor({ slow: (io) => (calls++ === 0 ? slow(io) : done(io)) });
    const a = controller({ clock, store, executor });
    const second = controller({ clock, store, executor });
    b.loop.step = (sid, options) => second.loop.step(sid, options);
    await a.loop.open(USERDATA, 's');
    await expect(a.loop.step('s', { agent: programAgent('slow') })).rejects.toThrow(SessionLeasedError);
    expect(await store.turns('s')).toMatchObject([{ turn: 1, decision: 'DONE' }]);
  });

  it('cancel reaches a session that another process drives, at its next turn at the latest', async () => {
    const clock = new TestClock();
    const store = new MemoryStore({ clock });
    const a = controller({ clock, store });
    const b = controller({ clock, store });
    const agent: Agent = {
      async reply({ sid }) {
        expect(await b.loop.cancel(sid)).toBe(true);
        return reply('program continue');
      },
    };
    const result = await a.loop.runLoop(run(agent));
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_CANCELLED', turns: [{ turn: 1 }] });
    expect(await store.read('s')).toMatchObject({ status: 'halted', reason: 'ERR_CANCELLED' });
  });

  it('cancel reaches a session that is given back at that moment, and one that another process has taken over', async () => {
    const clock = new TestClock();
    const store = new MemoryStore({ clock });
    const a = controller({ clock, store, owner: 'a', leaseMs: 1000 });
    await a.loop.open(USERDATA, 's');
    let cancelled: Promise<boolean> | null = null;
    const leave = (): boolean => {
      cancelled = a.loop.cancel('s');
      return true;
    };
    const left = await a.loop.resume('s', { agent: programAgent('continue'), leave });
    expect(await cancelled).toBe(true);
    expect(left).toMatchObject({ decision: 'HALT', reason: 'ERR_CANCELLED', turns: [{ turn: 1, decision: 'CONTINUE' }] });
    expect(await store.read('s')).toMatchObject({ status: 'halted', reason: 'ERR_CANCELLED' });

    await a.loop.open(USERDATA, 't');
    const agent: Agent = {
      async reply() {
        clock.ms += 1000;
        await store.claim('t', { owner: 'b', ms: 1000 });
        expect(await a.loop.cancel('t')).toBe(true);
        return reply('program done');
      },
    };
    await expect(a.loop.resume('t', { agent })).rejects.toThrow(SessionLeasedError);
    expect(await store.claim('t', { owner: 'b', ms: 1000 })).toMatchObject({ cancelled: true });
  });

  it('cancel ends at once what nobody drives, and gives an interrupted turn its decision', async () => {
    const clock = new TestClock();
    const store = new MemoryStore({ clock });
    await expect(controller({ clock, store: dying(store, 'commit') }).loop.runLoop(run(programAgent('done')))).rejects.toThrow();
    const { loop, log } = next(clock, { store });
    expect(await loop.cancel('s')).toBe(true);
    expect(log.entries).toMatchObject([{ turn_index: 1, decision: 'HALT', reason: 'ERR_CANCELLED' }]);
    expect(await loop.cancel('s')).toBe(false);
  });
});

describe('leases', () => {
  it('are renewed by one timer while sessions are in a turn, and by none while they are idle', async () => {
    const clock = new TestClock();
    const store = new MemoryStore({ clock });
    const { loop } = controller({ clock, store });
    const leases = new Leases({ store, clock, owner: 'me', leaseMs: 1000 });
    const fences: Record<string, number> = {};
    for (const sid of ['a', 'b', 'c']) {
      await loop.open(USERDATA, sid);
      const { fence } = await store.claim(sid, leases.lease);
      fences[sid] = fence;
    }
    expect(leases.isRenewing).toBe(false);
    const told: string[] = [];
    for (const [sid, fence] of Object.entries(fences))
      leases.hold({ sid, fence, until: leases.end() }, () => void told.push(sid));
    expect(leases.isRenewing).toBe(true);
    clock.ms += 900;
    await store.release('b', fences['b'] ?? 0);
    await store.cancel('a');
    await leases.renew();
    expect(told).toEqual(['a', 'b']);
    expect((await store.list())[0]?.lease?.until).toBe(clock.ms + 1000);
    leases.drop('a');
    expect(leases.isRenewing).toBe(true);
    leases.drop('b');
    leases.drop('c');
    expect(leases.isRenewing).toBe(false);
  });

  it('are renewed every third of their length: one renewal may fail, and no other process can claim the session', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const clock = new TestClock();
      const begin = clock.ms;
      const renewedAt: number[] = [];
      class FailsOnce extends MemoryStore {
        override async renew(held: readonly Held[], ms: number): Promise<readonly Renewal[]> {
          renewedAt.push(clock.ms - begin);
          if (renewedAt.length === 1) throw new Error('the store cannot be reached');
          return super.renew(held, ms);
        }
      }
      const store = new FailsOnce({ clock });
      const leases = new Leases({ store, clock, owner: 'me', leaseMs: 900 });
      await controller({ clock, store }).loop.open(USERDATA, 's');
      const { fence } = await store.claim('s', leases.lease);
      leases.hold({ sid: 's', fence, until: leases.end() }, () => expect.unreachable('the lease was lost'));
      for (let elapsed = 0; elapsed < 1400; elapsed += 100) {
        clock.ms += 100;
        await vi.advanceTimersByTimeAsync(100);
        await expect(store.claim('s', { owner: 'other', ms: 1 })).rejects.toThrow(SessionLeasedError);
      }
      leases.drop('s');
      expect(renewedAt).toEqual([300, 600, 900, 1200]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('may last a tenth of a second', () => {
    expect(() => controller({ leaseMs: 100 })).not.toThrow();
  });

  it.each([{ leaseMs: 99 }, { leaseMs: 2 ** 31 }, { leaseMs: 1.5 }, { leaseMs: Number.NaN }, { owner: '' }])(
    'refuses %j',
    (options) => {
      expect(() => controller(options)).toThrow(ConfigError);
    },
  );
});

describe('ceilings of a whole session', () => {
  it('maxTurns counts the turns before a resume too', async () => {
    const store = new MemoryStore();
    const { loop } = controller({ store });
    await loop.open(USERDATA, 's');
    await loop.step('s', { agent: programAgent('continue') });
    const result = await controller({ store }).loop.resume('s', { agent: programAgent('continue'), maxTurns: 2 });
    expect(result).toMatchObject({ reason: 'ERR_MAX_TURNS', turns: [{ turn: 2 }] });
  });

  it('maxFuel: each turn gets what is left; then the session ends with ERR_QUOTA', async () => {
    const { loop, executor, store } = controller();
    const result = await loop.runLoop(run(programAgent('continue'), { maxFuel: 30 }));
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_QUOTA', turns: { length: 3 } });
    expect(result.error?.message).toContain('36 of 30');
    expect(executor.spy.forks.map(({ limits }) => limits.fuel)).toEqual([30, 18, 6]);
    expect((await store.read('s'))?.spent).toEqual({ fuel: 36, tokens: 0 });
  });

  it('maxTokens and maxTurnTokens: the agent is told what is left, and is not asked when nothing is', async () => {
    const { loop, store } = controller();
    const told: (number | null)[] = [];
    const agent: Agent = {
      async reply({ maxTokens }) {
        told.push(maxTokens);
        return { text: reply('program continue'), tokens: 40 };
      },
    };
    const result = await loop.runLoop(run(agent, { maxTokens: 80, maxTurnTokens: 50 }));
    expect(result).toMatchObject({ reason: 'ERR_QUOTA', turns: { length: 2 } });
    expect(told).toEqual([50, 40]);
    expect((await store.read('s'))?.spent.tokens).toBe(80);
    const greedy = await loop.runLoop(run(agent, { maxTurnTokens: 39, sid: 't' }));
    expect(greedy).toMatchObject({ reason: 'ERR_QUOTA', turns: [] });
  });

  it.each(['maxTurns', 'maxFuel', 'maxTokens', 'maxTurnTokens'])('%s must be a whole number from 1', async (name) => {
    const { loop } = controller();
    for (const value of [0, -1, 1.5, Number.NaN])
      await expect(loop.runLoop(run(programAgent('done'), { [name]: value }))).rejects.toThrow(ConfigError);
  });
});
