import { type Lease, READER, READY, type Runnable } from '../loop/index.ts';
import { NOW } from './database.ts';

/**
 * Claims sessions that are ready. $1: owner, $2: length of the lease, $3: most, $4: profiles, $5: reader, $6: the tenant that was served last,
 * $7: tenants to leave out. Each tenant is found by one probe of the index, beginning after the one that was served last.
 */
export function nextSql(schema: string): string {
  const sessions = `${schema}.sessions`;
  const lane = `${READY} AND profile = lane.profile AND reader = lane.reader`;
  const tenantAfter = (comparison: string): string =>
    `(SELECT min(one.tenant) FROM lanes AS lane CROSS JOIN LATERAL
       (SELECT tenant FROM ${sessions} WHERE ${lane} AND tenant ${comparison} ORDER BY tenant LIMIT 1) AS one)`;
  const walk = (name: string, begin: string): string =>
    `${name} (tenant, n) AS (SELECT ${tenantAfter(begin)}, 1
       UNION ALL SELECT ${tenantAfter(`> ${name}.tenant`)}, n + 1 FROM ${name} WHERE tenant IS NOT NULL AND n < $3::integer + cardinality($7::text[]))`;
  return `WITH RECURSIVE lanes AS (
      SELECT profile COLLATE "C" AS profile, reader FROM unnest($4::text[]) AS profile CROSS JOIN generate_series(1, $5::integer) AS reader
    ), ${walk('ahead', '> $6::text COLLATE "C"')}, ${walk('behind', `>= ''`)},
    tenants AS (
      SELECT tenant, 0 AS part FROM ahead WHERE tenant IS NOT NULL
      UNION ALL SELECT tenant, 1 FROM behind WHERE tenant <= $6::text COLLATE "C"
    ), served AS (
      SELECT tenant, part FROM tenants WHERE tenant <> ALL ($7::text[]) ORDER BY part, tenant LIMIT $3::integer
    ), picked AS (
      SELECT pick.sid, served.part, served.tenant, row_number() OVER (PARTITION BY served.tenant ORDER BY pick.idle_since, pick.sid) AS round
      FROM served CROSS JOIN LATERAL (
        SELECT own.sid, own.idle_since FROM lanes AS lane CROSS JOIN LATERAL (
          SELECT sid, idle_since FROM ${sessions} WHERE ${lane} AND tenant = served.tenant ORDER BY idle_since, sid
          LIMIT (SELECT ceil($3::numeric / count(*))::bigint FROM served) FOR UPDATE SKIP LOCKED
        ) AS own
      ) AS pick
    ), chosen AS (
      SELECT sid, part, tenant, round FROM picked ORDER BY round, part, tenant LIMIT $3::integer
    )
    UPDATE ${sessions} AS s SET fence = fence + 1, lease_owner = $1, lease_until = ${NOW} + $2::bigint
    FROM chosen WHERE s.sid = chosen.sid RETURNING s.*, chosen.part AS part, chosen.round AS round`;
}

/** The values of {@link nextSql}. */
export function nextValues(
  lease: Lease,
  most: number,
  { profiles, reader = READER, without = [] }: Runnable,
  served: string,
): readonly unknown[] {
  return [lease.owner, Math.floor(lease.ms), most, profiles, reader, served, without];
}
