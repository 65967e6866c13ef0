import type { Row, SqliteFile } from '../../sqlite/file.ts';
import type { LogEntry } from '../log/log.ts';
import type { SqliteLog } from '../log/sqlitelog.ts';
import { eraseRecord, eraseState } from '../record/erase.ts';
import { forcedEnd, hasEnded, owedEntries, statusOf, unlessDamaged } from './columns.ts';
import type { ForcedEnd } from './damaged.ts';
import { SessionStateError } from './errors.ts';
import { readRecord, readState } from './rows.ts';

/** Ends a session that cannot be read, unless it has ended, and returns what it owes to the log. Must run within a transaction. */
export function endUnread(file: SqliteFile, log: SqliteLog, row: Row, end: ForcedEnd): readonly LogEntry[] {
  const sid = String(row['sid']);
  if (!hasEnded(row)) {
    const { turns } = file.get('SELECT max(turn) AS turns FROM turns WHERE sid = ?', sid) ?? {};
    const { status, reason, nextTurn, state, entry } = forcedEnd(row, Number(turns ?? 0), end);
    file.run(
      `UPDATE sessions SET status = ?, reason = ?, next_turn = ?, state = ?, updated_at = ?, end_owed = ?, waits_until = NULL
       WHERE sid = ?`,
      ...[status, reason, nextTurn, state, Math.floor(end.at), end.log === 'owed' ? 1 : 0, sid],
    );
    if (end.log === 'own') log.add(entry);
  }
  const owed = file.all('SELECT turn, record FROM turns WHERE sid = ? AND owed = 1 ORDER BY turn', sid);
  return owedEntries(file.get('SELECT * FROM sessions WHERE sid = ?', sid) ?? row, owed);
}

/** Erases the content of an ended session. Must run within a transaction. Throws {@link SessionStateError} for an open session. */
export function eraseRow(file: SqliteFile, row: Row): void {
  const sid = String(row['sid']);
  if (statusOf(row['status']) === 'open') throw new SessionStateError(sid, 'open');
  for (const { turn, record } of file.all('SELECT turn, record FROM turns WHERE sid = ?', sid)) {
    const bare = unlessDamaged(() => eraseRecord(readRecord(record)));
    file.run('UPDATE turns SET record = ?, digest = NULL WHERE sid = ? AND turn = ?', bare, sid, turn ?? null);
  }
  const state = unlessDamaged(() => eraseState(readState(row['state'], sid)));
  file.run('UPDATE sessions SET state = ? WHERE sid = ?', state, sid);
  for (const table of ['started', 'steps']) file.run(`DELETE FROM ${table} WHERE sid = ?`, sid);
}

/** Removes a session with all its data. Must run within a transaction. */
export function removeRow(file: SqliteFile, sid: string): void {
  for (const table of ['turns', 'used', 'steps', 'started', 'sessions']) file.run(`DELETE FROM ${table} WHERE sid = ?`, sid);
}
