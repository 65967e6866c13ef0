/** Open sessions of one kind, those that an `ask` opened apart. */
export interface CensusRow {
  /** `ready` for a host, `running` on one, or `waiting` for the answer to a call. */
  readonly state: 'ready' | 'running' | 'waiting';
  /** Whether they have a tenant. */
  readonly class: 'tenant' | 'none';
  /** How many there are. */
  readonly count: number;
  /** Unix milliseconds since which the first of them waits; null for others. */
  readonly since: number | null;
}

/** A host that lives, as it says of itself. */
export interface LivingHost {
  /** Different for every process, also for one with the owner of an earlier one. */
  readonly instance: string;
  /** Its name in leases. */
  readonly owner: string;
  /** The keys that it knows. */
  readonly kids: readonly string[];
}

/** A host that has said within the last hour that it lives. */
export interface KnownHost extends LivingHost {
  /** Until when it said last that it lives, Unix milliseconds by the clock of the store. */
  readonly until: number;
  /** Whether that is still so. */
  readonly lives: boolean;
}

/** An attempt at a turn that has, or may have, ended its process. */
export interface Death {
  /** The process; null for one that lives and failed. */
  readonly instance: string | null;
  /** Until when the process said last that it lives, by the clock of the store; 0 if it never did. If it says so again, it lives. */
  readonly until: number;
}

/** The hosts that serve a store. */
export interface HostRegistry {
  /**
   * Says that a host lives, for `ms` milliseconds from now on, and that an earlier one with its owner does not. Tries once: rejects with
   * `StoreError` when the database does not answer or takes no write.
   */
  beat(host: LivingHost, ms: number): Promise<void>;
  /** Forgets a host that ends. */
  leave(instance: string): Promise<void>;
  /** The hosts that live, and those that did within the last hour and have not left, by their owners. */
  list(): Promise<readonly KnownHost[]>;
}
