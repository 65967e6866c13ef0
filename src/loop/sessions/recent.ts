import type { RecentQuery } from './store.ts';

const WITH = { waiting: 's.waits', leased: 's.lease_owner' } as const;

/** The SQL after `FROM sessions AS s` for {@link SessionStore.recent}, with its values. */
export function recentSql({
  limit,
  after,
  status,
  open,
  reason,
  tenant,
  since,
  until,
}: RecentQuery): readonly [string, ...(string | number)[]] {
  const values: (string | number)[] = [];
  const mark = (value: string | number): string => `$${values.push(value)}`;
  const conditions = [
    ...(status === undefined ? [] : [`s.status = ${mark(status)}`]),
    ...(open === undefined ? [] : [`s.status = 'open' AND ${WITH[open]} IS NOT NULL`]),
    ...(reason === undefined ? [] : [`s.reason = ${mark(reason)}`]),
    ...(tenant === undefined ? [] : [`s.tenant = ${mark(tenant)}`]),
    ...(since === undefined ? [] : [`s.updated_at >= ${mark(since)}`]),
    ...(until === undefined ? [] : [`s.updated_at < ${mark(until)}`]),
    ...(after === undefined ? [] : [`(s.updated_at, s.sid) < (${mark(after.updatedAt)}, ${mark(after.sid)})`]),
  ];
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')} `;
  return [`${where}ORDER BY s.updated_at DESC, s.sid DESC LIMIT ${mark(limit)}`, ...values];
}
