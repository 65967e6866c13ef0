import { describe, expect, it } from 'vitest';
import { NO_PROGRESS_YET } from '../../src/aeiou/index.ts';
import type { TurnRecord } from '../../src/loop/record/record.ts';
import type { Suspension } from '../../src/loop/record/suspension.ts';
import { SessionExistsError, SessionLeasedError, SessionStateError } from '../../src/loop/sessions/errors.ts';
import { PLAIN_SETUP } from '../../src/loop/sessions/setup.ts';
import type { SessionState, TurnCommit } from '../../src/loop/sessions/store.ts';
import { VERSION } from '../../src/runtime/version.ts';
import { StoreError } from '../../src/sqlite/error.ts';
import { defaultLimits } from '../../src/wire/limits.ts';
import { EMPTY_RUN } from '../../src/wire/protocol.ts';
import { bench, turnOf } from './harness.ts';
import { type MakeStore, ownedStore } from './owners.ts';

/** Text that files and databases like to change: NUL, a lone surrogate, a quote. */
export const ODD = 'a\u0000b\ud800\'"\u{1f600}\r\n';

/** A session between two turns. */
export const state = (sid: string, more: Partial<SessionState> = {}): SessionState => ({
  sid,
  head: null,
  parent: null,
  status: 'open',
  reason: null,
  userdata: '{}',
  nextTurn: 1,
  output: null,
  scratchpad: null,
  progress: NO_PROGRESS_YET,
  spent: { fuel: 0, tokens: 0 },
  agent: null,
  ...more,
});
/** A turn that was started. */
export const started = (sid: string, turn = 1) => ({
  sid,
  turn,
  attempt: 1,
  nonce: 'n',
  startedAt: 5,
  suspended: null,
  reply: ODD,
  agent: { name: 'model', asks: 2, tokens: 3, inputTokens: 1, outputTokens: 2 },
  limits: defaultLimits('turn'),
});
/** What a turn that waits is put aside with. */
export const WAITS: Suspension = {
  waiting: {
    seq: 1,
    tool: 'tool.t.x',
    args: [],
    reason: 'r',
    at: { fork: 'f', source: 's', line: 1, column: 1 },
    asked: [],
    expiresIn: null,
    ms: 1,
  },
  promise: null,
  earlier: {
    startedAt: 5,
    nonce: 'n',
    clock: [],
    jtis: [],
    mints: 0,
    mintFailed: false,
    ranMs: 0,
    run: { ...EMPTY_RUN, limits: defaultLimits('turn') },
    journal: [],
  },
  since: 5,
  expiresAt: 500,
  completion: null,
  acceptChanged: false,
  approved: null,
};
type OwnedCommit = Omit<TurnCommit, 'fence'> & { readonly owner: string };
/** A lease in words of moments. */
export const lease = (owner: string, now = 0, until = 1000) => ({ owner, now, until });

const { record: some } = await turnOf(bench({ done: async ({ emit, magic }) => emit(await magic('done')) }), 'done');
const recordOf = (sid: string, turn: number): TurnRecord => ({ ...some, sid, turn, output: ODD });
/** The end of a turn of owner `a`. */
export const commitOf = (sid: string, turn: number, more: Partial<OwnedCommit> = {}): OwnedCommit => ({
  owner: 'a',
  record: recordOf(sid, turn),
  next: state(sid, { nextTurn: turn + 1, output: ODD }),
  used: [],
  usedSince: 0,
  unlogged: false,
  entry: null,
  at: 7,
  keep: true,
  ...more,
});

/** What every store of sessions does. */
export function storeContract(name: string, make: MakeStore): void {
  describe(name, () => {
    it('keeps a session, and no two with one id', async () => {
      const store = await ownedStore(make);
      await store.create(state('s', { userdata: ODD }), 1);
      expect(await store.read('s')).toEqual(state('s', { userdata: ODD }));
      expect(await store.read('t')).toBeNull();
      await expect(store.create(state('s'), 1)).rejects.toThrow(SessionExistsError);
      await expect(store.claim('t', lease('a'))).rejects.toThrow(SessionStateError);
    });

    it('AL3-11-6: keeps turn, state, used ids and what is owed to the log together, and the turn exactly once', async () => {
      const store = await ownedStore(make);
      await store.create(state('s'), 1);
      await store.claim('s', lease('a'));
      await store.start(started('s'), 'a');
      expect(await store.claim('s', lease('a'))).toMatchObject({
        next: { kind: 'interrupted', started: started('s') },
        used: [],
        unlogged: [],
      });
      const used = [{ jti: 'j', second: 5 }];
      await store.commit(commitOf('s', 1, { used, unlogged: true }));
      expect(await store.turns('s')).toEqual([recordOf('s', 1)]);
      expect(await store.claim('s', lease('a'))).toEqual({
        state: state('s', { nextTurn: 2, output: ODD }),
        next: { kind: 'fresh' },
        used,
        unlogged: [recordOf('s', 1)],
        unloggedEnd: null,
        cancelled: false,
        setup: PLAIN_SETUP,
        steps: [],
      });
      await expect(store.commit(commitOf('s', 1))).rejects.toThrow(StoreError);
      expect(await store.turns('s')).toHaveLength(1);
      await store.logged('s', 1, 'a', true);
      expect((await store.claim('s', lease('a'))).unlogged).toEqual([]);
    });

    it('AL3-9-1: an end between two turns is owed to the log like a turn, until it is there', async () => {
      const store = await ownedStore(make);
      await store.create(state('s'), 1);
      await store.claim('s', lease('a'));
      const next = state('s', { status: 'halted', reason: 'ERR_AGENT' });
      await store.commit(commitOf('s', 1, { record: null, next, unlogged: true, at: 9 }));
      expect(await store.claim('s', lease('a'))).toMatchObject({ unlogged: [], unloggedEnd: 9 });
      expect((await store.list())[0]).toMatchObject({ status: 'halted', turns: 0, owed: 1 });
      await store.logged('s', 1, 'a', false);
      expect((await store.claim('s', lease('b'))).unloggedEnd).toBeNull();
      expect((await store.list())[0]?.owed).toBe(0);
    });

    it('what is logged is a turn or the end, and the lease is kept where the session goes on', async () => {
      const store = await ownedStore(make);
      await store.create(state('s'), 1);
      await store.claim('s', lease('a'));
      await store.start(started('s'), 'a');
      await store.commit(commitOf('s', 1, { unlogged: true }));
      await store.commit(
        commitOf('s', 1, { record: null, next: state('s', { status: 'halted', nextTurn: 2 }), unlogged: true, at: 9 }),
      );
      await store.logged('s', 1, 'a', true);
      expect(await store.claim('s', lease('a'))).toMatchObject({ unlogged: [], unloggedEnd: 9 });
      await store.logged('s', 2, 'a', true);
      expect(await store.claim('s', lease('a'))).toMatchObject({ unloggedEnd: null });
      await store.logged('s', 2, 'a', true);
      expect((await store.list())[0]?.lease).toMatchObject({ owner: 'a' });
      await store.logged('s', 2, 'a', false);
      expect((await store.list())[0]?.lease).toBeNull();
    });

    it('a turn is committed only when it was started, and started only when it is the next', async () => {
      const store = await ownedStore(make);
      await store.create(state('s'), 1);
      await store.claim('s', lease('a'));
      await expect(store.commit(commitOf('s', 1))).rejects.toMatchObject({ code: 'ERR_STORE', detail: 'order' });
      await expect(store.start(started('s', 2), 'a')).rejects.toMatchObject({ detail: 'order' });
      await store.start(started('s'), 'a');
      await store.withdraw('s', 'a');
      expect((await store.claim('s', lease('a'))).next).toEqual({ kind: 'fresh' });
      expect(await store.turns('s')).toEqual([]);
    });

    it('AL3-3-1: a session belongs to one owner at a time, until its lease ends or is given up', async () => {
      const store = await ownedStore(make);
      await store.create(state('s'), 1);
      await store.claim('s', lease('a', 0, 1000));
      await expect(store.claim('s', lease('b', 999, 2000))).rejects.toThrow(SessionLeasedError);
      await store.release('s', 'b');
      await expect(store.claim('s', lease('b', 999, 2000))).rejects.toThrow(SessionLeasedError);
      await store.claim('s', lease('b', 1000, 2000));
      for (const late of [
        () => store.start(started('s'), 'a'),
        () => store.commit(commitOf('s', 1)),
        () => store.withdraw('s', 'a'),
      ])
        await expect(late()).rejects.toThrow(SessionLeasedError);
      expect(await store.renew(['s'], lease('a', 1100, 3000))).toEqual(['lost']);
      await store.release('s', 'b');
      await store.claim('s', lease('a', 1100, 3000));
    });

    it('issue 20: what an earlier claim writes is refused, even if the same owner made it', async () => {
      const store = await ownedStore(make);
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
      for (const each of late) await expect(each()).rejects.toThrow(SessionLeasedError);
      expect(await store.renew(['s'], lease('a', 21, 99))).toEqual(['lost']);
      await store.release('s', 'a');
      expect((await store.list())[0]?.lease).toEqual({ owner: 'a', until: 30 });
    });

    it('renewing prolongs, and tells of a cancellation', async () => {
      const store = await ownedStore(make);
      await store.create(state('s'), 1);
      await store.claim('s', lease('a', 0, 1000));
      expect(await store.renew(['s', 'unknown'], lease('a', 900, 1900))).toEqual(['held', 'lost']);
      await expect(store.claim('s', lease('b', 1500, 2500))).rejects.toThrow(SessionLeasedError);
      expect(await store.cancel('s')).toBe(true);
      expect(await store.cancel('unknown')).toBe(false);
      expect(await store.renew(['s'], lease('a', 1600, 2600))).toEqual(['cancelled']);
      expect((await store.claim('s', lease('a', 1600, 2600))).cancelled).toBe(true);
    });

    it('A3-11.3-1: used ids that are too old, or of a session that has ended, are forgotten', async () => {
      const store = await ownedStore(make);
      await store.create(state('s'), 1);
      await store.claim('s', lease('a'));
      await store.start(started('s'), 'a');
      await store.commit(commitOf('s', 1, { used: ['old', 'edge'].map((jti, index) => ({ jti, second: 10 + index })) }));
      await store.start(started('s', 2), 'a');
      await store.commit(commitOf('s', 2, { used: [{ jti: 'new', second: 20 }], usedSince: 11 }));
      expect((await store.claim('s', lease('a'))).used).toEqual([
        { jti: 'edge', second: 11 },
        { jti: 'new', second: 20 },
      ]);
      await store.start(started('s', 3), 'a');
      await store.commit(
        commitOf('s', 3, { next: state('s', { status: 'done', nextTurn: 4 }), used: [{ jti: 'x', second: 21 }] }),
      );
      expect((await store.claim('s', lease('a'))).used).toEqual([]);
      expect(await store.cancel('s')).toBe(false);
    });

    it('lists sessions in the order of their ids', async () => {
      const store = await ownedStore(make);
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
        waits: null,
        turns: 0,
        createdAt: 1,
        updatedAt: 1,
        started: null,
        lease: null,
        owed: 0,
        parent: null,
        damaged: null,
        ...{ tenant: '', profile: '', engine: VERSION, reader: PLAIN_SETUP.reader },
      };
      expect(await store.list()).toEqual([
        { ...idle, sid: 'a', started: 1, lease: { owner: 'me', until: 99 } },
        { ...idle, sid: 'b', status: 'halted', reason: 'ERR_TOKEN_MISSING', turns: 1, updatedAt: 7, owed: 1 },
        { ...idle, sid: 'c', subject: 'what it is about', agent: 'model' },
      ]);
    });

    it('removes what ended before a time with all that is kept of it, and nothing that is open, held or owed to the log', async () => {
      const store = await ownedStore(make);
      const end = async (sid: string, more: Partial<OwnedCommit>) => {
        await store.create(state(sid), 1);
        await store.claim(sid, lease('a'));
        await store.start(started(sid), 'a');
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
      await store.create(state('owedEnd'), 1);
      await store.claim('owedEnd', lease('a'));
      const halted = state('owedEnd', { status: 'halted', reason: 'ERR_AGENT' });
      await store.commit(commitOf('owedEnd', 1, { record: null, next: halted, unlogged: true, at: 9, keep: false }));
      const all = await store.list();
      const old = all.filter(({ sid }) => ['old', 'older'].includes(sid));
      expect(old).toHaveLength(2);
      expect(await store.prune({ before: 100, now: 999, dryRun: true })).toEqual(old);
      expect(await store.list()).toEqual(all);
      expect(await store.prune({ before: 100, now: 999 })).toEqual(old);
      expect(await store.list()).toEqual(all.filter((each) => !old.includes(each)));
      expect(await store.read('old')).toBeNull();
      expect(await store.turns('old')).toEqual([]);
      expect(await store.turns('young')).toHaveLength(1);
      // A lease that has ended holds nothing.
      expect(await store.prune({ before: 100, now: 1000 })).toMatchObject([{ sid: 'held' }]);
      // Nothing is left that a session of the same id would find.
      await store.create(state('older'), 200);
      expect(await store.claim('older', lease('a'))).toMatchObject({ used: [], next: { kind: 'fresh' }, unlogged: [] });
    });
  });
}
