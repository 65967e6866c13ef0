import { describe, expect, it } from 'vitest';
import {
  type DecisionLog,
  type ErasableStore,
  type Held,
  MemoryLog,
  MemoryStore,
  SessionExistsError,
  SessionLeasedError,
  type SessionStore,
  type StoredLog,
  StoreError,
} from '../../../src/loop/index.ts';
import { type ContractCase, logContract, storageContract, storeContract } from '../../../src/testing/index.ts';
import { MemoryStorage, type VersionedStorage } from '../../../stdlib-tools/index.ts';

/** The cases that a cheating implementation fails. */
async function failed(cases: readonly ContractCase[]): Promise<readonly string[]> {
  const names: string[] = [];
  for (const { name, run } of cases)
    try {
      await run();
    } catch {
      names.push(name);
    }
  return names;
}

/** An object whose other methods are those of another one. */
function over<T extends object>(honest: T, methods: Partial<T>): T {
  return new Proxy(honest, {
    get(target, key) {
      const own: unknown = Reflect.get(key in methods ? methods : target, key);
      return typeof own === 'function' ? own.bind(key in methods ? methods : target) : own;
    },
  });
}

/** Repeats a call whose error has this class, after `change`. */
async function despite<T>(kind: new (...values: never[]) => Error, call: () => Promise<T>, change: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof kind)) throw error;
    return change();
  }
}

/** A store that knows the last claim of each session, as no honest client could. */
function knowing(store: ErasableStore) {
  const fences = new Map<string, number>();
  const claim: SessionStore['claim'] = async (sid, lease) => {
    const claimed = await store.claim(sid, lease);
    fences.set(sid, claimed.fence);
    return claimed;
  };
  return { claim, last: (sid: string): number => fences.get(sid) ?? -1 };
}

type Cheat = (store: ErasableStore) => Partial<ErasableStore>;

/** One mistake a store. */
const STORES: readonly (readonly [string, Cheat])[] = [
  [
    'opens a session twice',
    (s) => ({
      create: (...a) =>
        despite(
          SessionExistsError,
          () => s.create(...a),
          async () => {},
        ),
    }),
  ],
  ['forgets the setup', (s) => ({ create: (state, at) => s.create(state, at) })],
  [
    'changes odd texts',
    (s) => ({ create: (state, ...a) => s.create({ ...state, userdata: state.userdata.toWellFormed() }, ...a) }),
  ],
  ['drops fields that it does not know', (s) => ({ read: async (sid) => dropped(await s.read(sid)) })],
  [
    'lends a session twice',
    (s) => {
      const { claim, last } = knowing(s);
      return {
        claim: (sid, lease) =>
          despite(
            SessionLeasedError,
            () => claim(sid, lease),
            async () => {
              await s.release(sid, last(sid));
              return claim(sid, lease);
            },
          ),
      };
    },
  ],
  [
    'gives up the lease of another claim',
    (s) => {
      const { claim, last } = knowing(s);
      return { claim, release: (sid) => s.release(sid, last(sid)) };
    },
  ],
  [
    'takes the start of a turn of an earlier claim',
    (s) => {
      const { claim, last } = knowing(s);
      return { claim, start: (turn) => s.start(turn, last(turn.sid)) };
    },
  ],
  [
    'takes the commit of an earlier claim',
    (s) => {
      const { claim, last } = knowing(s);
      return { claim, commit: (commit) => s.commit({ ...commit, fence: last(commit.next.sid) }) };
    },
  ],
  [
    'renews a lost lease',
    (s) => {
      const { claim, last } = knowing(s);
      return {
        claim,
        renew: (held: readonly Held[], ms) =>
          s.renew(
            held.map(({ sid }) => ({ sid, fence: last(sid) })),
            ms,
          ),
      };
    },
  ],
  ['says that every lease is held', (s) => ({ renew: async (held, ms) => (await s.renew(held, ms)).map(() => 'held' as const) })],
  ['renews nothing', () => ({ renew: async (held) => held.map(() => 'held' as const) })],
  [
    'starts any turn',
    (s) => ({
      start: (...a) =>
        despite(
          StoreError,
          () => s.start(...a),
          async () => false,
        ),
    }),
  ],
  ['tells no start that the end was requested', (s) => ({ start: (...a) => s.start(...a).then(() => false) })],
  ['withdraws nothing', () => ({ withdraw: async () => {} })],
  ['keeps no steps', () => ({ keep: async () => {} })],
  [
    'commits a turn that was not started',
    (s) => ({
      commit: (c) =>
        despite(
          StoreError,
          () => s.commit(c),
          async () => false,
        ),
    }),
  ],
  ['tells no commit that the end was requested', (s) => ({ commit: (c) => s.commit(c).then(() => false) })],
  ['forgets used token ids', (s) => ({ commit: (c) => s.commit({ ...c, used: [] }) })],
  ['never forgets used token ids', (s) => ({ commit: (c) => s.commit({ ...c, usedSince: 0 }) })],
  ['owes nothing to the log', (s) => ({ commit: (c) => s.commit({ ...c, unlogged: false }) })],
  ['loses the entry of a turn', (s) => ({ commit: (c) => s.commit({ ...c, entry: null }) })],
  ['keeps every lease after a commit', (s) => ({ commit: (c) => s.commit({ ...c, keep: true }) })],
  ['gives every lease up after a commit', (s) => ({ commit: (c) => s.commit({ ...c, keep: false }) })],
  ['marks nothing as logged', () => ({ logged: async () => {} })],
  ['keeps the lease when all is logged', (s) => ({ logged: (sid, turn, fence) => s.logged(sid, turn, fence, true) })],
  ['cancels nothing', () => ({ cancel: async () => true })],
  [
    'claims what the host cannot run',
    (s) => ({ next: (l, n, { profiles, ...r }) => s.next(l, n, { ...r, profiles: [...profiles, 'mail', ''] }) }),
  ],
  ['claims for tenants that are left out', (s) => ({ next: (l, n, r) => s.next(l, n, { ...r, without: [] }) })],
  ['claims too many', (s) => ({ next: (l, n, r) => s.next(l, n + 1, r) })],
  ['claims nothing', () => ({ next: async () => [] })],
  ['wakes nobody', () => ({ onReady: () => () => {} })],
  [
    'wakes for ever',
    (s) => ({
      onReady: (wake) => {
        s.onReady(wake);
        return () => {};
      },
    }),
  ],
  ['gives turns in the wrong order', (s) => ({ turns: async (...a) => (await s.turns(...a)).toReversed() })],
  ['gives all turns for a page', (s) => ({ turns: (sid, onDamaged) => s.turns(sid, onDamaged) })],
  ['lists in the wrong order', (s) => ({ list: async (q) => (await s.list(q)).toReversed() })],
  ['has one page for all', (s) => ({ list: ({ limit: _, ...q } = {}) => s.list(q) })],
  ['lists the children of all', (s) => ({ list: ({ parent: _, ...q } = {}) => s.list(q) })],
  ['lists the oldest as the latest', (s) => ({ recent: async (q) => (await s.recent(q)).toReversed() })],
  ['filters no recent sessions', (s) => ({ recent: ({ status: _, reason: __, since: ___, until: ____, ...q }) => s.recent(q) })],
  ['has no summaries', () => ({ summary: async () => null })],
  ['finds nothing', () => ({ find: async () => [] })],
  ['finds more than it was asked for', (s) => ({ find: (condition) => s.find(condition, 99) })],
  ['removes in a dry run', (s) => ({ prune: ({ before }) => s.prune({ before }) })],
  ['removes nothing', (s) => ({ prune: ({ before }) => s.prune({ before, dryRun: true }) })],
];

function dropped<T extends object | null>(state: T): T {
  if (state === null) return state;
  const { later: _, ...rest } = state as T & { later?: unknown };
  return rest as T;
}

describe('a store of sessions fails the contract when it', () => {
  it.each(STORES)(
    '%s',
    async (_, cheat) => {
      const make = ({ clock }: { clock: { now(): number } }) => {
        const honest = new MemoryStore({ clock });
        return { store: over<ErasableStore>(honest, cheat(honest)), wakesWithinMs: 50 };
      };
      expect(await failed(storeContract(make))).not.toEqual([]);
    },
    60_000,
  );
});

const LOGS: readonly (readonly [string, (log: StoredLog) => Partial<StoredLog>])[] = [
  ['loses entries', () => ({ append: async () => {} })],
  ['knows no session from another', (log) => ({ has: async (sid, turn) => (await log.has(sid, turn)) || log.has('s', turn) })],
  ['gives lines of no chain', (log) => ({ lines: (after) => renumbered(log.lines(after)) })],
  ['always gives all lines', (log) => ({ lines: () => log.lines() })],
];

async function* renumbered(lines: ReturnType<StoredLog['lines']>): ReturnType<StoredLog['lines']> & AsyncGenerator {
  for await (const { line, text } of lines) yield { line, text: text.replace('"turn_index":2', '"turn_index":7') };
}

describe('a decision log fails the contract when it', () => {
  it.each(LOGS)('%s', async (_, cheat) => {
    const make = (): StoredLog => {
      const { log } = new MemoryStore();
      return over<StoredLog>(log, cheat(log));
    };
    expect(await failed(logContract(make))).not.toEqual([]);
  });

  it('lets a session go on that has ended', async () => {
    const make = (): DecisionLog => {
      const log = new MemoryLog();
      return over<DecisionLog>(log, {
        goesOnAfter: async (sid) => log.entries.findLast(({ SID }) => SID === sid)?.turn_index ?? null,
      });
    };
    expect(await failed(logContract(make))).toEqual(['knows after which turn an open session goes on, if it says so at all']);
  });
});

const STORAGES: readonly (readonly [string, (storage: VersionedStorage) => Partial<VersionedStorage>])[] = [
  [
    'writes over a newer version',
    (s) => ({ cas: async (w) => s.cas({ ...w, expected: (await s.get(w.scope, w.key, w.at))?.version ?? 0 }) }),
  ],
  ['uses one scope for all', (s) => ({ get: (_, key, at) => s.get('a', key, at), cas: (w) => s.cas({ ...w, scope: 'a' }) })],
  ['lets nothing expire', (s) => ({ cas: (w) => s.cas({ ...w, ttlMs: null }) })],
  ['gives expired values', (s) => ({ get: (scope, key) => s.get(scope, key, 0) })],
  ['lists expired keys', (s) => ({ keys: (scope) => s.keys(scope, 0) })],
  ['lists keys in the wrong order', (s) => ({ keys: async (...a) => (await s.keys(...a)).toReversed() })],
  ['forgets nothing', () => ({ forget: async () => {} })],
  [
    'takes letters of two cases for one',
    (s) => ({
      get: (scope, key, at) => s.get(scope, key.toLowerCase(), at),
      cas: (w) => s.cas({ ...w, key: w.key.toLowerCase() }),
    }),
  ],
];

describe('a storage of tool values fails the contract when it', () => {
  it.each(STORAGES)('%s', async (_, cheat) => {
    const open = async (caps = {}): Promise<VersionedStorage> => {
      const honest = new MemoryStorage(caps);
      return over<VersionedStorage>(honest, cheat(honest));
    };
    expect(await failed(storageContract(open))).not.toEqual([]);
  });

  it('has no bounds, or answers the repetition of a call as a new one', async () => {
    expect(await failed(storageContract(async () => new MemoryStorage()))).toHaveLength(3);
    const repeating = async (caps = {}): Promise<VersionedStorage> => {
      const honest = new MemoryStorage(caps);
      return over<VersionedStorage>(honest, { cas: ({ call: _, ...write }) => honest.cas(write) });
    };
    expect(await failed(storageContract(repeating))).toEqual([
      'answers the repetition of the last writing call as the first time',
    ]);
  });
});
