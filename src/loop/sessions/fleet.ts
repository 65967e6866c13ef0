/** Open sessions of one kind, those that an `ask` opened apart. */
export interface CensusRow {
  /** `ready` for a host, `running` on one, or `waiting` for the answer to a call. */
  readonly state: 'ready' | 'running' | 'waiting';
  /** Whether they have a tenant. */
  readonly class: 'tenant' | 'none';
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

/** The hosts that serve a store. */
export interface HostRegistry {
  /** Says that a host lives, for `ms` milliseconds from now on. */
  beat(host: LivingHost, ms: number): Promise<void>;
  /** Forgets a host that ends. */
  leave(instance: string): Promise<void>;
  /** The hosts that live, by their owners. */
  list(): Promise<readonly LivingHost[]>;
}
