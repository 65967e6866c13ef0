import { readSqlite, type SqliteReader, type SqliteReading } from '../../sqlite/reader.ts';
import { SESSIONS, shownStatus } from './tables.ts';

/** Counts of a store of sessions, without the content of its sessions. */
export interface StoreStatistics {
  /** All sessions. */
  readonly sessions: number;
  /** Sessions by their status; an open one is `waiting`, `running` or `open`. */
  readonly statuses: Readonly<Record<string, number>>;
  /** All decided turns. */
  readonly turns: number;
  /** Turns by their decision. */
  readonly decisions: Readonly<Record<string, number>>;
  /** Turns without a decision: they run, they wait, or their process died. */
  readonly started: number;
  /** Unix milliseconds of the first session; null for an empty store. */
  readonly createdAt: number | null;
  /** Unix milliseconds of the last change; null for an empty store. */
  readonly updatedAt: number | null;
  /** The sessions that changed last, newest first. */
  readonly latest: readonly CountedSession[];
}

export interface CountedSession {
  readonly sid: string;
  /** That of an open session is `waiting`, `running` or `open`. */
  readonly status: string;
  readonly reason: string | null;
  /** Decided turns. */
  readonly turns: number;
  /** Unix milliseconds. */
  readonly updatedAt: number;
}

const STATUS = shownStatus("unixepoch('subsec') * 1000");
/** Most sessions that the statistics name. */
const LATEST = 20;

/**
 * Reads the statistics of a store of sessions without changing the file. It reads few
 * columns, so it also works for newer forms that still have them. Null for a file that is not a store of sessions. Throws
 * `StoreError`: `foreign` for a file that is not SQLite, `damaged` for one that cannot be opened, `busy`, `io`.
 */
export function storeStatistics(path: string): Promise<SqliteReading<StoreStatistics> | null> {
  return readSqlite(path, SESSIONS, ['sessions', 'turns'], statistics);
}

function statistics(reader: SqliteReader): StoreStatistics {
  const [all] = reader.all('SELECT count(*) AS n, min(created_at) AS since, max(updated_at) AS last FROM sessions');
  const latest = reader.all(
    `SELECT substr(sid, 1, 300) AS sid, ${STATUS} AS word, reason, next_turn, updated_at FROM sessions
     ORDER BY updated_at DESC, sid LIMIT ?`,
    LATEST,
  );
  const decisions = counts(reader, 'SELECT decision AS word, count(*) AS n FROM turns GROUP BY decision LIMIT 10');
  return {
    sessions: Number(all?.['n']),
    statuses: counts(reader, `SELECT ${STATUS} AS word, count(*) AS n FROM sessions GROUP BY word LIMIT 10`),
    turns: Object.values(decisions).reduce((sum, each) => sum + each, 0),
    decisions,
    started: Number(reader.all('SELECT count(*) AS n FROM sessions WHERE started_turn IS NOT NULL')[0]?.['n']),
    createdAt: numberOr(all?.['since']),
    updatedAt: numberOr(all?.['last']),
    latest: latest.map(({ sid, word, reason, next_turn, updated_at }) => ({
      sid: String(sid),
      status: String(word),
      reason: reason === null ? null : String(reason),
      turns: Number(next_turn) - 1,
      updatedAt: Number(updated_at),
    })),
  };
}

function counts(reader: SqliteReader, sql: string): Readonly<Record<string, number>> {
  return Object.fromEntries(reader.all(sql).map(({ word, n }) => [String(word), Number(n)]));
}

function numberOr(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
