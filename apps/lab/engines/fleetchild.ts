import { once } from 'node:events';
import type { FleetExecutor, FleetHostInit } from '../../../bench/fleet.ts';
import { PostgresStore } from '../../../src/postgres/index.ts';
import { pgPool } from '../../../test/engines/kit.ts';

/** How a process of `bench cluster` is started. */
export interface FleetPlan {
  readonly url: string;
  readonly schema: string;
  readonly owner: string;
  readonly executor: FleetExecutor;
  readonly logs: boolean;
  readonly inFlight: number;
}

/** What it tells its parent. It ends in order at SIGTERM. */
export type FleetTold =
  | { readonly kind: 'ready'; readonly port: number }
  | { readonly kind: 'ended' }
  | { readonly kind: 'failed'; readonly message: string };

export const tell = (told: FleetTold): void => void process.send?.(told);
export const tellFailed = (error: unknown): void => tell({ kind: 'failed', message: String(error) });

/** The plan of this process. */
export const plan: FleetPlan = JSON.parse(process.argv[2] ?? '');

/** Resolves at SIGTERM. */
export const stopped: Promise<unknown> = once(process, 'SIGTERM');

/** Opens the store of the plan. It closes with `resources`. */
export async function openPlan(resources: AsyncDisposableStack): Promise<FleetHostInit> {
  const pool = await pgPool(plan.url, { max: 10 });
  resources.defer(() => pool.end());
  const store = resources.use(await PostgresStore.open(pool, { schema: plan.schema }));
  return { store, log: plan.logs ? store.log : null, executor: plan.executor, owner: plan.owner, inFlight: plan.inFlight };
}
