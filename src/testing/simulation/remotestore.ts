import { MemoryStore, type SessionStore, StoreError } from '../../loop/index.ts';
import type { Fault } from './faults.ts';
import type { Process } from './process.ts';
import { type Actor, acting } from './timeline.ts';
import type { Watch } from './watch.ts';

const READING: readonly Fault[] = ['refused', 'lost', 'slow', 'dies-before', 'dies-after'];
const WRITING: readonly Fault[] = [...READING, 'twice'];

/** The store of a world, as one process reaches it. */
export function remoteStore(process: Process, server: Actor, store: SessionStore, watch: Watch): SessionStore {
  const ask = <T>(kind: string, work: () => Promise<T>): Promise<T> => process.send(kind, server, { faults: READING, work });
  /** `saw` reports the effects of the store to the watch. */
  const write = <T>(kind: string, work: () => Promise<T>, saw: (result: T) => void): Promise<T> => {
    const effect = async (): Promise<T> => {
      if (process.isFull) throw new StoreError('io', 'the disk of the store is full');
      const result = await work();
      saw(result);
      return result;
    };
    return process.send(kind, server, { faults: WRITING, work: effect });
  };
  return {
    create: (state, ...more) => ask(`${state.sid}.create`, () => store.create(state, ...more)),
    read: (sid) => ask(`${sid}.read`, () => store.read(sid)),
    claim: (sid, lease) =>
      write(
        `${sid}.claim`,
        () => store.claim(sid, lease),
        (claimed) => watch.claimed(process, claimed, lease),
      ),
    next: (lease, ...more) =>
      write(
        'next',
        () => store.next(lease, ...more),
        (found) => {
          for (const claimed of found) watch.claimed(process, claimed, lease);
        },
      ),
    // The store notices changes after a delay.
    onReady: (wake) => acting.run(server, () => store.onReady(() => void process.timeline.after(1, process, wake))),
    renew: (held, ms) =>
      write(
        'renew',
        () => store.renew(held, ms),
        (renewals) => watch.renewed(held, renewals, ms),
      ),
    release: (sid, fence) =>
      write(
        `${sid}.release`,
        () => store.release(sid, fence),
        () => watch.released(sid, fence),
      ),
    start: (turn, fence) =>
      write(
        `${turn.sid}.start`,
        () => store.start(turn, fence),
        () => watch.started(turn, fence),
      ),
    keep: (sid, step, fence) =>
      write(
        `${sid}.keep`,
        () => store.keep(sid, step, fence),
        () => watch.kept(sid, step, fence),
      ),
    withdraw: (sid, fence) =>
      write(
        `${sid}.withdraw`,
        () => store.withdraw(sid, fence),
        () => watch.wrote(sid, fence, 'withdrew a turn'),
      ),
    commit: (commit) =>
      write(
        `${commit.next.sid}.commit`,
        () => store.commit(commit),
        () => watch.committed(commit),
      ),
    logged: (sid, turn, fence, keep) =>
      write(
        `${sid}.logged`,
        () => store.logged(sid, turn, fence, keep),
        () => watch.markedLogged(sid, fence, keep),
      ),
    cancel: (sid) => ask(`${sid}.cancel`, () => store.cancel(sid)),
    turns: (sid, ...more) => ask(`${sid}.turns`, () => store.turns(sid, ...more)),
    list: (query) => ask('list', () => store.list(query)),
    recent: (query) => ask('recent', () => store.recent(query)),
    summary: (sid) => ask(`${sid}.summary`, () => store.summary(sid)),
    find: (...condition) => ask('find', () => store.find(...condition)),
    prune: (pruning) => ask('prune', () => store.prune(pruning)),
  };
}

/** One store for many worlds, one after the other: to empty it takes less time than to make another database and its statements. */
export class EmptyStore {
  #server: Actor | null = null;
  readonly #store = new MemoryStore({ clock: { now: () => this.#server?.now() ?? 0 } });

  /** The store without sessions, on a machine of a new world. */
  on(server: Actor): SessionStore {
    this.#server = server;
    this.#store.clear();
    return this.#store;
  }
}
