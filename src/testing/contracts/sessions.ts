import { PLAIN_SETUP } from '../../loop/index.ts';
import { VERSION } from '../../runtime/version.ts';
import { check, refused } from './check.ts';
import type { OwnedStore } from './owned.ts';
import { commitOf, LEASED, lease, ODD, type OwnedCommit, recordOf, started, state, WAITS } from './samples.ts';

export interface StoreCase {
  readonly name: string;
  run(store: OwnedStore): Promise<void>;
}

/** What every store of sessions does for one session. */
export const SESSION_CASES: readonly StoreCase[] = [
  {
    name: 'keeps a session, and no two with one id',
    run: async (store) => {
      await store.create(state('s', { userdata: ODD }), 1);
      check(await store.read('s')).equals(state('s', { userdata: ODD }));
      check(await store.read('t')).equals(null);
      await refused(store.create(state('s'), 1), { code: 'ERR_SESSION_EXISTS' });
      await refused(store.claim('t', lease('a')), { code: 'ERR_SESSION_STATE' });
    },
  },
  {
    name: 'keeps turn, state, used ids and what is owed to the log together, and the turn exactly once',
    run: async (store) => {
      await store.begin('s', 'a');
      check(await store.claim('s', lease('a'))).matches({
        next: { kind: 'interrupted', started: started('s') },
        used: [],
        unlogged: [],
      });
      const used = [{ jti: 'j', second: 5 }];
      await store.commit(commitOf('s', 1, { used, unlogged: true }));
      check(await store.turns('s')).equals([recordOf('s', 1)]);
      check(await store.claim('s', lease('a'))).equals({
        state: state('s', { nextTurn: 2, output: ODD }),
        next: { kind: 'fresh' },
        used,
        unlogged: [recordOf('s', 1)],
        unloggedEnd: null,
        cancelled: false,
        setup: PLAIN_SETUP,
        steps: [],
      });
      await refused(store.commit(commitOf('s', 1)), { code: 'ERR_STORE' });
      check(await store.turns('s')).hasLength(1);
      await store.logged('s', 1, 'a', true);
      check((await store.claim('s', lease('a'))).unlogged).equals([]);
    },
  },
  {
    name: 'an end between two turns is owed to the log like a turn, until it is there',
    run: async (store) => {
      await store.take('s', 'a');
      const next = state('s', { status: 'halted', reason: 'ERR_AGENT' });
      await store.commit(commitOf('s', 1, { record: null, next, unlogged: true, at: 9 }));
      check(await store.claim('s', lease('a'))).matches({ unlogged: [], unloggedEnd: 9 });
      check((await store.list())[0]).matches({ status: 'halted', turns: 0, owed: 1 });
      await store.logged('s', 1, 'a', false);
      check((await store.claim('s', lease('b'))).unloggedEnd).equals(null);
      check((await store.list())[0]?.owed).equals(0);
    },
  },
  {
    name: 'a change of an open session that decides no turn leaves the turn that has started as it is',
    run: async (store) => {
      await store.begin('s', 'a');
      const next = state('s', { message: 'its agent gave no reply' });
      await store.commit(commitOf('s', 1, { record: null, next, keep: true }));
      check((await store.list())[0]).matches({ status: 'open', message: next.message, started: 1, lease: { owner: 'a' } });
      check(await store.claim('s', lease('a'))).matches({ state: next, next: { kind: 'interrupted', started: started('s') } });
      await store.commit(commitOf('s', 1));
      check(await store.turns('s')).equals([recordOf('s', 1)]);
    },
  },
  {
    name: 'refuses what it could not read again, and the session stays as it was',
    run: async (store) => {
      const refuses = (call: Promise<unknown>): Promise<void> => refused(call, { code: 'ERR_STORE', detail: 'refused' });
      const wrong = (changes: object): never => changes as never;
      await refuses(store.create(state('s', wrong({ userdata: undefined })), 1));
      await refuses(store.create(state('s'), 1, { ...PLAIN_SETUP, configuration: wrong([]) }));
      await store.take('s', 'a');
      for (const changes of [{ reply: undefined }, { startedAt: Number.NaN }, { limits: null }])
        await refuses(store.start(wrong({ ...started('s'), ...changes }), 'a'));
      for (const completion of [{ ok: true }, { ok: false, code: 21 }, { ok: false, code: 1.5, message: 'm' }, 'yes'])
        await refuses(store.start({ ...started('s'), suspended: { ...WAITS, completion: wrong(Object(completion)) } }, 'a'));
      await store.start(started('s'), 'a');
      await refuses(store.keep('s', { turn: 1, seq: 1, body: wrong([]) }, 'a'));
      await refuses(store.commit(commitOf('s', 1, { next: state('s', wrong({ nextTurn: 1.5 })) })));
      await refuses(store.commit(commitOf('s', 1, { record: { ...recordOf('s', 1), journal: wrong({}) } })));
      await refuses(store.commit(commitOf('s', 1, { used: [wrong({ jti: 1, second: 5 })] })));
      check(await store.claim('s', lease('a'))).matches({ next: { kind: 'interrupted', started: started('s') }, steps: [] });
      await store.commit(commitOf('s', 1));
      check(await store.turns('s')).equals([recordOf('s', 1)]);
    },
  },
  {
    name: 'what is logged is a turn or the end, and the lease is kept where the session goes on',
    run: async (store) => {
      await store.begin('s', 'a');
      await store.commit(commitOf('s', 1, { unlogged: true }));
      await store.commit(
        commitOf('s', 1, { record: null, next: state('s', { status: 'halted', nextTurn: 2 }), unlogged: true, at: 9 }),
      );
      await store.logged('s', 1, 'a', true);
      check(await store.claim('s', lease('a'))).matches({ unlogged: [], unloggedEnd: 9 });
      await store.logged('s', 2, 'a', true);
      check(await store.claim('s', lease('a'))).matches({ unloggedEnd: null });
      await store.logged('s', 2, 'a', true);
      check((await store.list())[0]?.lease).matches({ owner: 'a' });
      await store.logged('s', 2, 'a', false);
      check((await store.list())[0]?.lease).equals(null);
    },
  },
  {
    name: 'a turn is committed only when it was started, and started only when it is the next',
    run: async (store) => {
      await store.take('s', 'a');
      await refused(store.commit(commitOf('s', 1)), { code: 'ERR_STORE', detail: 'order' });
      await refused(store.start(started('s', 2), 'a'), { detail: 'order' });
      await store.start(started('s'), 'a');
      await store.withdraw('s', 'a');
      check((await store.claim('s', lease('a'))).next).equals({ kind: 'fresh' });
      check(await store.turns('s')).equals([]);
    },
  },
  {
    name: 'a session belongs to one owner at a time, until its lease ends or is given up',
    run: async (store) => {
      await store.create(state('s'), 1);
      await store.claim('s', lease('a', 0, 1000));
      await refused(store.claim('s', lease('b', 999, 2000)), LEASED);
      await store.release('s', 'b');
      await refused(store.claim('s', lease('b', 999, 2000)), LEASED);
      await store.claim('s', lease('b', 1000, 2000));
      for (const late of [
        () => store.start(started('s'), 'a'),
        () => store.commit(commitOf('s', 1)),
        () => store.withdraw('s', 'a'),
      ])
        await refused(late(), LEASED);
      check(await store.renew(['s'], lease('a', 1100, 3000))).equals(['lost']);
      await store.release('s', 'b');
      await store.claim('s', lease('a', 1100, 3000));
    },
  },
  {
    name: 'what an earlier claim writes is refused, even if the same owner made it',
    run: async (store) => {
      await store.create(state('s'), 1);
      await store.claim('s', lease('a', 0, 10));
      await store.claim('s', lease('b', 10, 20));
      await store.claim('s', lease('a', 20, 30));
      store.forget();
      const late = [
        () => store.start(started('s'), 'a'),
        () => store.withdraw('s', 'a'),
        () => store.commit(commitOf('s', 1)),
        () => store.logged('s', 1, 'a', true),
      ];
      for (const each of late) await refused(each(), LEASED);
      check(await store.renew(['s'], lease('a', 21, 99))).equals(['lost']);
      await store.release('s', 'a');
      check((await store.list())[0]?.lease).equals({ owner: 'a', until: 30 });
    },
  },
  {
    name: 'renewing prolongs, and tells of a cancellation, as a start and a commit do',
    run: async (store) => {
      await store.create(state('s'), 1);
      await store.claim('s', lease('a', 0, 1000));
      check(await store.renew(['s', 'unknown'], lease('a', 900, 1900))).equals(['held', 'lost']);
      await refused(store.claim('s', lease('b', 1500, 2500)), LEASED);
      check(await store.cancel('s')).equals(true);
      check(await store.cancel('unknown')).equals(false);
      check(await store.renew(['s'], lease('a', 1600, 2600))).equals(['cancelled']);
      check((await store.claim('s', lease('a', 1600, 2600))).cancelled).equals(true);
      check(await store.start(started('s'), 'a')).equals(true);
      check(await store.commit(commitOf('s', 1, { keep: true }))).equals(true);
    },
  },
  {
    name: 'used ids that are too old, or of a session that has ended, are forgotten',
    run: async (store) => {
      await store.begin('s', 'a');
      await store.commit(commitOf('s', 1, { used: ['old', 'edge'].map((jti, index) => ({ jti, second: 10 + index })) }));
      await store.start(started('s', 2), 'a');
      await store.commit(commitOf('s', 2, { used: [{ jti: 'new', second: 20 }], usedSince: 11 }));
      check((await store.claim('s', lease('a'))).used).equals([
        { jti: 'edge', second: 11 },
        { jti: 'new', second: 20 },
      ]);
      await store.start(started('s', 3), 'a');
      await store.commit(
        commitOf('s', 3, { next: state('s', { status: 'done', nextTurn: 4 }), used: [{ jti: 'x', second: 21 }] }),
      );
      check((await store.claim('s', lease('a'))).used).equals([]);
      check(await store.cancel('s')).equals(false);
    },
  },
  {
    name: 'lists sessions in the order of their ids',
    run: async (store) => {
      for (const sid of ['b', 'a']) await store.create(state(sid), 1);
      await store.create(state('c', { userdata: '{"subject":"what it is about","fields":{}}', agent: 'model' }), 1);
      await store.claim('a', lease('me', 0, 99));
      await store.start(started('a'), 'me');
      await store.claim('b', lease('a'));
      await store.start(started('b'), 'a');
      const next = state('b', { status: 'halted', reason: 'ERR_TOKEN_MISSING', nextTurn: 2 });
      await store.commit(commitOf('b', 1, { next, unlogged: true, keep: false }));
      const idle = {
        status: 'open',
        reason: null,
        subject: null,
        agent: null,
        message: null,
        waits: null,
        turns: 0,
        createdAt: 1,
        updatedAt: 1,
        started: null,
        lease: null,
        owed: 0,
        parent: null,
        spent: { fuel: 0, tokens: 0 },
        damaged: null,
        ...{ tenant: '', profile: '', engine: VERSION, reader: PLAIN_SETUP.reader },
      };
      check(await store.list()).equals([
        { ...idle, sid: 'a', started: 1, lease: { owner: 'me', until: 99 } },
        { ...idle, sid: 'b', status: 'halted', reason: 'ERR_TOKEN_MISSING', turns: 1, updatedAt: 7, owed: 1 },
        { ...idle, sid: 'c', subject: 'what it is about', agent: 'model' },
      ]);
    },
  },
  {
    name: 'removes what ended before a time with all that is kept of it, and nothing that is open, held or owed to the log',
    run: async (store) => {
      const end = async (sid: string, more: Partial<OwnedCommit>) => {
        await store.begin(sid, 'a');
        const next = state(sid, { status: 'done', nextTurn: 2 });
        await store.commit(commitOf(sid, 1, { next, keep: false, ...more }));
      };
      for (const sid of ['idle', 'runs', 'waits']) await store.create(state(sid), 1);
      await store.claim('runs', lease('a'));
      await store.claim('waits', lease('a'));
      await store.start({ ...started('waits'), suspended: WAITS }, 'a');
      await store.release('waits', 'a');
      await end('old', { at: 99 });
      await end('older', { at: 98, used: [{ jti: 'j', second: 5 }] });
      await end('young', { at: 100 });
      await end('held', { at: 9, keep: true });
      await end('owed', { at: 9, unlogged: true });
      await store.take('owedEnd', 'a');
      const halted = state('owedEnd', { status: 'halted', reason: 'ERR_AGENT' });
      await store.commit(commitOf('owedEnd', 1, { record: null, next: halted, unlogged: true, at: 9, keep: false }));
      const all = await store.list();
      const old = all.filter(({ sid }) => ['old', 'older'].includes(sid));
      check(old).hasLength(2);
      check(await store.prune({ before: 100, now: 999, dryRun: true })).equals(old);
      check(await store.list()).equals(all);
      check(await store.prune({ before: 100, now: 999 })).equals(old);
      check(await store.list()).equals(all.filter((each) => !old.includes(each)));
      check(await store.read('old')).equals(null);
      check(await store.turns('old')).equals([]);
      check(await store.turns('young')).hasLength(1);
      // A lease that has ended holds nothing.
      check(await store.prune({ before: 100, now: 1000 })).matches([{ sid: 'held' }]);
      // Nothing is left that a session of the same id would find.
      await store.create(state('older'), 200);
      check(await store.claim('older', lease('a'))).matches({ used: [], next: { kind: 'fresh' }, unlogged: [] });
    },
  },
];
