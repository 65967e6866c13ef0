import { allSessions, PLAIN_SETUP } from '../../loop/index.ts';
import { check, refused } from './check.ts';
import { commitOf, LEASED, lease, ODD, started, state, WAITS } from './samples.ts';
import type { StoreCase } from './sessions.ts';

/** How every store of sessions lists, searches and pages, and what it keeps of a turn under way. */
export const LIST_CASES: readonly StoreCase[] = [
  {
    name: 'a list has pages, and the sessions of one parent',
    run: async (store) => {
      for (const sid of ['a', 'b', 'c', 'd']) await store.create(state(sid), 1);
      await store.create(state('b1', { parent: { sid: 'b', turn: 1, seq: 1 } }), 1);
      const ids = async (query: Parameters<typeof store.list>[0]) => (await store.list(query)).map(({ sid }) => sid);
      check(await ids({ limit: 2 })).equals(['a', 'b']);
      check(await ids({ limit: 2, after: 'b' })).equals(['b1', 'c']);
      check(await ids({ parent: 'b' })).equals(['b1']);
      const all = [];
      for await (const { sid } of allSessions(store, { after: 'a' })) all.push(sid);
      check(all).equals(['b', 'b1', 'c', 'd']);
    },
  },
  {
    name: 'lists what changed last first, in pages, by status, reason and time',
    run: async (store) => {
      for (const [sid, at] of Object.entries({ b: 10, a: 10, old: 5, new: 20, halts: 1 })) await store.create(state(sid), at);
      await store.claim('halts', lease('a'));
      const halted = state('halts', { status: 'halted', reason: 'ERR_AGENT' });
      await store.commit(commitOf('halts', 1, { record: null, next: halted, at: 15, keep: false }));
      const ids = async (query: Omit<Parameters<typeof store.recent>[0], 'limit'>, limit = 99) =>
        (await store.recent({ ...query, limit })).map(({ sid }) => sid);
      check(await ids({})).equals(['new', 'halts', 'b', 'a', 'old']);
      check(await ids({}, 2)).equals(['new', 'halts']);
      check(await ids({ after: { updatedAt: 10, sid: 'b' } }, 1)).equals(['a']);
      check(await ids({ status: 'open', after: { updatedAt: 20, sid: 'new' } })).equals(['b', 'a', 'old']);
      check(await ids({ status: 'halted', reason: 'ERR_AGENT' })).equals(['halts']);
      check(await ids({ reason: 'ERR_QUOTA' })).equals([]);
      check(await ids({ since: 10, until: 20 })).equals(['halts', 'b', 'a']);
      await store.create(state('theirs'), 12, { ...PLAIN_SETUP, tenant: 'Acme' });
      check(await ids({ tenant: 'Acme', status: 'open' })).equals(['theirs']);
      check(await ids({ tenant: 'acme' })).equals([]);
      check((await store.recent({ limit: 1 }))[0]).equals(await store.summary('new'));
      check(await store.summary('halts')).matches({ sid: 'halts', status: 'halted', updatedAt: 15 });
      check(await store.summary('unknown')).equals(null);
    },
  },
  {
    name: 'refuses a session beyond its admission, and counts those that an ask opened apart',
    run: async (store) => {
      const acme = { ...PLAIN_SETUP, tenant: 'acme' };
      await store.create(state('a'), 1, acme, { tenant: 2 });
      await store.create(state('nested', { parent: { sid: 'a', turn: 1, seq: 1 } }), 1, acme, { tenant: 1, store: 1 });
      const many = await Promise.allSettled(['b', 'c', 'd'].map((sid) => store.create(state(sid), 1, acme, { tenant: 2 })));
      check(many.filter(({ status }) => status === 'fulfilled').length).equals(1);
      await refused(store.create(state('e'), 1, acme, { tenant: 2 }), { code: 'ERR_BUSY', limit: 'tenantOpenSessions', used: 2 });
      await store.create(state('f'), 1, PLAIN_SETUP, { tenant: 1, store: 3 });
      await refused(store.create(state('g'), 1, PLAIN_SETUP, { store: 3 }), {
        code: 'ERR_BUSY',
        limit: 'openSessions',
        allowed: 3,
      });
      await store.claim('f', lease('h'));
      const next = state('f', { status: 'halted', reason: 'ERR_AGENT' });
      await store.commit(commitOf('f', 1, { record: null, next, owner: 'h', at: 2, keep: false }));
      await store.create(state('g'), 1, PLAIN_SETUP, { store: 3 });
    },
  },
  {
    name: 'knows the hosts that live, and counts open sessions by what they do',
    run: async (store) => {
      await store.hosts?.beat({ instance: 'i1', owner: 'one', kids: ['k'] }, 60_000);
      await store.hosts?.beat({ instance: 'i2', owner: 'two', kids: [] }, 60_000);
      await store.hosts?.beat({ instance: 'i1', owner: 'one', kids: ['k', 'l'] }, 60_000);
      await store.hosts?.leave('i2');
      await store.hosts?.beat({ instance: 'i3', owner: 'three', kids: [] }, 60_000);
      await store.hosts?.beat({ instance: 'i4', owner: 'three', kids: [] }, 0);
      const hosts = (await store.hosts?.list())?.map(({ until: _, ...host }) => host);
      if (hosts !== undefined)
        check(hosts).equals([
          { instance: 'i1', owner: 'one', kids: ['k', 'l'], lives: true },
          { instance: 'i4', owner: 'three', kids: [], lives: false },
        ]);
      await store.create(state('free'), 1, { ...PLAIN_SETUP, tenant: 'acme' });
      await store.take('held', 'a');
      await store.take('waits', 'b');
      await store.start({ ...started('waits'), attempt: 0, suspended: WAITS }, 'b');
      await store.release('waits', 'b');
      const open = async (which: 'waiting' | 'leased') => (await store.recent({ open: which, limit: 9 })).map(({ sid }) => sid);
      check([await open('waiting'), await open('leased')]).equals([['waits'], ['held']]);
      const counts = (await store.census?.())?.flatMap(({ count, since, ...row }) =>
        count === 0 ? [] : [`${row.state} ${row.class} ${count} ${since}`],
      );
      if (counts !== undefined) check(counts).equals(['ready tenant 1 null', 'running none 1 null', 'waiting none 1 5']);
    },
  },
  {
    name: 'reads the turns of a session in pages',
    run: async (store) => {
      await store.take('s', 'a');
      for (const turn of [1, 2, 3]) {
        await store.start(started('s', turn), 'a');
        await store.commit(commitOf('s', turn));
      }
      const turns = async (query: { after?: number; limit?: number }) =>
        (await store.turns('s', undefined, query)).map(({ turn }) => turn);
      check(await turns({})).equals([1, 2, 3]);
      check(await turns({ limit: 2 })).equals([1, 2]);
      check(await turns({ after: 1, limit: 1 })).equals([2]);
      check(await turns({ after: 3 })).equals([]);
    },
  },
  {
    name: 'finds what is owed to the log, what lost its driver, and what is ready',
    run: async (store) => {
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
      check(await store.find({ kind: 'owing', after: '' }, 9)).equals(['owed', 'owedEnd']);
      check(await store.find({ kind: 'owing', after: 'owed' }, 9)).equals(['owedEnd']);
      check(await store.find({ kind: 'owing', after: '' }, 1)).equals(['owed']);
      check([...(await store.find({ kind: 'ready', owner: 'me' }, 9))].sort()).equals(['idle', 'mine', 'owed']);
      check(await store.find({ kind: 'ready', owner: 'me' }, 2)).hasLength(2);
      check(await store.find({ kind: 'orphaned', after: '', idleMs: 10 }, 9)).equals([]);
      await store.set(10);
      check(await store.find({ kind: 'orphaned', after: '', idleMs: 10 }, 9)).equals(['nested']);
      check(await store.find({ kind: 'orphaned', after: 'nested', idleMs: 10 }, 9)).equals([]);
    },
  },
  {
    name: 'steps of a started turn are kept until its end, under the fence',
    run: async (store) => {
      await store.take('s', 'a');
      const step = (seq: number, body: object = { text: ODD }) => ({ turn: 1, seq, body: { ...body } });
      await refused(store.keep('s', step(1), 'a'), { detail: 'order' });
      await store.start(started('s'), 'a');
      await store.keep('s', step(2), 'a');
      await store.keep('s', step(1), 'a');
      await store.keep('s', step(2, { done: true }), 'a');
      const kept = [step(1), step(2, { done: true })];
      check((await store.claim('s', lease('b', 1000, 2000))).steps).equals(kept);
      await refused(store.keep('s', step(3), 'a'), LEASED);
      await store.start({ ...started('s'), attempt: 2 }, 'b');
      check((await store.claim('s', lease('b', 1000, 2000))).steps).equals(kept);
      await store.start({ ...started('s'), nonce: 'another' }, 'b');
      check((await store.claim('s', lease('b', 1000, 2000))).steps).equals([]);
      await store.keep('s', step(1), 'b');
      await store.commit(commitOf('s', 1, { owner: 'b' }));
      check((await store.claim('s', lease('b', 1000, 2000))).steps).equals([]);
      await store.start(started('s', 2), 'b');
      await store.keep('s', { ...step(1), turn: 2 }, 'b');
      await store.withdraw('s', 'b');
      check((await store.claim('s', lease('b', 1000, 2000))).steps).equals([]);
    },
  },
  {
    name: 'what a newer version added to a state survives',
    run: async (store) => {
      await store.create({ ...state('s'), later: ODD } as never, 1);
      const { state: read } = await store.claim('s', lease('a'));
      await store.start(started('s'), 'a');
      await store.commit(commitOf('s', 1, { next: { ...read, nextTurn: 2 } }));
      check(await store.read('s')).matches({ later: ODD, nextTurn: 2 });
    },
  },
];
