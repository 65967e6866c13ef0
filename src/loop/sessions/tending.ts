import type { StoreError } from '../../sqlite/error.ts';
import type { Clock } from '../clock.ts';
import type { LogEntry } from '../log/log.ts';
import type { HaltReason } from '../record/decision.ts';
import type { TurnRecord } from '../record/record.ts';
import { type ForcedEnd, isDamage } from './damaged.ts';
import { SessionLeasedError } from './errors.ts';
import type { DrivenSession, Holding, Leases } from './lease.ts';
import type { SessionCondition, SessionStore } from './store.ts';
import type { SessionWork } from './work.ts';

/** Sessions that a search for owed or orphaned ones reads at a time. */
const PAGE = 500;

/** Most sessions that {@link Tending.recover} resolves with. */
const MOST_OPEN = 10_000;

/** Called with the problem of a damaged session. */
export type OnDamage = (error: StoreError, sid: string) => void;

export interface TendingInit {
  readonly store: SessionStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly leases: Pick<Leases, 'lease' | 'end' | 'cancel'>;
  /** Where the entry of an end goes. */
  readonly logKind: ForcedEnd['log'];
  /** Logs the entries that a claimed session owes to the log. */
  readonly pay: (owed: readonly LogEntry[], holding: Holding) => Promise<void>;
  /** How a session is claimed, ended and given back. */
  readonly sessions: {
    readonly work: SessionWork;
    claim(sid: string): Promise<DrivenSession>;
    halt(claimed: DrivenSession, reason: HaltReason): Promise<TurnRecord | null>;
    release(claimed: DrivenSession): Promise<void>;
  };
}

/** Does what is left to do for sessions that no process drives: logs what dead processes did not log, and ends what nobody will end. */
export class Tending {
  readonly #init: TendingInit;

  constructor(init: TendingInit) {
    this.#init = init;
  }

  /** As `SessionCoordinator.cancel` says. */
  async cancel(sid: string, onDamaged: OnDamage = () => {}): Promise<boolean> {
    const { store, leases } = this.#init;
    if (!(await store.cancel(sid))) return false;
    // A turn of this process ends it now; that of another process does when it renews its lease.
    leases.cancel(sid);
    try {
      await this.#end(sid, 'ERR_CANCELLED');
    } catch (error) {
      if (!isDamage(error)) throw error;
      using _alone = await this.#init.sessions.work.alone(sid);
      if (!(await this.#endDamaged(sid))) throw error;
      onDamaged(error, sid);
    }
    return true;
  }

  /** Ends a session that cannot be read, and logs what it owes to the log. False for a session that can be read. */
  async #endDamaged(sid: string): Promise<boolean> {
    const { store, clock, leases, logKind, pay } = this.#init;
    const until = leases.end();
    const end = { reason: 'ERR_CANCELLED', at: clock.now(), log: logKind } as const;
    const damaged = (await store.endDamaged?.(sid, leases.lease, end)) ?? null;
    if (damaged === null) return false;
    const { fence, unlogged } = damaged;
    await pay(unlogged, { sid, fence, until });
    await store.release(sid, fence);
    return true;
  }

  /** As `SessionCoordinator.recover` says. */
  async recover(drives: (sid: string) => boolean = () => false): Promise<readonly string[]> {
    const { store, leases, sessions } = this.#init;
    const taken = await this.tend(drives);
    const open = await store.find({ kind: 'ready', owner: leases.lease.owner }, MOST_OPEN);
    return open.filter((sid) => !drives(sid) && !sessions.work.hasTurn(sid) && !taken.has(sid)).sort();
  }

  /** As `SessionCoordinator.tend` says. */
  async tend(drives: (sid: string) => boolean = () => false, onDamaged: OnDamage = () => {}): Promise<ReadonlySet<string>> {
    const free = (sid: string): boolean => !drives(sid) && !this.#init.sessions.work.hasTurn(sid);
    const taken = new Set<string>();
    /** A damaged session must not keep the others from being logged. */
    const passBy = (error: unknown, sid: string): void => {
      if (!isDamage(error)) throw error;
      taken.add(sid);
      onDamaged(error, sid);
    };
    for await (const sid of this.#each((after) => ({ kind: 'owing', after })))
      if (free(sid) && !(await this.#logUnlogged(sid).catch((error) => passBy(error, sid)))) taken.add(sid);
    // A nested session has no lease between two of its turns, although its driver is alive.
    const idleMs = this.#init.leases.lease.ms;
    for await (const sid of this.#each((after) => ({ kind: 'orphaned', after, idleMs })))
      if (free(sid)) await this.#end(sid, 'ERR_INTERRUPTED').catch((error) => passBy(error, sid));
    return taken;
  }

  /** The ids of all sessions in a condition, page by page. */
  async *#each(condition: (after: string) => SessionCondition): AsyncGenerator<string> {
    for (let after = ''; ; ) {
      const page = await this.#init.store.find(condition(after), PAGE);
      yield* page;
      after = page.at(-1) ?? after;
      if (page.length < PAGE) return;
    }
  }

  /** Claims and releases a session, which logs its unlogged decisions. False while another process drives the session. */
  async #logUnlogged(sid: string): Promise<boolean> {
    const { sessions } = this.#init;
    try {
      using _alone = await sessions.work.alone(sid);
      try {
        await sessions.release(await sessions.claim(sid));
        return true;
      } catch (error) {
        // A process died after it had ended the session and before it logged the end.
        if (isDamage(error) && (await this.#init.store.summary(sid))?.status !== 'open') await this.#endDamaged(sid);
        throw error;
      }
    } catch (error) {
      if (error instanceof SessionLeasedError) return false;
      throw error;
    }
  }

  /** Halts a session if it is open and no other process drives it. */
  async #end(sid: string, reason: HaltReason): Promise<void> {
    const { sessions } = this.#init;
    try {
      using _alone = await sessions.work.alone(sid);
      const claimed = await sessions.claim(sid);
      if (claimed.state.status === 'open') await sessions.halt(claimed, reason);
      else await sessions.release(claimed);
    } catch (error) {
      if (!(error instanceof SessionLeasedError)) throw error;
    }
  }
}
