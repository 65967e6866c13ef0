import { once } from 'node:events';
import { type FleetExecutor, openFleetHost } from '../../bench/fleet.ts';
import { PostgresStore } from '../../src/postgres/index.ts';
import { pgPool } from '../../test/engines/kit.ts';

/** How a host process of `bench cluster` is started. */
export interface FleetPlan {
  readonly url: string;
  readonly schema: string;
  readonly owner: string;
  readonly executor: FleetExecutor;
  readonly logs: boolean;
}

/** What it tells its parent. It begins at any message of the parent, and drains at SIGTERM. */
export type FleetTold = 'ready' | 'ended';

const tell = (told: FleetTold): void => void process.send?.(told);

const { url, schema, logs, ...plan }: FleetPlan = JSON.parse(process.argv[2] ?? '');
await using resources = new AsyncDisposableStack();
const pool = await pgPool(url, { max: 10 });
resources.defer(() => pool.end());
const store = resources.use(await PostgresStore.open(pool, { schema }));
const host = await openFleetHost({ ...plan, store, log: logs ? store.log : null }, resources);
const stopped = once(process, 'SIGTERM');
const begun = once(process, 'message');
tell('ready');
await begun;
const failed = Promise.withResolvers<never>();
const stop = host('', { onEnded: () => tell('ended'), onError: failed.reject });
await Promise.race([stopped, failed.promise]);
await stop();
process.disconnect?.();
