import { StoreError } from '../../sqlite/error.ts';
import { type Row, SqliteFile, type SqliteFileOptions } from '../../sqlite/file.ts';
import { type Clock, systemClock } from '../clock.ts';
import { SqliteLog } from '../log/sqlitelog.ts';
import type { TurnRecord } from '../record/record.ts';
import { waitingOf } from '../record/suspension.ts';
import { claimedOf, leaseOf, recordsOf, setupOf, summaryOf } from './columns.ts';
import { type DamagedSession, type ForcedEnd, isDamage } from './damaged.ts';
import { endUnread, eraseRow, removeRow } from './ending.ts';
import { SessionExistsError, SessionLeasedError, SessionStateError } from './errors.ts';
import type { MemoryStoreOptions } from './memory.ts';
import { SqliteQueue } from './queue.ts';
import { recentSql } from './recent.ts';
import { readStarted, readState } from './rows.ts';
import { checkSetup, mustKnow, PLAIN_SETUP, type Runnable, type SessionSetup } from './setup.ts';
import {
  type ClaimedSession,
  type Condition,
  type ErasableStore,
  type Held,
  type Lease,
  type ListQuery,
  notStarted,
  type OnDamaged,
  type Pruning,
  type RecentQuery,
  type Renewal,
  type SessionState,
  type SessionSummary,
  type StartedTurn,
  type StoredStep,
  type TurnCommit,
  type TurnsQuery,
  waitsUntil,
} from './store.ts';
import { SESSIONS } from './tables.ts';

/** Options of opening a {@link SqliteStore}. */
export interface SqliteStoreOptions extends SqliteFileOptions, MemoryStoreOptions {}

/**
 * Keeps sessions in a file that several processes may use at once. Every call is one transaction in write-ahead mode: a process
 * that is killed at any moment leaves the session as it was before the call or as it is after the call.
 *
 * @example
 * ```ts
 * import { createRuntime } from 'neuroscript-runtime';
 * import { LoopController, SqliteStore } from 'neuroscript-runtime/loop';
 *
 * await using runtime = await createRuntime();
 * using store = await SqliteStore.open('sessions.db');
 * const controller = new LoopController({ runtime, store });
 * for (const sid of await controller.recover()) console.log(`${sid} can be resumed`);
 * ```
 */
export class SqliteStore implements ErasableStore, Disposable {
  readonly #file: SqliteFile;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #queue: SqliteQueue;
  /** The decision log in the same file. */
  readonly log: SqliteLog;

  private constructor(file: SqliteFile, clock: Pick<Clock, 'now'>) {
    this.#file = file;
    this.#clock = clock;
    this.#queue = new SqliteQueue(file);
    this.log = new SqliteLog(file);
  }

  /** Opens or creates the file. Throws {@link StoreError}: `foreign`, `damaged`, `newer`, `busy`, `io`. */
  static async open(path: string, { clock = systemClock, ...options }: SqliteStoreOptions = {}): Promise<SqliteStore> {
    return new SqliteStore(await SqliteFile.open(path, SESSIONS, options), clock);
  }

  async create(state: SessionState, at: number, setup: SessionSetup = PLAIN_SETUP): Promise<void> {
    checkSetup(setup);
    const { sid, parent } = state;
    const { tenant, profile, configuration, engine, reader } = setup;
    this.#file.write(() => {
      if (this.#file.get('SELECT 1 FROM sessions WHERE sid = ?', sid) !== undefined) throw new SessionExistsError(sid);
      this.#file.run(
        `INSERT INTO sessions (sid, status, reason, next_turn, state, created_at, updated_at,
         tenant, profile, configuration, engine, reader, nested, parent_sid, idle_since)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[sid, state.status, state.reason, state.nextTurn, JSON.stringify(state), Math.floor(at), Math.floor(at)],
        ...[tenant, profile, configuration === null ? null : JSON.stringify(configuration), engine, reader],
        ...[parent === null ? 0 : 1, parent?.sid ?? null, this.#now()],
      );
    });
    this.#queue.wake();
  }

  async read(sid: string): Promise<SessionState | null> {
    return this.#file.read(() => {
      const row = this.#file.get('SELECT state FROM sessions WHERE sid = ?', sid);
      return row === undefined ? null : readState(row['state'], sid);
    });
  }

  async claim(sid: string, { owner, ms }: Lease): Promise<ClaimedSession> {
    return this.#file.write(() => {
      const row = this.#free(sid, owner);
      mustKnow(sid, setupOf(row));
      return this.#claimed(row, { owner, ms });
    });
  }

  async next(lease: Lease, most: number, runnable: Runnable): Promise<readonly ClaimedSession[]> {
    return this.#file.write(() => {
      this.#queue.lapse(this.#now());
      const claimed: ClaimedSession[] = [];
      while (claimed.length < most) {
        const row = this.#queue.first(runnable);
        if (row === undefined) break;
        try {
          claimed.push(this.#claimed(row, lease));
        } catch (error) {
          if (!(error instanceof StoreError)) throw error;
          this.#queue.putAside(String(row['sid']));
        }
      }
      return claimed;
    });
  }

  onReady(wake: () => void): () => void {
    return this.#queue.onReady(wake);
  }

  async renew(held: readonly Held[], ms: number): Promise<readonly Renewal[]> {
    return this.#file.write(() => {
      const until = Math.floor(this.#clock.now() + ms);
      return held.map(({ sid, fence }) => {
        const renewed = this.#file.get(
          'UPDATE sessions SET lease_until = ? WHERE sid = ? AND fence = ? AND lease_owner IS NOT NULL RETURNING cancelled',
          ...[until, sid, fence],
        );
        return renewed === undefined ? 'lost' : renewed['cancelled'] === 1 ? 'cancelled' : 'held';
      });
    });
  }

  async release(sid: string, fence: number): Promise<void> {
    this.#file.write(() => this.#file.run(`${FREE} WHERE sid = ? AND fence = ?`, this.#now(), sid, fence));
    this.#queue.wake();
  }

  async start(turn: StartedTurn, fence: number): Promise<void> {
    const body = JSON.stringify(turn);
    this.#file.write(() => {
      const { status, next_turn } = this.#held(turn.sid, fence);
      if (status !== 'open' || next_turn !== turn.turn)
        throw new StoreError('order', `turn ${turn.turn} of session ${JSON.stringify(turn.sid)} is not the next`);
      const { nonce, suspended } = turn;
      const before = this.#file.get('SELECT body FROM started WHERE sid = ?', turn.sid);
      if (before !== undefined && readStarted(before['body'], turn.sid, turn.turn).nonce !== nonce) this.#forgetSteps(turn.sid);
      this.#file.run(
        'INSERT OR REPLACE INTO started (sid, turn, body, waits) VALUES (?, ?, ?, ?)',
        ...[turn.sid, turn.turn, body, suspended === null ? null : JSON.stringify(waitingOf(turn.turn, suspended))],
      );
      const waits = waitsUntil(turn);
      this.#file.run(
        'UPDATE sessions SET waits_until = CASE WHEN cancelled = 1 THEN NULL ELSE ? END WHERE sid = ?',
        ...[waits === null ? null : Math.floor(waits), turn.sid],
      );
    });
  }

  async keep(sid: string, { turn, seq, body }: StoredStep, fence: number): Promise<void> {
    const text = JSON.stringify(body);
    this.#file.write(() => {
      this.#held(sid, fence);
      const started = this.#file.get('SELECT turn FROM started WHERE sid = ?', sid);
      if (started?.['turn'] !== turn) throw notStarted(sid, turn);
      this.#file.run('INSERT OR REPLACE INTO steps (sid, turn, seq, body) VALUES (?, ?, ?, ?)', sid, turn, seq, text);
    });
  }

  async withdraw(sid: string, fence: number): Promise<void> {
    this.#file.write(() => {
      this.#held(sid, fence);
      this.#file.run('DELETE FROM started WHERE sid = ?', sid);
      this.#file.run('UPDATE sessions SET waits_until = NULL WHERE sid = ?', sid);
      this.#forgetSteps(sid);
    });
  }

  async commit({ fence, record, next, used, usedSince, unlogged, entry, at, keep }: TurnCommit): Promise<void> {
    const { sid } = next;
    const ended = next.status !== 'open';
    // Serialised outside the transaction, because other processes wait for its end.
    const [state, body] = [JSON.stringify(next), record === null ? '' : JSON.stringify(record)];
    this.#file.write(() => {
      const held = this.#held(sid, fence);
      if (record !== null) {
        const started = this.#file.get('SELECT turn FROM started WHERE sid = ?', sid);
        if (held['next_turn'] !== record.turn || started?.['turn'] !== record.turn) throw notStarted(sid, record.turn);
        this.#file.run(
          'INSERT INTO turns (sid, turn, decision, nonce, digest, record, owed) VALUES (?, ?, ?, ?, ?, ?, ?)',
          ...[sid, record.turn, record.decision, record.inputs.nonce, record.digest, body, unlogged ? 1 : 0],
        );
      }
      this.#file.run('DELETE FROM started WHERE sid = ?', sid);
      this.#forgetSteps(sid);
      this.#file.run('DELETE FROM used WHERE sid = ? AND (? OR second < ?)', sid, ended ? 1 : 0, usedSince);
      if (!ended)
        for (const { jti, second } of used)
          this.#file.run('INSERT OR REPLACE INTO used (sid, jti, second) VALUES (?, ?, ?)', sid, jti, second);
      this.#file.run(
        `UPDATE sessions SET status = ?, reason = ?, next_turn = ?, state = ?, updated_at = ?,
         end_owed = max(end_owed, ?), waits_until = NULL WHERE sid = ?`,
        ...[next.status, next.reason, next.nextTurn, state, Math.floor(at), unlogged && record === null ? 1 : 0, sid],
      );
      if (entry !== null) this.log.add(entry);
      if (!keep) this.#file.run(`${FREE} WHERE sid = ?`, this.#now(), sid);
    });
    if (!keep) this.#queue.wake();
  }

  async logged(sid: string, turn: number, fence: number, keep: boolean): Promise<void> {
    this.#file.write(() => {
      this.#held(sid, fence);
      this.#file.run('UPDATE turns SET owed = 0 WHERE sid = ? AND turn = ?', sid, turn);
      this.#file.run('UPDATE sessions SET end_owed = 0 WHERE sid = ? AND next_turn = ? AND end_owed = 1', sid, turn);
      if (!keep) this.#file.run(`${FREE} WHERE sid = ?`, this.#now(), sid);
    });
    if (!keep) this.#queue.wake();
  }

  async cancel(sid: string): Promise<boolean> {
    const sql = `UPDATE sessions SET cancelled = 1, waits_until = NULL WHERE sid = ? AND ${NOT_ENDED}`;
    const cancelled = this.#file.write(() => this.#file.run(sql, sid) === 1);
    if (cancelled) this.#queue.wake();
    return cancelled;
  }

  async endDamaged(sid: string, lease: Lease, end: ForcedEnd): Promise<DamagedSession | null> {
    return this.#file.write(() => {
      const row = this.#free(sid, lease.owner);
      mustKnow(sid, setupOf({ ...row, configuration: null }));
      const fence = Number(row['fence']) + 1;
      try {
        this.#read(row, fence);
        return null;
      } catch (error) {
        if (!isDamage(error)) throw error;
      }
      this.#lease(sid, lease, fence);
      return { fence, unlogged: endUnread(this.#file, this.log, row, end) };
    });
  }

  async turns(sid: string, onDamaged?: OnDamaged, { after = 0, limit = -1 }: TurnsQuery = {}): Promise<readonly TurnRecord[]> {
    const text = 'SELECT turn, record FROM turns WHERE sid = ? AND turn > ? ORDER BY turn LIMIT ?';
    return recordsOf(
      sid,
      this.#file.read(() => this.#file.all(text, sid, after, limit)),
      onDamaged,
    );
  }

  async list({ after = '', limit = -1, parent }: ListQuery = {}): Promise<readonly SessionSummary[]> {
    return this.#file.read(() =>
      parent === undefined
        ? this.#summaries('WHERE s.sid > ? ORDER BY s.sid LIMIT ?', after, limit)
        : this.#summaries('WHERE s.sid > ? AND s.parent_sid = ? ORDER BY s.sid LIMIT ?', after, parent, limit),
    );
  }

  async recent(query: RecentQuery): Promise<readonly SessionSummary[]> {
    const [sql, ...values] = recentSql(query, () => '?');
    return this.#file.read(() => this.#summaries(sql, ...values));
  }

  async summary(sid: string): Promise<SessionSummary | null> {
    return this.#file.read(() => this.#summaries('WHERE s.sid = ?', sid))[0] ?? null;
  }

  async find(condition: Condition, limit: number): Promise<readonly string[]> {
    return this.#file.write(() => this.#queue.find(condition, limit, this.#now()));
  }

  async ping(): Promise<void> {
    this.#file.read(() => this.#file.get('SELECT 1 FROM sessions LIMIT 1'));
  }

  async prune({ before, dryRun = false }: Pruning): Promise<readonly SessionSummary[]> {
    const old = () =>
      this.#summaries(`WHERE s.status <> 'open' AND s.updated_at < ? ORDER BY s.sid`, before).filter(
        ({ status, owed, lease }) => status !== 'open' && owed === 0 && lease === null,
      );
    if (dryRun) return this.#file.read(old);
    return this.#file.write(() => {
      const removed = old();
      for (const { sid } of removed) removeRow(this.#file, sid);
      return removed;
    });
  }

  async erase(sids: readonly string[]): Promise<void> {
    this.#file.write(() => {
      for (const sid of sids) eraseRow(this.#file, this.#free(sid, null));
    });
    // Free pages and the write-ahead log still hold the old content.
    this.#file.compact();
  }

  /** Closes the file. Leases that are still held expire. */
  [Symbol.dispose](): void {
    this.#queue[Symbol.dispose]();
    this.#file[Symbol.dispose]();
  }

  /** The summaries of the sessions that the rest of a statement selects and orders. */
  #summaries(rest: string, ...values: readonly (string | number)[]): SessionSummary[] {
    const now = this.#clock.now();
    const rows = this.#file.all(`${SUMMARIES} ${rest}`, ...values);
    return rows.map((row) => summaryOf(row, now));
  }

  /** The row of a session that no other owner has leased. */
  #free(sid: string, owner: string | null): Row {
    const row = this.#file.get('SELECT * FROM sessions WHERE sid = ?', sid);
    if (row === undefined) throw new SessionStateError(sid, 'unknown');
    const holder = leaseOf(row, this.#clock.now());
    if (holder !== null && holder.owner !== owner) throw new SessionLeasedError(sid, holder);
    return row;
  }

  /** Takes the lease of a session and reads the session, atomically. */
  #claimed(row: Row, lease: Lease): ClaimedSession {
    const claimed = this.#read(row, Number(row['fence']) + 1);
    this.#lease(claimed.state.sid, lease, claimed.fence);
    return claimed;
  }

  #lease(sid: string, { owner, ms }: Lease, fence: number): void {
    this.#file.run(
      'UPDATE sessions SET lease_owner = ?, lease_until = ?, fence = ? WHERE sid = ?',
      ...[owner, Math.floor(this.#clock.now() + ms), fence, sid],
    );
  }

  #read(row: Row, fence: number): ClaimedSession {
    const sid = String(row['sid']);
    const started = this.#file.get('SELECT body FROM started WHERE sid = ?', sid);
    const used = this.#file.all('SELECT jti, second FROM used WHERE sid = ? ORDER BY second', sid);
    const unlogged = this.#file.all('SELECT turn, record FROM turns WHERE sid = ? AND owed = 1 ORDER BY turn', sid);
    return claimedOf(
      { ...row, fence },
      {
        started: started?.['body'] ?? null,
        steps: started === undefined ? [] : this.#file.all('SELECT turn, seq, body FROM steps WHERE sid = ? ORDER BY seq', sid),
        used: used.map(({ jti, second }) => ({ jti: String(jti), second: Number(second) })),
        unlogged: recordsOf(sid, unlogged),
      },
    );
  }

  #forgetSteps(sid: string): void {
    this.#file.run('DELETE FROM steps WHERE sid = ?', sid);
  }

  #now(): number {
    return Math.floor(this.#clock.now());
  }

  #held(sid: string, fence: number): Row {
    const row = this.#file.get('SELECT status, next_turn, fence, lease_owner, lease_until FROM sessions WHERE sid = ?', sid);
    if (row === undefined) throw new SessionStateError(sid, 'unknown');
    if (row['fence'] !== fence || row['lease_owner'] === null) throw new SessionLeasedError(sid, leaseOf(row, this.#clock.now()));
    return row;
  }
}

/** A status that is no word of this version counts as open. */
const NOT_ENDED = `status NOT IN ('done', 'aborted', 'halted')`;

/** Gives up leases, with the time as parameter; conditions follow. */
const FREE = 'UPDATE sessions SET lease_owner = NULL, lease_until = NULL, idle_since = ?';

/** Selects the columns of a summary; condition and order follow. */
const SUMMARIES = `SELECT s.*, t.turn AS started, t.waits AS waits,
  (SELECT count(*) FROM turns AS o WHERE o.sid = s.sid AND o.owed = 1) AS owed
  FROM sessions AS s LEFT JOIN started AS t ON t.sid = s.sid`;
