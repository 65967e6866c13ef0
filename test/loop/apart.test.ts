import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TakeApart } from '../../src/loop/apart.ts';
import { Host } from '../../src/loop/host/host.ts';
import { turnProcess } from '../../src/loop/host/turnprocess.ts';
import { MemoryLog } from '../../src/loop/log/log.ts';
import { SessionCoordinator } from '../../src/loop/sessions/coordinator.ts';
import { SessionLeasedError } from '../../src/loop/sessions/errors.ts';
import { MemoryStore } from '../../src/loop/sessions/sqlite.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import { tempFolder } from '../folder.ts';
import { fakeExecutor, type Program, programAgent, TestClock, USERDATA } from './fake.ts';
import { controller, run } from './host.ts';

const LEASE_MS = 15_000;

/** A store whose session `s` has a turn that ended its process once. */
async function interrupted() {
  const clock = new TestClock();
  const store = new MemoryStore({ clock });
  const fails = () => {
    throw new Error('killed');
  };
  const { loop } = controller({ clock, store, checks: [fails] });
  await expect(loop.runLoop(run(programAgent('done')))).rejects.toThrow('killed');
  return { clock, store };
}

/** Begins a further attempt and dies. */
async function begin(store: MemoryStore, owner: string): Promise<number> {
  const { fence, next } = await store.claim('s', { owner, ms: LEASE_MS });
  if (next.kind !== 'interrupted') throw new Error('the turn was not interrupted');
  const attempt = next.started.attempt + 1;
  const runner = `${attempt}`;
  const deaths = [...(next.started.deaths ?? []), { instance: next.started.runner, until: 0 }];
  await store.start({ ...next.started, attempt, nonce: runner.padEnd(22, 'A'), runner, deaths }, fence);
  return attempt;
}

describe('18: a turn whose process died is taken in a process of its own', () => {
  it('the decision of the other process is that of this step', async () => {
    const { clock, store } = await interrupted();
    const owners: string[] = [];
    const takeApart: TakeApart = async ({ sid, owner }) => {
      owners.push(owner);
      await controller({ clock, store, owner }).loop.step(sid, { agent: programAgent() });
    };
    const { loop, executor, log } = controller({ clock, store, takeApart });
    const decided: string[] = [];
    const result = await loop.resume('s', { agent: programAgent(), onEvent: ({ type }) => decided.push(type) });
    expect(result).toMatchObject({ decision: 'DONE', turns: [{ turn: 1 }] });
    expect(decided).toEqual(['decided']);
    expect(owners).toHaveLength(1);
    expect(executor.spy.calls).toEqual([]);
    expect(log.entries).toEqual([]);
  });

  it('issue 43: the decision of the other process is logged once, although this one looks for what is not logged', async () => {
    const { clock, store } = await interrupted();
    const log = new MemoryLog();
    const coordinator = new SessionCoordinator({ store, log, clock, replayTtl: 600 });
    const commit = store.commit.bind(store);
    store.commit = async (turn) => {
      const isCancelled = await commit(turn);
      await coordinator.tend();
      return isCancelled;
    };
    const takeApart: TakeApart = async ({ sid, owner }) => {
      await controller({ clock, store, log, owner }).loop.step(sid, { agent: programAgent() });
    };
    const { loop } = controller({ clock, coordinator, takeApart });
    expect(await loop.resume('s', { agent: programAgent() })).toMatchObject({ decision: 'DONE' });
    expect(log.entries).toMatchObject([{ SID: 's', turn_index: 1, decision: 'DONE' }]);
  });

  it('a first attempt is not', async () => {
    const { loop } = controller({ takeApart: () => Promise.reject(new Error('apart')) });
    expect(await loop.runLoop({ agent: programAgent('done'), userdata: USERDATA })).toMatchObject({ decision: 'DONE' });
  });

  it('issue 48: a turn whose process lives and only lost the session is taken up in place', async () => {
    for (const [lives, apart] of [
      ['itself', 0],
      ['elsewhere', 0],
      ['no more', 1],
    ] as const) {
      const clock = new TestClock();
      const store = new MemoryStore({ clock });
      let isLost = true;
      const checks = [
        () => {
          if (isLost) throw new Error('lost');
          return false;
        },
      ];
      const first = new SessionCoordinator({ store, log: null, clock, replayTtl: 600, leaseMs: LEASE_MS });
      await expect(controller({ clock, coordinator: first, checks }).loop.runLoop(run(programAgent('done')))).rejects.toThrow(
        'lost',
      );
      isLost = false;
      const host = new Host({ coordinator: first, profiles: {} });
      if (lives === 'elsewhere') await host.beat();
      if (lives === 'no more') {
        await host.beat();
        clock.ms += LEASE_MS;
      }
      let taken = 0;
      const takeApart: TakeApart = async ({ sid, owner }) => {
        taken += 1;
        await controller({ clock, store, owner }).loop.step(sid, { agent: programAgent() });
      };
      const coordinator = lives === 'itself' ? first : new SessionCoordinator({ store, log: null, clock, replayTtl: 600 });
      const { loop } = controller({ clock, coordinator, takeApart, checks });
      expect(await loop.resume('s', { agent: programAgent() })).toMatchObject({ decision: 'DONE' });
      expect([lives, taken]).toEqual([lives, apart]);
    }
  });

  it('issue 48: only an attempt whose process died counts, or one that failed', async () => {
    const lost = Array.from({ length: 7 }, () => 'SessionLeasedError');
    const rows = [
      { name: 'a host that is cut off, and says later that it lives', cutOff: true, beats: true, ends: [...lost, 'DONE'] },
      { name: 'a process that tells the store of its loss', cutOff: false, beats: false, ends: [...lost, 'DONE'] },
      { name: 'a process of which nobody hears again', cutOff: true, beats: false, ends: [...lost.slice(3), 'ERR_INTERRUPTED'] },
    ];
    for (const { name, cutOff, beats, ends } of rows) {
      const clock = new TestClock();
      const store = new MemoryStore({ clock });
      await controller({ clock, store }).loop.open(USERDATA, 's');
      const hosts: Host[] = [];
      const seen: string[] = [];
      while (seen.length < ends.length) {
        const coordinator = new SessionCoordinator({ store, log: null, clock, replayTtl: 600, leaseMs: LEASE_MS });
        const host = new Host({ coordinator, profiles: {} });
        if (cutOff) await host.beat();
        hosts.push(host);
        const done: Program = async ({ emit, magic }) => {
          if (seen.length === lost.length) emit('the last attempt');
          else if (!cutOff) await coordinator.abandon();
          else {
            if (beats) for (const each of hosts) await each.beat();
            clock.ms += 2 * LEASE_MS;
            await store.release('s', (await store.claim('s', { owner: 'other', ms: LEASE_MS })).fence);
          }
          emit(await magic('done'));
        };
        const { loop } = controller({ clock, coordinator, executor: fakeExecutor({ done }) });
        const end = await loop.step('s', { agent: programAgent('done') }).then(
          ({ reason, decision }) => reason ?? decision,
          (error: unknown) => String(Object(error).constructor.name),
        );
        seen.push(end);
      }
      expect([name, seen]).toEqual([name, ends]);
    }
    const { clock, store } = await interrupted();
    const fails = () => {
      throw new Error('killed');
    };
    const { loop } = controller({ clock, store, checks: [fails] });
    for (let tries = 0; tries < 3; tries += 1)
      await expect(loop.resume('s', { agent: programAgent() })).rejects.toThrow('killed');
    expect(await loop.resume('s', { agent: programAgent() })).toMatchObject({ reason: 'ERR_INTERRUPTED' });
  });

  it('its deaths count, and nobody waits for the leases of the dead', async () => {
    const { clock, store } = await interrupted();
    const attempts: number[] = [];
    const takeApart: TakeApart = async ({ owner }) => void attempts.push(await begin(store, owner));
    const { loop } = controller({ clock, store, takeApart });
    const result = await loop.resume('s', { agent: programAgent() });
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_INTERRUPTED' });
    expect(attempts).toEqual([2, 3, 4]);
  });

  it('issue 48: attempts of processes that lost the session do not count', async () => {
    const { clock, store } = await interrupted();
    const attempts: number[] = [];
    const takeApart: TakeApart = async ({ sid, owner }) => {
      if (attempts.length === 5) await controller({ clock, store, owner }).loop.step(sid, { agent: programAgent() });
      else attempts.push(await begin(store, owner));
      return 'lost';
    };
    const { loop } = controller({ clock, store, takeApart });
    expect(await loop.resume('s', { agent: programAgent() })).toMatchObject({ decision: 'DONE' });
    expect(attempts).toEqual([2, 2, 2, 2, 2]);
  });

  it('a process that did not begin the turn is an error, not an attempt', async () => {
    const { clock, store } = await interrupted();
    const { loop } = controller({ clock, store, takeApart: async () => {} });
    await expect(loop.resume('s', { agent: programAgent() })).rejects.toThrow(ConfigError);
    const { next } = await store.claim('s', { owner: 'other', ms: LEASE_MS });
    expect(next).toMatchObject({ kind: 'interrupted', started: { attempt: 1 } });
  });

  it('a turn that is cancelled meanwhile is ended here, where its signal cancels the run', async () => {
    const { clock, store } = await interrupted();
    const cancel = new AbortController();
    const takeApart: TakeApart = async ({ owner, signal }) => {
      await begin(store, owner);
      cancel.abort();
      expect(signal.aborted).toBe(true);
    };
    const executor = fakeExecutor({});
    const { loop } = controller({ clock, store, takeApart, executor });
    const result = await loop.resume('s', { agent: programAgent(), signal: cancel.signal });
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_CANCELLED' });
    expect(executor.spy.forks.map(({ context }) => context.aborted)).toEqual([true]);
  });

  it('a host that gives up its turns ends the process, frees the session, and counts no attempt', async () => {
    const { clock, store } = await interrupted();
    const begun = Promise.withResolvers<void>();
    const takeApart: TakeApart = async ({ owner, signal }) => {
      await begin(store, owner);
      begun.resolve();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    };
    const coordinator = new SessionCoordinator({ store, log: null, clock, replayTtl: 600 });
    const { loop } = controller({ clock, coordinator, takeApart });
    const errors: unknown[] = [];
    const profile = { controller: loop, options: () => ({ agent: programAgent() }) };
    const host = new Host({ coordinator, profiles: { '': profile }, onError: (error) => errors.push(error) });
    host.start();
    await begun.promise;
    await host.drain(0);
    expect(errors).toEqual([]);
    const { next } = await store.claim('s', { owner: 'other', ms: LEASE_MS });
    expect(next).toMatchObject({ kind: 'interrupted', started: { attempt: 1 } });
  });

  it('a session that another host took over meanwhile is left to it', async () => {
    const { clock, store } = await interrupted();
    const takeApart: TakeApart = async () => void (await store.claim('s', { owner: 'other', ms: LEASE_MS }));
    const { loop } = controller({ clock, store, takeApart });
    await expect(loop.resume('s', { agent: programAgent() })).rejects.toThrow(SessionLeasedError);
  });
});

it('18: processes of their own are bounded, and none begins for a turn that was given up', async () => {
  const folder = tempFolder();
  const ended: number[] = [];
  const take = turnProcess(({ sid }) => {
    ended.push(readdirSync(folder).length);
    return ['-e', `require('fs').writeFileSync(${JSON.stringify(join(folder, sid))}, '')`];
  }, 1);
  const turn = { owner: 'o', signal: new AbortController().signal };
  const given = { sid: 'given', owner: 'o', signal: AbortSignal.abort() };
  await Promise.all([take({ sid: 'a', ...turn }), take({ sid: 'b', ...turn }), take(given)]);
  expect(ended).toEqual([0, 1]);
  expect(readdirSync(folder)).toEqual(['a', 'b']);
  expect(() => turnProcess(() => [], 0)).toThrow(ConfigError);
});
