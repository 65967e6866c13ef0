import { describe, expect, it, vi } from 'vitest';
import { ChainWalk } from '../../src/loop/log/chain.ts';
import { endEntry } from '../../src/loop/log/log.ts';
import { SessionLeasedError } from '../../src/loop/sessions/errors.ts';
import { PLAIN_SETUP, READER, type SessionSetup } from '../../src/loop/sessions/setup.ts';
import { allSessions } from '../../src/loop/sessions/store.ts';
import { commitOf, lease, ODD, started, state, WAITS } from './contract.ts';
import { type MakeStore, ownedStore } from './owners.ts';

const setup = (more: Partial<SessionSetup>): SessionSetup => ({ ...PLAIN_SETUP, ...more });

/** What every store of sessions does for many hosts. */
export function queueContract(name: string, make: MakeStore): void {
  describe(`${name}: many hosts`, () => {
    it('issue 20: a host claims what is ready, each session once, that which has been ready longest first', async () => {
      const store = await ownedStore(make);
      for (const [at, sid] of ['c', 'a', 'b', 'd'].entries()) {
        await store.set(at);
        await store.create(state(sid), at);
      }
      await store.claim('d', lease('other', 5, 50));
      expect(await store.next('h', 2)).toEqual(['c', 'a']);
      expect(await store.next('i', 9)).toEqual(['b']);
      expect(await store.next('i', 9)).toEqual([]);
      await store.start(started('a'), 'h');
      await store.commit(commitOf('a', 1, { owner: 'h', keep: false }));
      expect(await store.next('i', 9)).toEqual(['a']);
      await store.release('c', 'h');
      // A lease that has ended makes its session ready, and what its owner writes is refused.
      await store.set(50);
      expect(await store.next('i', 1)).toEqual(['c']);
      expect(await store.next('j', 9)).toEqual(['d']);
      await expect(store.start(started('d'), 'other')).rejects.toThrow(SessionLeasedError);
    });

    it('issue 20: tenants take turns, however many sessions one of them has', async () => {
      const store = await ownedStore(make);
      for (let i = 0; i < 6; i++) await store.create(state(`big${i}`), 1, setup({ tenant: 'big' }));
      for (const tenant of ['one', 'two']) await store.create(state(tenant), 1, setup({ tenant }));
      const first = await store.next('h', 4);
      expect(first.map((sid) => sid.replace(/\d/, '')).sort()).toEqual(['big', 'big', 'one', 'two']);
      expect(await store.next('h', 9, { profiles: [''], without: ['big'] })).toEqual([]);
      let left = 4;
      for (let found = await store.next('h', 9); found.length > 0; found = await store.next('h', 9)) left -= found.length;
      expect(left).toBe(0);
      for (const tenant of ['a', 'b', 'c'])
        for (const n of [1, 2]) await store.create(state(`${tenant}${n}`), 1, setup({ tenant }));
      const turns = [];
      for (let i = 0; i < 6; i++) turns.push(...(await store.next('h', 1)));
      expect(
        turns
          .map((sid) => sid.slice(0, 1))
          .slice(0, 3)
          .sort(),
      ).toEqual(['a', 'b', 'c']);
      expect(
        turns
          .map((sid) => sid.slice(0, 1))
          .slice(3)
          .sort(),
      ).toEqual(['a', 'b', 'c']);
    });

    it('issue 20: a host claims only what it can run', async () => {
      const store = await ownedStore(make);
      await store.create(state('plain'), 1);
      await store.create(state('mail'), 1, setup({ profile: 'mail', configuration: { agent: ODD } }));
      await store.create(state('newer'), 1, setup({ profile: 'mail', reader: READER + 1, engine: '9.0.0' }));
      expect(await store.next('h', 9, { profiles: [] })).toEqual([]);
      expect(await store.next('h', 9, { profiles: ['mail'] })).toEqual(['mail']);
      expect(await store.claim('mail', lease('h'))).toMatchObject({
        setup: setup({ profile: 'mail', configuration: { agent: ODD } }),
      });
      await expect(store.claim('newer', lease('h'))).rejects.toMatchObject({ code: 'ERR_STORE', detail: 'newer' });
      expect(await store.list()).toMatchObject([
        { sid: 'mail' },
        { sid: 'newer', engine: '9.0.0', reader: READER + 1 },
        { sid: 'plain' },
      ]);
      for (const odd of [{ tenant: 'a b' }, { profile: '\u0000' }, { tenant: 'x'.repeat(129) }, { reader: 0 }])
        await expect(store.create(state('x'), 1, setup(odd))).rejects.toMatchObject({ code: 'ERR_CONFIG' });
    });

    it('issue 20: a session that waits is ready when its call has its answer or has expired, and a nested one never', async () => {
      const store = await ownedStore(make);
      for (const sid of ['answered', 'waits']) {
        await store.create(state(sid), 1);
        await store.claim(sid, lease('a'));
        await store.start({ ...started(sid), suspended: WAITS }, 'a');
        await store.release(sid, 'a');
      }
      await store.create(state('nested', { parent: { sid: 'waits', turn: 1, seq: 1 } }), 1);
      expect(await store.next('h', 9)).toEqual([]);
      await store.claim('answered', lease('a', 1));
      const completion = { ok: true, value: 1 } as const;
      await store.start({ ...started('answered'), suspended: { ...WAITS, completion } }, 'a');
      await store.release('answered', 'a');
      expect(await store.next('h', 9)).toEqual(['answered']);
      await store.set(499);
      expect(await store.next('h', 9)).toEqual([]);
      await store.set(500);
      expect(await store.next('h', 9)).toEqual(['waits']);
      expect(await store.next('h', 9)).toEqual([]);
    });

    it('issue 23: a session whose end was requested is ready although it waits, whether it waited before or since', async () => {
      const store = await ownedStore(make);
      const wakes = vi.fn();
      for (const sid of ['before', 'since']) {
        await store.create(state(sid), 1);
        await store.claim(sid, lease('a'));
        if (sid === 'since') await store.cancel(sid);
        await store.start({ ...started(sid), suspended: WAITS }, 'a');
        await store.release(sid, 'a');
      }
      expect(await store.next('h', 9)).toEqual(['since']);
      const forget = store.onReady(wakes);
      await store.cancel('before');
      await expect.poll(() => wakes.mock.calls.length, { timeout: 20_000 }).toBeGreaterThan(0);
      forget();
      expect(await store.next('h', 9)).toEqual(['before']);
    });

    it('issue 20: a list has pages, and the sessions of one parent', async () => {
      const store = await ownedStore(make);
      for (const sid of ['a', 'b', 'c', 'd']) await store.create(state(sid), 1);
      await store.create(state('b1', { parent: { sid: 'b', turn: 1, seq: 1 } }), 1);
      const ids = async (query: Parameters<typeof store.list>[0]) => (await store.list(query)).map(({ sid }) => sid);
      expect(await ids({ limit: 2 })).toEqual(['a', 'b']);
      expect(await ids({ limit: 2, after: 'b' })).toEqual(['b1', 'c']);
      expect(await ids({ parent: 'b' })).toEqual(['b1']);
      const all = [];
      for await (const { sid } of allSessions(store, { after: 'a' })) all.push(sid);
      expect(all).toEqual(['b', 'b1', 'c', 'd']);
    });

    it('issue 24: lists what changed last first, in pages, by status, reason and time', async () => {
      const store = await ownedStore(make);
      for (const [sid, at] of Object.entries({ b: 10, a: 10, old: 5, new: 20, halts: 1 })) await store.create(state(sid), at);
      await store.claim('halts', lease('a'));
      const halted = state('halts', { status: 'halted', reason: 'ERR_AGENT' });
      await store.commit(commitOf('halts', 1, { record: null, next: halted, at: 15, keep: false }));
      const ids = async (query: Omit<Parameters<typeof store.recent>[0], 'limit'>, limit = 99) =>
        (await store.recent({ ...query, limit })).map(({ sid }) => sid);
      expect(await ids({})).toEqual(['new', 'halts', 'b', 'a', 'old']);
      expect(await ids({}, 2)).toEqual(['new', 'halts']);
      expect(await ids({ after: { updatedAt: 10, sid: 'b' } }, 1)).toEqual(['a']);
      expect(await ids({ status: 'open', after: { updatedAt: 20, sid: 'new' } })).toEqual(['b', 'a', 'old']);
      expect(await ids({ status: 'halted', reason: 'ERR_AGENT' })).toEqual(['halts']);
      expect(await ids({ reason: 'ERR_QUOTA' })).toEqual([]);
      expect(await ids({ since: 10, until: 20 })).toEqual(['halts', 'b', 'a']);
      expect((await store.recent({ limit: 1 }))[0]).toEqual(await store.summary('new'));
      expect(await store.summary('halts')).toMatchObject({ sid: 'halts', status: 'halted', updatedAt: 15 });
      expect(await store.summary('unknown')).toBeNull();
    });

    it('issue 24: reads the turns of a session in pages', async () => {
      const store = await ownedStore(make);
      await store.create(state('s'), 1);
      await store.claim('s', lease('a'));
      for (const turn of [1, 2, 3]) {
        await store.start(started('s', turn), 'a');
        await store.commit(commitOf('s', turn));
      }
      const turns = async (query: { after?: number; limit?: number }) =>
        (await store.turns('s', undefined, query)).map(({ turn }) => turn);
      expect(await turns({})).toEqual([1, 2, 3]);
      expect(await turns({ limit: 2 })).toEqual([1, 2]);
      expect(await turns({ after: 1, limit: 1 })).toEqual([2]);
      expect(await turns({ after: 3 })).toEqual([]);
    });

    it('issue 20: finds what is owed to the log, what lost its driver, and what is ready', async () => {
      const store = await ownedStore(make);
      for (const sid of ['owed', 'owedEnd', 'mine', 'idle', 'theirs']) await store.create(state(sid), 1);
      await store.create(state('nested', { parent: { sid: 'idle', turn: 1, seq: 1 } }), 1);
      await store.claim('owed', lease('a'));
      await store.start(started('owed'), 'a');
      await store.commit(commitOf('owed', 1, { unlogged: true, keep: false }));
      await store.claim('owedEnd', lease('a'));
      const halted = state('owedEnd', { status: 'halted', reason: 'ERR_AGENT' });
      await store.commit(commitOf('owedEnd', 1, { record: null, next: halted, unlogged: true, keep: false }));
      await store.claim('mine', lease('me'));
      await store.claim('theirs', lease('they'));
      expect(await store.find({ kind: 'owing', after: '' }, 9)).toEqual(['owed', 'owedEnd']);
      expect(await store.find({ kind: 'owing', after: 'owed' }, 9)).toEqual(['owedEnd']);
      expect(await store.find({ kind: 'owing', after: '' }, 1)).toEqual(['owed']);
      expect([...(await store.find({ kind: 'ready', owner: 'me' }, 9))].sort()).toEqual(['idle', 'mine', 'owed']);
      expect(await store.find({ kind: 'ready', owner: 'me' }, 2)).toHaveLength(2);
      expect(await store.find({ kind: 'orphaned', after: '', idleMs: 10 }, 9)).toEqual([]);
      await store.set(10);
      expect(await store.find({ kind: 'orphaned', after: '', idleMs: 10 }, 9)).toEqual(['nested']);
      expect(await store.find({ kind: 'orphaned', after: 'nested', idleMs: 10 }, 9)).toEqual([]);
    });

    it('issue 20: steps of a started turn are kept until its end, under the fence', async () => {
      const store = await ownedStore(make);
      await store.create(state('s'), 1);
      await store.claim('s', lease('a'));
      const step = (seq: number, body: object = { text: ODD }) => ({ turn: 1, seq, body: { ...body } });
      await expect(store.keep('s', step(1), 'a')).rejects.toMatchObject({ detail: 'order' });
      await store.start(started('s'), 'a');
      await store.keep('s', step(2), 'a');
      await store.keep('s', step(1), 'a');
      await store.keep('s', step(2, { done: true }), 'a');
      const kept = [step(1), step(2, { done: true })];
      expect((await store.claim('s', lease('b', 1000, 2000))).steps).toEqual(kept);
      await expect(store.keep('s', step(3), 'a')).rejects.toThrow(SessionLeasedError);
      await store.start({ ...started('s'), attempt: 2 }, 'b');
      expect((await store.claim('s', lease('b', 1000, 2000))).steps).toEqual(kept);
      await store.start({ ...started('s'), nonce: 'another' }, 'b');
      expect((await store.claim('s', lease('b', 1000, 2000))).steps).toEqual([]);
      await store.keep('s', step(1), 'b');
      await store.commit(commitOf('s', 1, { owner: 'b' }));
      expect((await store.claim('s', lease('b', 1000, 2000))).steps).toEqual([]);
      await store.start(started('s', 2), 'b');
      await store.keep('s', { ...step(1), turn: 2 }, 'b');
      await store.withdraw('s', 'b');
      expect((await store.claim('s', lease('b', 1000, 2000))).steps).toEqual([]);
    });

    it('issue 20: what a newer version added to a state survives', async () => {
      const store = await ownedStore(make);
      await store.create({ ...state('s'), later: ODD } as never, 1);
      const { state: read } = await store.claim('s', lease('a'));
      await store.start(started('s'), 'a');
      await store.commit(commitOf('s', 1, { next: { ...read, nextTurn: 2 } }));
      expect(await store.read('s')).toMatchObject({ later: ODD, nextTurn: 2 });
    });

    it('issue 20: wakes those that wait for work, until they stop', async () => {
      const store = await ownedStore(make);
      const wake = vi.fn();
      const stop = store.onReady(wake);
      const woken = async (work: () => Promise<unknown>): Promise<void> => {
        // A connection of its own may need a moment, and wakes when it is there.
        wake.mockClear();
        await work();
        await vi.waitFor(() => expect(wake).toHaveBeenCalled(), 10_000);
      };
      await woken(() => store.create(state('s'), 1));
      await store.claim('s', lease('a'));
      await woken(() => store.release('s', 'a'));
      stop();
      await store.ping();
      wake.mockClear();
      await store.create(state('t'), 1);
      await store.ping();
      expect(wake).not.toHaveBeenCalled();
    });

    it('issue 20: a store with a log of its own writes a decision and its turn together, chained in order', async () => {
      const store = await ownedStore(make);
      const { log } = store;
      if (log === undefined) return;
      await store.create(state('s'), 1);
      await store.claim('s', lease('a'));
      for (const turn of [1, 2]) {
        await store.start(started('s', turn), 'a');
        const entry = endEntry({ sid: 's', nextTurn: turn, reason: 'ERR_AGENT' }, 5);
        await expect(store.commit(commitOf('s', turn + 1, { entry }))).rejects.toThrow();
        await store.commit(commitOf('s', turn, { entry }));
      }
      await log.append(endEntry({ sid: 't', nextTurn: 0, reason: 'ERR_AGENT' }, 6));
      expect([await log.has('s', 1), await log.has('s', 2), await log.has('s', 3), await log.has('t', 0)]).toEqual([
        true,
        true,
        false,
        true,
      ]);
      const walk = new ChainWalk();
      const lines = [];
      for await (const { line, text } of log.lines()) lines.push([line, walk.next(text)]);
      expect(lines).toEqual([1, 2, 3].map((line) => [line, null]));
    });
  });
}
