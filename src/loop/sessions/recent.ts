import type { RecentQuery } from './store.ts';

/** The place of a session in the order of {@link SessionStore.recent}. */
type Place = NonNullable<RecentQuery['after']>;

/** Compares two places in this order: negative when `a` comes first. */
export function newestFirst(a: Place, b: Place): number {
  return b.updatedAt - a.updatedAt || (a.sid < b.sid ? 1 : a.sid > b.sid ? -1 : 0);
}

/** The SQL after `FROM sessions AS s` for {@link SessionStore.recent}, with its values; `marker` writes the n-th parameter, from 1. */
export function recentSql(
  { limit, after, status, reason, since, until }: RecentQuery,
  marker: (n: number) => string,
): readonly [string, ...(string | number)[]] {
  const values: (string | number)[] = [];
  const mark = (value: string | number): string => marker(values.push(value));
  const conditions = [
    ...(status === undefined ? [] : [`s.status = ${mark(status)}`]),
    ...(reason === undefined ? [] : [`s.reason = ${mark(reason)}`]),
    ...(since === undefined ? [] : [`s.updated_at >= ${mark(since)}`]),
    ...(until === undefined ? [] : [`s.updated_at < ${mark(until)}`]),
    ...(after === undefined ? [] : [`(s.updated_at, s.sid) < (${mark(after.updatedAt)}, ${mark(after.sid)})`]),
  ];
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')} `;
  return [`${where}ORDER BY s.updated_at DESC, s.sid DESC LIMIT ${mark(limit)}`, ...values];
}
