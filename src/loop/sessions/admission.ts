import type { SqlQuery } from '../../sqlite/sql.ts';
import { BusyError } from '../../wire/errors.ts';
import { grouped } from '../../wire/text/grouped.ts';
import type { Admission } from './setup.ts';
import type { Statements } from './statements.ts';

/** Milliseconds after which another try is worth it: sessions end in seconds to minutes. */
const RETRY_AFTER_MS = 5000;

/** Throws {@link BusyError} when no further session of a tenant may be open. Nobody else adds one until the transaction of `query` ends. */
export async function mustAdmit(
  query: SqlQuery,
  statements: Pick<Statements, 'open' | 'openOfTenant'>,
  tenant: string,
  admission: Admission,
): Promise<void> {
  const refuse = async (
    limit: 'openSessions' | 'tenantOpenSessions',
    allowed: number | undefined,
    whose: string,
  ): Promise<void> => {
    if (allowed === undefined) return;
    const rows = await (limit === 'openSessions'
      ? query(statements.open, allowed)
      : query(statements.openOfTenant, allowed, tenant));
    const used = Number(rows[0]?.['n']);
    if (used < allowed) return;
    const message = `${grouped(allowed)} sessions of ${whose} are open already; try again in ${RETRY_AFTER_MS / 1000} s`;
    throw new BusyError(message, { limit, allowed, used, retryAfterMs: RETRY_AFTER_MS });
  };
  await refuse('openSessions', admission.store, 'the store');
  await refuse('tenantOpenSessions', admission.tenant, tenant === '' ? 'no tenant' : `tenant ${JSON.stringify(tenant)}`);
}
