import type { Clock } from '../clock.ts';
import type { DecisionLog } from '../log/log.ts';
import type { SharedLock } from '../sharedlock.ts';
import type { SessionStore } from './store.ts';

/** Parts of a `SessionCoordinator`. */
export interface SessionCoordinatorInit {
  /** Holds the sessions. */
  readonly store: SessionStore;
  /** Receives every decision; null for no log. */
  readonly log: DecisionLog | null;
  /** Gives the times of records and entries. The store measures leases with its own clock. */
  readonly clock: Clock;
  /** Name of this process in leases; random when absent. Reuse a name only after its process has ended. */
  readonly owner?: string | undefined;
  /** Milliseconds after which others may take the sessions of a process that died; 15,000 when absent. */
  readonly leaseMs?: number | undefined;
  /** Seconds for which a used token id is remembered; 300 when absent. */
  readonly replayTtl?: number | undefined;
  /** The lock that the turns of this process hold; when absent, all coordinators of the process share one. */
  readonly turns?: SharedLock;
}
