import { describe, expect, it } from 'vitest';
import type { Agent } from '../../src/loop/agents/agent.ts';
import { type Clock, systemClock } from '../../src/loop/clock.ts';
import { LoopController } from '../../src/loop/controller.ts';
import { Host, type HostOptions } from '../../src/loop/host/host.ts';
import { seededIds } from '../../src/loop/ids.ts';
import { SessionCoordinator } from '../../src/loop/sessions/coordinator.ts';
import { MemoryStore } from '../../src/loop/sessions/sqlite.ts';
import type { SessionStore } from '../../src/loop/sessions/store.ts';
import { StoreError } from '../../src/sqlite/error.ts';
import { RuntimeClosedError } from '../../src/wire/errors.ts';
import { fakeExecutor, newKeyring, reply, USERDATA } from './fake.ts';

const keyring = newKeyring('fleet', systemClock);
let steps = 0;
const executor = fakeExecutor({
  continue: async ({ emit, magic }) => {
    emit(`step ${++steps}`);
    emit(await magic('continue'));
  },
  done: async ({ emit, magic }) => emit(await magic('done')),
});

const turnsAgent = (turns: number): Agent => ({
  reply: async ({ turn }) => reply(turn < turns ? 'program continue' : 'program done'),
});

/** A host, and the errors that it has met. */
function host(
  store: SessionStore,
  owner: string,
  agent: Agent,
  options: Partial<HostOptions> = {},
  leaseMs = 5000,
  clock: Clock = systemClock,
) {
  const coordinator = new SessionCoordinator({ store, log: null, clock, replayTtl: 900, owner, leaseMs });
  const controller = new LoopController({ executor, keyring, clock, ids: seededIds(owner), coordinator });
  const errors: unknown[] = [];
  const profiles = { '': { controller, options: () => ({ agent }) } };
  const made = new Host({ coordinator, profiles, pollMs: 20, onError: (error) => errors.push(error), ...options });
  return { host: made, errors, controller, coordinator };
}

async function opened(store: SessionStore, sids: readonly string[], of: (sid: string) => object = () => ({})): Promise<void> {
  const loop = new LoopController({ executor, keyring, store });
  for (const sid of sids) await loop.open(USERDATA, sid, of(sid));
}

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `s${index}`);

async function ended(store: SessionStore, count: number): Promise<void> {
  await expect
    .poll(async () => (await store.list()).filter(({ status }) => status !== 'open').length, { timeout: 20_000 })
    .toBe(count);
}

describe('hosts that share a store (issue 20)', () => {
  it('drive every session to its end, each turn once', async () => {
    const store = new MemoryStore();
    await opened(store, names(30));
    const [a, b] = [host(store, 'a', turnsAgent(3), { concurrency: 2 }), host(store, 'b', turnsAgent(3), { concurrency: 2 })];
    a.host.start();
    b.host.start();
    await ended(store, 30);
    await Promise.all([a.host.drain(5000), b.host.drain(5000)]);
    for (const { sid, status, turns, lease } of await store.list())
      expect({ sid, status, turns, lease }).toEqual({ sid, status: 'done', turns: 3, lease: null });
    expect(a.host.state.claimed).toBeGreaterThan(0);
    expect(b.host.state.claimed).toBeGreaterThan(0);
    expect([...a.errors, ...b.errors]).toEqual([]);
    expect(a.host.state).toMatchObject({ status: 'stopped', driving: 0 });
    expect(() => a.host.start()).toThrow(RuntimeClosedError);
  });

  it('give a session back before its time is over: slow agents end none', async () => {
    const store = new MemoryStore();
    await opened(store, ['s']);
    let ms = 0;
    const clock = { now: systemClock.now, monotonic: () => ms };
    const agent: Agent = {
      reply: (request) => {
        ms += 60_000;
        return turnsAgent(12).reply(request);
      },
    };
    const { host: only, errors } = host(store, 'a', agent, { turnsPerClaim: 99 }, 600_000, clock);
    only.start();
    await ended(store, 1);
    await only.drain(5000);
    expect((await store.list())[0]).toMatchObject({ status: 'done', turns: 12 });
    expect([errors, only.state.claimed]).toEqual([[], 2]);
  });

  it('drive a session that they claim again before its last driver has ended', async () => {
    const store = new MemoryStore();
    await opened(store, ['s']);
    const { host: only, controller, errors } = host(store, 'a', turnsAgent(3), { turnsPerClaim: 1 }, 600_000);
    const resume = controller.resume.bind(controller);
    controller.resume = async (sid, options) => {
      const claimed = only.state.claimed;
      const result = await resume(sid, options);
      if (result.decision === 'CONTINUE') await expect.poll(() => only.state.claimed).toBeGreaterThan(claimed);
      return result;
    };
    only.start();
    await ended(store, 1);
    await only.drain(5000);
    expect(errors).toEqual([]);
    expect(await store.list()).toMatchObject([{ status: 'done', turns: 3, lease: null }]);
  });

  it('give a session back after some turns, so that others get their turn', async () => {
    const store = new MemoryStore();
    await opened(store, ['long', 'short']);
    const order: string[] = [];
    const agent: Agent = {
      reply: async ({ sid, turn }) => {
        order.push(sid);
        return reply(turn < (sid === 'long' ? 5 : 1) ? 'program continue' : 'program done');
      },
    };
    const { host: one } = host(store, 'a', agent, { concurrency: 1, turnsPerClaim: 2 });
    one.start();
    await ended(store, 2);
    await one.drain(5000);
    expect(order.indexOf('short')).toBeLessThanOrEqual(2);
    expect(order).toHaveLength(6);
  });

  it('take only profiles that they know, and of a tenant no more than its share', async () => {
    const store = new MemoryStore();
    await opened(store, ['t1', 't2', 't3', 'u1', 'foreign'], (sid) =>
      sid === 'foreign' ? { profile: 'other' } : { tenant: sid.slice(0, 1) },
    );
    const busy = new Map<string, number>();
    let most = 0;
    const agent: Agent = {
      reply: async ({ sid }) => {
        const tenant = sid.slice(0, 1);
        busy.set(tenant, (busy.get(tenant) ?? 0) + 1);
        most = Math.max(most, busy.get(tenant) ?? 0);
        await new Promise((resolve) => setTimeout(resolve, 20));
        busy.set(tenant, (busy.get(tenant) ?? 0) - 1);
        return reply('program done');
      },
    };
    const { host: one } = host(store, 'a', agent, { concurrency: 4, tenantConcurrency: 1 });
    one.start();
    await ended(store, 4);
    await one.drain(5000);
    expect(most).toBe(1);
    expect(await store.read('foreign')).toMatchObject({ status: 'open', nextTurn: 1 });
  });

  it('drain between two turns, and give up a turn that takes too long; no session is halted', async () => {
    const store = new MemoryStore();
    await opened(store, ['quick', 'slow']);
    const asked = Promise.withResolvers<void>();
    let waiting = 0;
    const answer = Promise.withResolvers<void>();
    const agent: Agent = {
      reply: async ({ sid, turn, signal }) => {
        if (++waiting === 2) asked.resolve();
        if (sid === 'slow') await new Promise((resolve) => signal.addEventListener('abort', resolve));
        else await answer.promise;
        return reply(turn < 3 ? 'program continue' : 'program done');
      },
    };
    const { host: old, errors } = host(store, 'old', agent, { concurrency: 2 });
    old.start();
    await asked.promise;
    const hurry = new AbortController();
    const drained = old.drain(60_000, hurry.signal);
    answer.resolve();
    await expect.poll(async () => (await store.read('quick'))?.nextTurn, { timeout: 20_000 }).toBe(2);
    hurry.abort();
    await drained;
    expect(await store.list()).toMatchObject([
      { sid: 'quick', status: 'open', turns: 1, lease: null },
      { sid: 'slow', status: 'open', turns: 0, lease: null },
    ]);
    const { host: next } = host(store, 'next', turnsAgent(2));
    next.start();
    await ended(store, 2);
    await next.drain(5000);
    expect((await store.list()).map(({ status }) => status)).toEqual(['done', 'done']);
    expect(errors).toEqual([]);
  });

  it('set a session aside that cannot be driven, and outlive a store that does not answer', async () => {
    class Flaky extends MemoryStore {
      fails = 2;
      override next(...args: Parameters<MemoryStore['next']>) {
        if (this.fails-- > 0) return Promise.reject(new StoreError('io', 'the store is away'));
        return super.next(...args);
      }
    }
    const store = new Flaky();
    await opened(store, ['bad', 'good']);
    let tries = 0;
    const { host: one, errors, controller } = host(store, 'a', turnsAgent(1));
    const profiles = {
      '': {
        controller,
        options: (sid: string) => {
          if (sid === 'bad' && ++tries > 0) throw new Error('no such agent');
          return { agent: turnsAgent(1) };
        },
      },
    };
    const { host: other } = host(store, 'a', turnsAgent(1), { profiles, onError: (error) => errors.push(error) });
    other.start();
    await ended(store, 1);
    await expect.poll(() => other.state.errors, { timeout: 20_000 }).toBe(3);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(tries).toBe(1);
    expect(errors.map(String).join()).toContain('no such agent');
    await other.drain(5000);
    await one.drain(0);
  });
});
