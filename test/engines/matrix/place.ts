import { type SessionStore, SqliteStore } from '../../../src/loop/index.ts';
import { PostgresStore } from '../../../src/postgres/index.ts';
import { pgPool } from '../kit.ts';
import type { HostPlan } from './plan.ts';

/** Opens the store of a plan; it closes with `resources`. */
export async function openPlace(
  { place, schema }: Pick<HostPlan, 'place' | 'schema'>,
  resources: AsyncDisposableStack,
): Promise<SessionStore> {
  if (!place.startsWith('postgres')) return resources.use(await SqliteStore.open(place));
  const pool = await pgPool(place, { max: 4 });
  resources.defer(() => pool.end());
  return resources.use(await PostgresStore.open(pool, { schema }));
}
