import type { TurnCommit } from '../loop/index.ts';
import { NOW } from './tables.ts';

/**
 * The statement that commits a turn, or the end of a session between two turns: the session, its turn, its steps and its decision in
 * one. It gives no row when the lease is lost, when the turn was not started, or when the commit of this stamp was done before.
 */
export function commitSql(schema: string): string {
  return `WITH held AS (
       UPDATE ${schema}.sessions SET stamp = $1, status = $4, reason = $5, next_turn = $6, state = $7, updated_at = $8,
         started = NULL, started_turn = NULL, started_nonce = NULL, waits = NULL, waits_until = NULL,
         used = CASE WHEN $9 THEN '[]' ELSE (
           SELECT coalesce(json_agg(one), '[]')::text FROM (
             SELECT one FROM json_array_elements(used::json) AS one WHERE (one ->> 'second')::bigint >= $10
             UNION ALL SELECT one FROM json_array_elements($11::text::json) AS one
           ) AS kept) END,
         owed = owed + $12, end_owed = greatest(end_owed, $13::smallint),
         lease_owner = CASE WHEN $14 THEN lease_owner END, lease_until = CASE WHEN $14 THEN lease_until END,
         idle_since = CASE WHEN $14 THEN idle_since ELSE ${NOW} END
       WHERE sid = $2 AND fence = $3 AND lease_owner IS NOT NULL AND stamp IS DISTINCT FROM $1
         AND ($15::bigint IS NULL OR (next_turn = $15 AND started_turn = $15)) RETURNING sid
     ), turn AS (
       INSERT INTO ${schema}.turns (sid, turn, decision, nonce, digest, record, owed)
       SELECT sid, $15, $16, $17, $18, $19, $12 FROM held WHERE $15::bigint IS NOT NULL
     ), gone AS (
       DELETE FROM ${schema}.steps USING held WHERE steps.sid = held.sid
     ), logged AS (
       INSERT INTO ${schema}.decisions (sid, turn, text) SELECT sid, $20, $21 FROM held WHERE $21::text IS NOT NULL
     ) SELECT 1 FROM held`;
}

/** The values of {@link commitSql}. */
export function commitValues(
  { fence, record, next, used, usedSince, unlogged, entry, at, keep }: TurnCommit,
  stamp: string,
): readonly unknown[] {
  const ended = next.status !== 'open';
  return [
    ...[stamp, next.sid, fence, next.status, next.reason, next.nextTurn, JSON.stringify(next), Math.floor(at)],
    ...[ended, usedSince, JSON.stringify(used), unlogged && record !== null ? 1 : 0, unlogged && record === null ? 1 : 0, keep],
    ...(record === null
      ? [null, null, null, null, null]
      : [record.turn, record.decision, record.inputs.nonce, record.digest, JSON.stringify(record)]),
    ...[entry?.turn_index ?? null, entry === null ? null : JSON.stringify(entry)],
  ];
}
