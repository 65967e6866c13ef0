import type { Row, SqlQuery } from '../../sqlite/sql.ts';
import type { LogEntry } from '../log/log.ts';
import { eraseRecord, eraseState } from '../record/erase.ts';
import { forcedEnd, hasEnded, leaseOf, owedEntries, statusOf, summaryOf, unlessDamaged } from './columns.ts';
import type { ForcedEnd } from './damaged.ts';
import type { SessionsEngine } from './engine.ts';
import { SessionLeasedError, SessionStateError } from './errors.ts';
import { readRecord, readState } from './rows.ts';
import type { Statements } from './statements.ts';
import type { Held, Pruning, SessionSummary } from './store.ts';

/**
 * Ends a claimed session that cannot be read, unless it has ended, within a transaction. Returns what it owes to the log. Throws
 * {@link SessionLeasedError} when the claim is not the last one.
 */
export async function endUnread(
  query: SqlQuery,
  statements: Statements,
  { sid, fence }: Held,
  end: ForcedEnd,
): Promise<readonly LogEntry[]> {
  const held = async (): Promise<Row> => {
    const [row] = await query(statements.held, sid, fence);
    if (row === undefined) throw new SessionLeasedError(sid, null);
    return row;
  };
  const row = await held();
  if (!hasEnded(row)) {
    const [last] = await query(statements.lastTurn, sid);
    const { status, reason, nextTurn, state, entry } = forcedEnd(row, Number(last?.['turns'] ?? 0), end);
    const owed = end.log === 'owed' ? 1 : 0;
    await query(statements.end, sid, status, reason, nextTurn, state, Math.floor(end.at), owed);
    if (end.log === 'own') await query(statements.append, sid, nextTurn, JSON.stringify(entry));
  }
  return owedEntries(await held(), await query(statements.owedTurns, sid));
}

/** Erases the content of an ended session, within a transaction. Throws {@link SessionStateError} and {@link SessionLeasedError}. */
export async function eraseRow(query: SqlQuery, statements: Statements, sid: string): Promise<void> {
  const [row] = await query(statements.sessionToChange, sid);
  if (row === undefined) throw new SessionStateError(sid, 'unknown');
  const holder = leaseOf(row, Number(row['now']));
  if (holder !== null) throw new SessionLeasedError(sid, holder);
  if (statusOf(row['status']) === 'open') throw new SessionStateError(sid, 'open');
  for (const { turn, record } of await query(statements.records, sid))
    await query(
      statements.eraseTurn,
      sid,
      turn,
      unlessDamaged(() => eraseRecord(readRecord(record))),
    );
  const state = unlessDamaged(() => eraseState(readState(row['state'], sid)));
  await query(statements.eraseSession, sid, state);
  await query(statements.eraseSteps, sid);
}

/** Removes the sessions that `prune` of a store removes, within a transaction, and returns their summaries. */
export async function pruneRows(
  query: SqlQuery,
  engine: SessionsEngine,
  statements: Statements,
  { before, dryRun = false }: Pruning,
): Promise<readonly SessionSummary[]> {
  const rows = await query(`${statements.old} ${dryRun ? '' : engine.sql.dialect.lock.update}`, before);
  const removed = rows.map((row) => summaryOf(row, Number(row['now'])));
  if (dryRun) return removed;
  const sids = JSON.stringify(removed.map(({ sid }) => ({ sid })));
  for (const text of statements.removeSessions) await query(text, sids);
  await engine.pruning(query, before);
  await query(statements.removeTurns, sids);
  return removed;
}
