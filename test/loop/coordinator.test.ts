import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import type { Agent } from '../../src/loop/agents/agent.ts';
import type { LoopController } from '../../src/loop/controller.ts';
import { MemoryLog } from '../../src/loop/log/log.ts';
import type { LoopResult } from '../../src/loop/result.ts';
import { SessionCoordinator } from '../../src/loop/sessions/coordinator.ts';
import { SessionLeasedError } from '../../src/loop/sessions/errors.ts';
import { MemoryStore } from '../../src/loop/sessions/sqlite.ts';
import { newSession, type StartedTurn } from '../../src/loop/sessions/store.ts';
import { StoreError } from '../../src/sqlite/error.ts';
import { BEGUN } from './begun.ts';
import { programAgent, TestClock, USERDATA } from './fake.ts';
import { controller } from './host.ts';

/** A coordinator called `me` with a lease of a second, and a store with these sessions, nested ones as `PARENT/SID`. */
async function coordinated(...sids: readonly string[]) {
  const [clock, log] = [new TestClock(), new MemoryLog()];
  const store = new MemoryStore({ clock });
  for (const name of sids) {
    const [sid = '', parent] = name.split('/').reverse();
    await store.create(newSession(sid, '{}', parent === undefined ? null : { sid: parent, turn: 1, seq: 1 }), clock.ms);
  }
  const coordinator = new SessionCoordinator({ store, log, clock, owner: 'me', leaseMs: 1000, replayTtl: 300 });
  return { store, clock, log, coordinator };
}

/** A log whose disk is full. */
class FullLog extends MemoryLog {
  override async append(): Promise<void> {
    throw new Error('the disk is full');
  }
}

it('issue 43: a decision whose commit is slow to be answered is logged once, although the process looks for what is not logged', async () => {
  const { coordinator, store, log } = await coordinated('s');
  const claimed = await coordinator.claim('s');
  await coordinator.start(BEGUN, claimed);
  await coordinator.release(claimed);
  const [committed, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const commit = store.commit.bind(store);
  store.commit = async (turn) => {
    const result = await commit(turn);
    committed.resolve();
    await answered.promise;
    return result;
  };
  const cancelled = coordinator.cancel('s');
  await committed.promise;
  const tended = coordinator.tend();
  const other = new SessionCoordinator({ store, log, clock: new TestClock(), owner: 'other', leaseMs: 1000, replayTtl: 300 });
  await other.tend();
  expect(log.entries).toEqual([]);
  await new Promise(setImmediate);
  answered.resolve();
  expect(await cancelled).toBe(true);
  await tended;
  expect(log.entries).toMatchObject([{ SID: 's', turn_index: 1, decision: 'HALT', reason: 'ERR_CANCELLED' }]);
});

/** A store with these open sessions, whose first decisions a dead process has stored and not logged, and the process `me`. */
async function owing(...sids: readonly string[]) {
  const all = await coordinated();
  const { store, clock } = all;
  const dead = controller({ store, clock, log: new FullLog() }).loop;
  for (const sid of sids) {
    await dead.open(USERDATA, sid);
    await dead.step(sid, { agent: programAgent('continue') }).catch(() => {});
  }
  clock.ms += 60_000;
  clock.elapsed += 60_000;
  return all;
}

it.each([
  ['looks into the log', 'tends', (own: SessionCoordinator) => own.tend(), ['a', 'b', 'c']],
  ['looks into the log', 'ends one of them', (own: SessionCoordinator) => own.cancel('b'), ['a', 'b', 'c']],
  ['looks into the log', 'begins a turn of one', (own: SessionCoordinator) => own.work.turn('b'), ['a', 'b', 'c']],
  ['waits for the store', 'tends', (own: SessionCoordinator) => own.tend(), []],
  ['waits for the store', 'ends one of them', (own: SessionCoordinator) => own.cancel('b'), ['a', 'c']],
  ['waits for the store', 'begins a turn of one', (own: SessionCoordinator) => own.work.turn('b'), ['a', 'c']],
])(
  'decisions of sessions that are claimed together are logged once if the process, while it %s, %s',
  async (when, _, act, got) => {
    const { coordinator, store, log } = await owing('a', 'b', 'c');
    const [begun, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const delayed = async <T>(answer: Promise<T>): Promise<T> => {
      await answer;
      begun.resolve();
      await goesOn.promise;
      return answer;
    };
    const [has, next] = [log.has.bind(log), store.next.bind(store)];
    if (when === 'looks into the log') log.has = (...asked) => delayed(has(...asked));
    else store.next = (...asked) => delayed(next(...asked));
    const claimed = coordinator.next(8, { profiles: [''] });
    await begun.promise;
    const acted = act(coordinator);
    await new Promise(setImmediate);
    goesOn.resolve();
    await acted;
    expect((await claimed).map(({ state }) => state.sid)).toEqual(got);
    const logged = log.entries.map(({ SID, turn_index }) => `${SID}${turn_index}`);
    expect(logged).toEqual([...new Set(logged)]);
    expect(logged).toEqual(expect.arrayContaining(got.map((sid) => `${sid}1`)));
    // What is not to be driven is free for others.
    for (const { sid, lease } of await store.list()) if (!got.includes(sid)) expect(lease).toBeNull();
  },
);

it('sessions that are claimed together are driven although a decision of another one cannot be logged, and none is lost', async () => {
  const { coordinator, store, log, clock } = await owing('a', 'b');
  await store.create(newSession('c', '{}', null), clock.ms);
  const append = log.append.bind(log);
  const next = async () => (await coordinator.next(8, { profiles: [''] })).map(({ state }) => state.sid);
  log.append = (entry) => (entry.SID === 'a' ? Promise.reject(new Error('the disk is full')) : append(entry));
  expect(await next()).toEqual(['b', 'c']);
  expect((await store.summary('a'))?.lease).toBeNull();
  await expect(next()).rejects.toThrow('the disk is full');
  log.append = append;
  expect(await next()).toEqual(['a']);
  expect(log.entries.map(({ SID }) => SID)).toEqual(['b', 'a']);
});

it('a session that cannot be opened leaves its HALT in the log, with turn 0', async () => {
  const log = new MemoryLog();
  const { loop } = controller({ log });
  const { decision, reason } = await loop.runLoop({
    userdata: { subject: 1 } as never,
    agent: programAgent('continue'),
    sid: 's',
  });
  expect(log.entries).toMatchObject([{ SID: 's', turn_index: 0, decision, reason }]);
});

it('a call that its store cannot keep is tried again within its turn, and not after it', async () => {
  const { coordinator, store } = await coordinated('a');
  const kept: number[] = [];
  const again = Promise.withResolvers<void>();
  store.keep = async () => {
    if (kept.push(1) === 2) again.resolve();
    throw new StoreError('io', 'the disk is full');
  };
  const claimed = await coordinator.claim('a');
  let keeping: Promise<void>;
  {
    using _held = coordinator.hold(claimed, () => {});
    keeping = coordinator.keep(claimed, { turn: 1, seq: 1, body: {} });
    keeping.catch(() => {});
    await again.promise;
  }
  await expect(keeping).rejects.toThrow('the disk is full');
  expect(kept).toHaveLength(2);
});

it('issue 43: a process that gives up a session writes nothing over an attempt whose end is on its way to the store', async () => {
  const { coordinator, store } = await coordinated('s');
  const claimed = await coordinator.claim('s');
  const begun = { ...BEGUN, runner: coordinator.instance };
  await coordinator.start(begun, claimed);
  const written: StartedTurn[] = [];
  const arrived = Promise.withResolvers<void>();
  store.start = async (turn) => {
    written.push(turn);
    await arrived.promise;
    return false;
  };
  const end = coordinator.start({ ...begun, attempt: 0, nonce: 'o' }, claimed);
  {
    using _held = coordinator.hold(claimed, () => {});
    const given = coordinator.abandon();
    arrived.resolve();
    await Promise.all([given, end]);
  }
  expect(written.map(({ nonce }) => nonce)).toEqual(['o']);
});

it('issue 48: a process that another system gives its sessions says that it lives, tends, and leaves', async () => {
  const { coordinator, store } = await coordinated('outer/nested');
  const errors: unknown[] = [];
  let kids = ['k1'];
  const { beat } = store.hosts;
  let beats = 0;
  let under = 0;
  Object.assign(store.hosts, {
    beat: async (...args: Parameters<typeof beat>) => {
      expect(under++).toBe(0);
      await new Promise((resolve) => setTimeout(resolve, 1));
      under -= 1;
      beats += 1;
      if (beats < 3) throw new StoreError('io', 'the disk is full');
      await beat(...args);
    },
  });
  const orphan = vi.spyOn(store, 'find').mockRejectedValueOnce(new StoreError('io', 'away'));
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval'] });
  try {
    const attendance = coordinator.attend({ kids: () => kids, onError: (error) => errors.push(error) });
    await vi.advanceTimersByTimeAsync(260);
    expect(await store.hosts.list()).toEqual([]);
    await vi.advanceTimersByTimeAsync(260);
    const { instance } = coordinator;
    expect(await store.hosts.list()).toMatchObject([{ instance, owner: 'me', kids: ['k1'], lives: true }]);
    kids = ['k2'];
    await vi.advanceTimersByTimeAsync(600);
    expect(await store.hosts.list()).toMatchObject([{ kids: ['k2'] }]);
    expect(String(errors)).toBe('StoreError: the disk is full,StoreError: away');
    expect(orphan).toHaveBeenCalled();
    await attendance[Symbol.asyncDispose]();
    expect(await store.hosts.list()).toEqual([]);
    const before = beats;
    await vi.advanceTimersByTimeAsync(3000);
    expect([beats, await store.hosts.list()]).toEqual([before, []]);
  } finally {
    vi.useRealTimers();
  }
});

describe('recovering', () => {
  it('names open sessions by id, but none that this process is in a turn of', async () => {
    const { coordinator } = await coordinated('a', 'b');
    {
      using _turn = await coordinator.work.turn('a');
      expect(await coordinator.recover()).toEqual(['b']);
    }
    expect(await coordinator.recover()).toEqual(['a', 'b']);
  });

  it('leaves a lease as it is when nothing is owed to the log', async () => {
    const { coordinator, store } = await coordinated('a');
    await coordinator.claim('a');
    await coordinator.recover();
    expect((await store.list())[0]?.lease).toMatchObject({ owner: 'me' });
  });

  it('names an open session whose last decision it had to log', async () => {
    const { coordinator, store, clock, log } = await coordinated();
    const { loop } = controller({ store, clock, log: new MemoryLog() });
    await loop.open(USERDATA, 's');
    await loop.step('s', { agent: programAgent('continue') });
    const [record] = await store.turns('s');
    Object.assign(store, {
      find: async (...args: Parameters<MemoryStore['find']>) =>
        args[0].kind === 'owing' ? ['s'] : MemoryStore.prototype.find.apply(store, args),
      claim: async (...args: Parameters<MemoryStore['claim']>) => ({
        ...(await MemoryStore.prototype.claim.apply(store, args)),
        unlogged: [record],
      }),
    });
    expect(await coordinator.recover()).toEqual(['s']);
    expect(log.entries).toMatchObject([{ SID: 's', turn_index: 1, decision: 'CONTINUE' }]);
  });

  it('passes by a damaged session, which it names, and logs what the others owe', async () => {
    const { coordinator, store, clock, log } = await coordinated('bad');
    const { loop } = controller({ store, clock, log: new MemoryLog() });
    await loop.open(USERDATA, 's');
    await loop.step('s', { agent: programAgent('continue') });
    const [record] = await store.turns('s');
    const damage = new StoreError('damaged', "session 'bad' cannot be read");
    Object.assign(store, {
      find: async (...args: Parameters<MemoryStore['find']>) =>
        args[0].kind === 'owing' ? ['bad', 's'] : MemoryStore.prototype.find.apply(store, args),
      claim: async (...args: Parameters<MemoryStore['claim']>) => {
        if (args[0] === 'bad') throw damage;
        return { ...(await MemoryStore.prototype.claim.apply(store, args)), unlogged: [record] };
      },
    });
    const seen: unknown[] = [];
    expect(await coordinator.tend(undefined, (...damaged) => seen.push(damaged))).toEqual(new Set(['bad']));
    expect(seen).toEqual([[damage, 'bad']]);
    expect(log.entries).toMatchObject([{ SID: 's', turn_index: 1 }]);
    expect(await coordinator.recover()).toEqual(['s']);
    Object.assign(store, { claim: () => Promise.reject(new StoreError('io', 'the disk is gone')) });
    await expect(coordinator.recover()).rejects.toThrow('the disk is gone');
  });

  it('halts a nested session that nobody has driven for the length of a lease, and no sooner', async () => {
    const { coordinator, store, clock } = await coordinated('outer/nested');
    clock.ms += 999;
    expect(await coordinator.recover()).toEqual([]);
    expect(await store.read('nested')).toMatchObject({ status: 'open' });
    clock.ms += 1;
    expect(await coordinator.recover()).toEqual([]);
    expect(await store.read('nested')).toMatchObject({ status: 'halted', reason: 'ERR_INTERRUPTED' });
  });
});

describe('committing', () => {
  it('issue 23: leaves the log to the next process when the lease ended while the store was busy', async () => {
    const { coordinator, store, clock, log } = await coordinated('s');
    const commit = store.commit.bind(store);
    Object.assign(store, {
      commit: async (...args: Parameters<MemoryStore['commit']>) => {
        await commit(...args);
        clock.ms += 1000;
        clock.elapsed += 1000;
        const other = new SessionCoordinator({ store, log, clock, owner: 'other', leaseMs: 1000, replayTtl: 300 });
        await other.release(await other.claim('s'));
      },
    });
    const claimed = await coordinator.claim('s');
    await expect(coordinator.halt(claimed, 'ERR_TIMEOUT')).rejects.toThrow(SessionLeasedError);
    expect(log.entries).toMatchObject([{ SID: 's', turn_index: 1, reason: 'ERR_TIMEOUT' }]);
  });

  it('issue 23: a claim whose answer comes after its lease logs nothing that others may have logged', async () => {
    const { coordinator, store, clock, log } = await coordinated('s');
    const dead = new SessionCoordinator({ store, log: new FullLog(), clock, owner: 'dead', leaseMs: 1000, replayTtl: 300 });
    await expect(dead.halt(await dead.claim('s'), 'ERR_TIMEOUT')).rejects.toThrow('the disk is full');
    clock.ms += 1000;
    clock.elapsed += 1000;
    const claim = store.claim.bind(store);
    Object.assign(store, {
      claim: async (...args: Parameters<MemoryStore['claim']>) => {
        const claimed = await claim(...args);
        clock.elapsed += 1000;
        return claimed;
      },
    });
    await expect(coordinator.claim('s')).rejects.toThrow(SessionLeasedError);
    expect(log.entries).toEqual([]);
  });

  it('logs an end between two turns, and nothing for a session that goes on', async () => {
    const { coordinator, log } = await coordinated('s');
    const claimed = await coordinator.claim('s');
    const { state } = claimed;
    await coordinator.commit(claimed, null, { ...state, output: 'x' }, true);
    expect(log.entries).toEqual([]);
    await coordinator.commit(claimed, null, { ...state, status: 'halted', reason: 'ERR_CANCELLED' });
    expect(log.entries).toMatchObject([{ SID: 's', turn_index: 1, decision: 'HALT', reason: 'ERR_CANCELLED' }]);
  });

  it('A3-11.3-1: keeps the ids of the tokens that verified, with the second of the commit', async () => {
    const { coordinator, store, clock } = await coordinated();
    const { loop } = controller({ store, clock });
    await loop.open(USERDATA, 's');
    await loop.step('s', { agent: programAgent('continue') });
    const [record] = await store.turns('s');
    const jti = record?.jti ?? 'none';
    expect((await coordinator.claim('s')).used).toEqual([{ jti, second: Math.floor(clock.ms / 1000) }]);
    const claimed = await coordinator.claim('s');
    const { state } = claimed;
    const candidate = record?.candidates[0];
    if (record === undefined || candidate === undefined) return expect.unreachable('the turn has a candidate');
    const candidates = [
      { ...candidate, ok: false, jti: 'refused' },
      { ...candidate, jti: null },
      { ...candidate, jti: 'second' },
    ];
    const begun = { ...BEGUN, turn: 2, limits: record.inputs.limits };
    await coordinator.start(begun, claimed);
    await coordinator.commit(claimed, { ...record, turn: 2, candidates }, { ...state, nextTurn: 3 }, true);
    expect((await coordinator.claim('s')).used.map((used) => used.jti)).toEqual([jti, 'second']);
  });

  it('halting a session between two turns keeps the end of its chain of records', async () => {
    const { coordinator, store, clock } = await coordinated();
    const { loop } = controller({ store, clock });
    await loop.open(USERDATA, 's');
    await loop.step('s', { agent: programAgent('continue') });
    const [record] = await store.turns('s');
    expect(await coordinator.cancel('s')).toBe(true);
    expect(await store.read('s')).toMatchObject({ status: 'halted', head: record?.seal?.hash });
  });
});

/** Drives a session of six turns. `between` happens after each decision. */
async function sixTurns(between: (turn: number, store: MemoryStore) => unknown, clock = new TestClock()) {
  const store = new (class extends MemoryStore {
    claims = 0;
    override claim(...args: Parameters<MemoryStore['claim']>): ReturnType<MemoryStore['claim']> {
      this.claims += 1;
      return super.claim(...args);
    }
  })({ clock });
  let outcome: unknown;
  try {
    outcome = await controller({ store, clock }).loop.runLoop({
      userdata: USERDATA,
      agent: programAgent(...Array.from({ length: 5 }, () => 'continue'), 'done'),
      sid: 's',
      onEvent: (event) => (event.type === 'decided' ? between(event.turn, store) : undefined),
    });
  } catch (error) {
    outcome = error;
  }
  return { outcome, claims: store.claims };
}

describe('issue 48: a session between two turns of one process', () => {
  it('is claimed once, and goes on as the process left it', async () => {
    expect(await sixTurns(() => {})).toMatchObject({ outcome: { decision: 'DONE', turns: { length: 6 } }, claims: 1 });
  });

  it('is claimed again when no renewal of its lease could fail', async () => {
    const clock = new TestClock();
    const { claims } = await sixTurns(() => (clock.elapsed += 3000), clock);
    expect(claims).toBe(3);
  });

  it('runs no further program when its end is requested', async () => {
    const { outcome } = await sixTurns((turn, store) => (turn === 2 ? store.cancel('s') : undefined));
    expect(outcome).toMatchObject({ decision: 'HALT', reason: 'ERR_CANCELLED', turns: [{}, {}, { output: '' }] });
  });

  it.each<[string, (other: LoopController) => Promise<unknown>, Partial<LoopResult>]>([
    ['is ended by its turn', (other) => other.cancel('s'), { decision: 'HALT', reason: 'ERR_CANCELLED' }],
    ['goes on', (other) => other.resume('s', { agent: programAgent('done') }), { decision: 'DONE' }],
  ])('%s when another controller of the same process interferes with that turn', async (_, interfere, end) => {
    const { coordinator } = await coordinated();
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const agent: Agent = {
      reply: async (request) => {
        asked.resolve();
        await Promise.race([answered.promise, new Promise((resolve) => request.signal.addEventListener('abort', resolve))]);
        return programAgent('done').reply(request);
      },
    };
    const own = { coordinator, store: undefined, log: undefined };
    const running = controller(own).loop.runLoop({ userdata: USERDATA, agent, sid: 's' });
    await asked.promise;
    const interfered = await interfere(controller(own).loop).catch((error: unknown) => error);
    answered.resolve();
    expect(interfered === true || interfered instanceof SessionLeasedError).toBe(true);
    await expect(running).resolves.toMatchObject(end);
  });

  it('is forgotten when its lease has ended, and looked at no further', async () => {
    const { coordinator, store, clock } = await coordinated(...Array.from({ length: 100 }, (_, index) => `s${index}`));
    const claimed = async (): Promise<readonly WeakRef<object>[]> =>
      (await coordinator.next(100, { profiles: [''] })).map((each) => new WeakRef(each));
    const held = await claimed();
    expect(held).toHaveLength(100);
    setFlagsFromString('--expose-gc');
    const kept = async (): Promise<number> => {
      await new Promise(setImmediate);
      runInNewContext('gc')();
      return held.filter((each) => each.deref() !== undefined).length;
    };
    expect(await kept()).toBe(100);
    const looked = vi.spyOn(clock, 'monotonic');
    await store.create(newSession('t', '{}', null), clock.ms);
    await claimed();
    expect(looked.mock.calls.length).toBeLessThan(10);
    clock.elapsed += 1000;
    await store.create(newSession('u', '{}', null), clock.ms);
    await claimed();
    expect(await kept()).toBe(0);
  });

  it('is lost when another process has claimed it, and nothing of the next turn is stored', async () => {
    const clock = new TestClock();
    const { outcome } = await sixTurns((turn, store) => {
      if (turn !== 2) return undefined;
      // On the clock of the store alone the lease has ended.
      clock.ms += 60_000;
      return store.claim('s', { owner: 'other', ms: 1000 });
    }, clock);
    expect(outcome).toBeInstanceOf(SessionLeasedError);
  });
});

it('a session whose listener failed between two turns was given back, and is claimed again at once', async () => {
  const { loop, store } = controller({ store: new MemoryStore() });
  const failing = (): never => {
    throw new Error('the page is gone');
  };
  const onEvent = ({ type }: { readonly type: string }): void => (type === 'decided' ? failing() : undefined);
  const session = { userdata: USERDATA, sid: 's', agent: programAgent('continue') };
  await expect(loop.runLoop({ ...session, onEvent })).rejects.toThrow('the page is gone');
  expect((await store.list())[0]?.lease).toBeUndefined();
  expect(await loop.resume('s', { agent: programAgent('done') })).toMatchObject({ decision: 'DONE' });
});
