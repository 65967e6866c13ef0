import type { PoolLoad } from '../sandbox/index.ts';
import type { RuntimeContext } from './context.ts';

/** The worker processes and runs of a runtime at one moment. */
export interface RuntimeStats extends PoolLoad {
  /** Workers that the host killed for a breach of their boundary. */
  readonly boundaryBreaches: number;
  /** Number of remembered tenants. */
  readonly tenants: number;
  /** Runs of tenants that were refused, see `TenantReport`. */
  readonly tenantRefusals: number;
  /** Further tries of calls whose tool was away. */
  readonly toolRetries: number;
}

const NO_LOAD: PoolLoad = { workers: 0, idle: 0, computing: 0, waitingForHost: 0, queued: 0, rssBytes: 0, cpuMs: 0 };

/** What a runtime does now, and has counted. */
export function statsOf({ sandbox, tenants, retries }: Pick<RuntimeContext, 'sandbox' | 'tenants' | 'retries'>): RuntimeStats {
  return {
    ...NO_LOAD,
    ...sandbox.load?.(),
    boundaryBreaches: sandbox.boundaryBreaches ?? 0,
    tenants: tenants.size,
    tenantRefusals: tenants.refused,
    toolRetries: retries.count,
  };
}
