import {
  type Admission,
  type ClaimedSession,
  type Condition,
  type Held,
  type Lease,
  type ListQuery,
  type OnDamaged,
  type Pruning,
  type RecentQuery,
  type Renewal,
  type Runnable,
  type SessionSetup,
  type SessionState,
  type SessionStore,
  type SessionSummary,
  type StartedTurn,
  type StoredStep,
  StoreError,
  type TurnCommit,
  type TurnRecord,
  type TurnsQuery,
} from '../../loop/index.ts';
import type { Fault } from './faults.ts';
import type { Process } from './process.ts';
import { type Actor, acting } from './timeline.ts';
import type { Watch } from './watch.ts';

const READING: readonly Fault[] = ['refused', 'lost', 'slow', 'dies-before', 'dies-after'];
const WRITING: readonly Fault[] = [...READING, 'twice'];

/** The store of a world, as one process reaches it. */
export class RemoteStore implements SessionStore {
  readonly #process: Process;
  readonly #server: Actor;
  readonly #store: SessionStore;
  readonly #watch: Watch;

  constructor(process: Process, server: Actor, store: SessionStore, watch: Watch) {
    this.#process = process;
    this.#server = server;
    this.#store = store;
    this.#watch = watch;
  }

  #ask<T>(kind: string, work: () => Promise<T>): Promise<T> {
    return this.#process.send(kind, this.#server, { faults: READING, work });
  }

  /** `saw` reports the effects of the store to the watch. */
  #write<T>(kind: string, work: () => Promise<T>, saw: (result: T) => void): Promise<T> {
    const effect = async (): Promise<T> => {
      if (this.#process.isFull) throw new StoreError('io', 'the disk of the store is full');
      const result = await work();
      saw(result);
      return result;
    };
    return this.#process.send(kind, this.#server, { faults: WRITING, work: effect });
  }

  create(state: SessionState, at: number, setup?: SessionSetup, admission?: Admission): Promise<void> {
    return this.#ask(`${state.sid}.create`, () => this.#store.create(state, at, setup, admission));
  }

  read(sid: string): Promise<SessionState | null> {
    return this.#ask(`${sid}.read`, () => this.#store.read(sid));
  }

  claim(sid: string, lease: Lease): Promise<ClaimedSession> {
    return this.#write(
      `${sid}.claim`,
      () => this.#store.claim(sid, lease),
      (claimed) => this.#watch.claimed(this.#process, claimed, lease),
    );
  }

  next(lease: Lease, most: number, runnable: Runnable): Promise<readonly ClaimedSession[]> {
    return this.#write(
      'next',
      () => this.#store.next(lease, most, runnable),
      (found) => {
        for (const claimed of found) this.#watch.claimed(this.#process, claimed, lease);
      },
    );
  }

  onReady(wake: () => void): () => void {
    // The store notices changes after a delay.
    return acting.run(this.#server, () => this.#store.onReady(() => void this.#process.timeline.after(1, this.#process, wake)));
  }

  renew(held: readonly Held[], ms: number): Promise<readonly Renewal[]> {
    return this.#write(
      'renew',
      () => this.#store.renew(held, ms),
      (renewals) => this.#watch.renewed(held, renewals, ms),
    );
  }

  release(sid: string, fence: number): Promise<void> {
    return this.#write(
      `${sid}.release`,
      () => this.#store.release(sid, fence),
      () => this.#watch.released(sid, fence),
    );
  }

  start(turn: StartedTurn, fence: number): Promise<boolean> {
    return this.#write(
      `${turn.sid}.start`,
      () => this.#store.start(turn, fence),
      () => this.#watch.started(turn, fence),
    );
  }

  keep(sid: string, step: StoredStep, fence: number): Promise<void> {
    return this.#write(
      `${sid}.keep`,
      () => this.#store.keep(sid, step, fence),
      () => this.#watch.kept(sid, step, fence),
    );
  }

  withdraw(sid: string, fence: number): Promise<void> {
    return this.#write(
      `${sid}.withdraw`,
      () => this.#store.withdraw(sid, fence),
      () => this.#watch.wrote(sid, fence, 'withdrew a turn'),
    );
  }

  commit(commit: TurnCommit): Promise<boolean> {
    return this.#write(
      `${commit.next.sid}.commit`,
      () => this.#store.commit(commit),
      () => this.#watch.committed(commit),
    );
  }

  logged(sid: string, turn: number, fence: number, keep: boolean): Promise<void> {
    return this.#write(
      `${sid}.logged`,
      () => this.#store.logged(sid, turn, fence, keep),
      () => this.#watch.markedLogged(sid, fence, keep),
    );
  }

  cancel(sid: string): Promise<boolean> {
    return this.#ask(`${sid}.cancel`, () => this.#store.cancel(sid));
  }

  turns(sid: string, onDamaged?: OnDamaged, query?: TurnsQuery): Promise<readonly TurnRecord[]> {
    return this.#ask(`${sid}.turns`, () => this.#store.turns(sid, onDamaged, query));
  }

  list(query?: ListQuery): Promise<readonly SessionSummary[]> {
    return this.#ask('list', () => this.#store.list(query));
  }

  recent(query: RecentQuery): Promise<readonly SessionSummary[]> {
    return this.#ask('recent', () => this.#store.recent(query));
  }

  summary(sid: string): Promise<SessionSummary | null> {
    return this.#ask(`${sid}.summary`, () => this.#store.summary(sid));
  }

  find(condition: Condition, limit: number): Promise<readonly string[]> {
    return this.#ask('find', () => this.#store.find(condition, limit));
  }

  prune(pruning: Pruning): Promise<readonly SessionSummary[]> {
    return this.#ask('prune', () => this.#store.prune(pruning));
  }
}
