import {
  type Columns,
  eraseRecord,
  eraseState,
  type ForcedEnd,
  forcedEnd,
  hasEnded,
  type LogEntry,
  leaseOf,
  owedEntries,
  type Pruning,
  readRecord,
  readState,
  SessionLeasedError,
  SessionStateError,
  type SessionSummary,
  statusOf,
  summaryOf,
  unlessDamaged,
} from '../loop/index.ts';
import type { PostgresQuery } from './clients.ts';
import { summariesSql } from './lists.ts';
import { dropPartitions, NOW } from './tables.ts';

/** Removes the sessions that `prune` of a store removes, within a transaction, and returns their summaries. */
export async function pruneSessions(
  query: PostgresQuery,
  schema: string,
  { before, dryRun = false }: Pruning,
): Promise<readonly SessionSummary[]> {
  const old = `status <> 'open' AND status IN ('done', 'aborted', 'halted') AND updated_at < $1 AND owed = 0 AND end_owed = 0 AND (lease_owner IS NULL OR lease_until <= ${NOW})`;
  const { rows } = await query(`${summariesSql(schema)} WHERE ${old} ORDER BY sid ${dryRun ? '' : 'FOR UPDATE'}`, [before]);
  const removed = rows.map((row) => summaryOf(row, Number(row['now'])));
  if (dryRun) return removed;
  const sids = [removed.map(({ sid }) => sid)];
  for (const table of ['sessions', 'steps']) await query(`DELETE FROM ${schema}.${table} WHERE sid = ANY ($1)`, sids);
  await dropPartitions(query, schema, before);
  await query(`DELETE FROM ${schema}.turns WHERE sid = ANY ($1)`, sids);
  return removed;
}

/**
 * Ends a claimed session that cannot be read, unless it has ended, within a transaction. Returns what it owes to the log. Throws
 * {@link SessionLeasedError} when the claim is not the last one.
 */
export async function endUnread(
  query: PostgresQuery,
  schema: string,
  sid: string,
  fence: number,
  end: ForcedEnd,
): Promise<readonly LogEntry[]> {
  const text = `SELECT * FROM ${schema}.sessions WHERE sid = $1 AND fence = $2 AND lease_owner IS NOT NULL FOR UPDATE`;
  const held = async (): Promise<Columns> => {
    const [row] = (await query(text, [sid, fence])).rows;
    if (row === undefined) throw new SessionLeasedError(sid, null);
    return row;
  };
  const row = await held();
  if (!hasEnded(row)) {
    const [last] = (await query(`SELECT max(turn) AS turns FROM ${schema}.turns WHERE sid = $1`, [sid])).rows;
    const { status, reason, nextTurn, state, entry } = forcedEnd(row, Number(last?.['turns'] ?? 0), end);
    await query(
      `UPDATE ${schema}.sessions SET status = $2, reason = $3, next_turn = $4, state = $5, updated_at = $6, end_owed = $7, waits_until = NULL
       WHERE sid = $1`,
      [sid, status, reason, nextTurn, state, Math.floor(end.at), end.log === 'owed' ? 1 : 0],
    );
    if (end.log === 'own')
      await query(`INSERT INTO ${schema}.decisions (sid, turn, text) VALUES ($1, $2, $3)`, [
        sid,
        nextTurn,
        JSON.stringify(entry),
      ]);
  }
  const owed = await query(`SELECT turn, record FROM ${schema}.turns WHERE sid = $1 AND owed = 1 ORDER BY turn`, [sid]);
  return owedEntries(await held(), owed.rows);
}

/** Erases the content of an ended session, within a transaction. Throws {@link SessionStateError} and {@link SessionLeasedError}. */
export async function eraseSession(query: PostgresQuery, schema: string, sid: string): Promise<void> {
  const { rows } = await query(`SELECT *, ${NOW} AS now FROM ${schema}.sessions WHERE sid = $1 FOR UPDATE`, [sid]);
  const [row] = rows;
  if (row === undefined) throw new SessionStateError(sid, 'unknown');
  const holder = leaseOf(row, Number(row['now']));
  if (holder !== null) throw new SessionLeasedError(sid, holder);
  if (statusOf(row['status']) === 'open') throw new SessionStateError(sid, 'open');
  const turns = await query(`SELECT turn, record FROM ${schema}.turns WHERE sid = $1`, [sid]);
  for (const { turn, record } of turns.rows) {
    const bare = unlessDamaged(() => eraseRecord(readRecord(record)));
    await query(`UPDATE ${schema}.turns SET record = $3, digest = NULL WHERE sid = $1 AND turn = $2`, [sid, turn, bare]);
  }
  const state = unlessDamaged(() => eraseState(readState(row['state'], sid)));
  await query(
    `UPDATE ${schema}.sessions SET state = $2, started = NULL, started_turn = NULL, started_nonce = NULL, waits = NULL WHERE sid = $1`,
    [sid, state],
  );
  await query(`DELETE FROM ${schema}.steps WHERE sid = $1`, [sid]);
}
