import type { Renewal, Runnable, SessionStore, SessionSummary, StartedTurn, StoredStep } from '../../loop/index.ts';
import { lease, type OwnedCommit, started, state } from './samples.ts';

/** A lease as a test words it: from one moment to another, on the clock of the store. */
export interface SpokenLease {
  readonly owner: string;
  readonly now: number;
  readonly until: number;
}

/** An empty store to test. */
export interface StoreToTest {
  /** Without any session. */
  readonly store: SessionStore;
  /** Sets the time of a store that has a clock of its own, in Unix milliseconds. */
  setTime?(now: number): Promise<void>;
  /** Most milliseconds until a store wakes those that wait for sessions; 10,000 when absent. */
  readonly wakesWithinMs?: number;
  /** Called at the end of the case. */
  close?(): Promise<void>;
}

/** Makes an empty store for one case. The store measures leases with this clock, unless it has `setTime`. */
export type MakeStore = (options: { readonly clock: { now(): number } }) => StoreToTest | Promise<StoreToTest>;

/** A store in the words of a case. */
export type OwnedStore = Awaited<ReturnType<typeof ownedStore>>;

/** A store in words of owners and moments: it sets the clock of the store, and knows the fence of each owner's last claim. */
export async function ownedStore(make: MakeStore) {
  let now = 0;
  const fences = new Map<string, number>();
  const { store, setTime, wakesWithinMs = 10_000, close } = await make({ clock: { now: () => now } });
  const set = async (at: number): Promise<void> => {
    now = at;
    await setTime?.(at);
  };
  await set(0);
  let behind = 0;
  const fenceOf = (sid: string, owner: string): number => (fences.get(`${sid} of ${owner}`) ?? -1) - behind;
  const claim = async (sid: string, { owner, now: at, until }: SpokenLease) => {
    await set(at);
    const { fence, ...claimed } = await store.claim(sid, { owner, ms: until - at });
    fences.set(`${sid} of ${owner}`, fence);
    return claimed;
  };
  const take = async (sid: string, owner: string): Promise<void> => {
    await store.create(state(sid), 1);
    await claim(sid, lease(owner));
  };
  return {
    create: store.create.bind(store),
    /** Makes a session and claims it. */
    take,
    /** Makes a session, claims it and starts its first turn. */
    async begin(sid: string, owner: string): Promise<void> {
      await take(sid, owner);
      await store.start(started(sid), fenceOf(sid, owner));
    },
    /** From now on every owner takes the claim before its last one for its last. */
    forget(): void {
      behind = 1;
    },
    read: store.read.bind(store),
    cancel: store.cancel.bind(store),
    turns: store.turns.bind(store),
    list: store.list.bind(store),
    recent: store.recent.bind(store),
    summary: store.summary.bind(store),
    find: store.find.bind(store),
    onReady: store.onReady.bind(store),
    log: store.log,
    hosts: store.hosts,
    census: store.census?.bind(store),
    wakesWithinMs,
    /** Ends the case. */
    close: async (): Promise<void> => close?.(),
    /** Sets the time of the store. */
    set,
    /** The ids of the sessions that an owner claims, in the order of the claims. */
    async next(owner: string, most: number, runnable: Runnable = { profiles: [''] }): Promise<readonly string[]> {
      const found = await store.next({ owner, ms: 1000 }, most, runnable);
      for (const { fence, state } of found) fences.set(`${state.sid} of ${owner}`, fence);
      return found.map(({ state }) => state.sid);
    },
    keep: (sid: string, step: StoredStep, owner: string): Promise<void> => store.keep(sid, step, fenceOf(sid, owner)),
    claim,
    async renew(sids: readonly string[], { owner, now: at, until }: SpokenLease): Promise<readonly Renewal[]> {
      await set(at);
      return store.renew(
        sids.map((sid) => ({ sid, fence: fenceOf(sid, owner) })),
        until - at,
      );
    },
    release: (sid: string, owner: string): Promise<void> => store.release(sid, fenceOf(sid, owner)),
    start: (turn: StartedTurn, owner: string): Promise<boolean> => store.start(turn, fenceOf(turn.sid, owner)),
    withdraw: (sid: string, owner: string): Promise<void> => store.withdraw(sid, fenceOf(sid, owner)),
    commit: ({ owner, ...commit }: OwnedCommit): Promise<boolean> =>
      store.commit({ ...commit, fence: fenceOf(commit.next.sid, owner) }),
    logged: (sid: string, turn: number, owner: string, keep: boolean): Promise<void> =>
      store.logged(sid, turn, fenceOf(sid, owner), keep),
    async prune({ now: at, ...pruning }: { before: number; now: number; dryRun?: boolean }): Promise<readonly SessionSummary[]> {
      await set(at);
      return store.prune(pruning);
    },
  };
}
