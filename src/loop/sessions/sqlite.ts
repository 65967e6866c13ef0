import { StoreError } from '../../sqlite/error.ts';
import { type Row, SqliteFile, type SqliteFileOptions } from '../../sqlite/file.ts';
import { type Clock, systemClock } from '../clock.ts';
import { isHaltReason } from '../record/decision.ts';
import { eraseRecord, eraseState } from '../record/erase.ts';
import type { TurnRecord } from '../record/record.ts';
import { waitingOf } from '../record/suspension.ts';
import type { MemoryStoreOptions } from './memory.ts';
import { readRecord, readStarted, readState, readWaiting } from './rows.ts';
import {
  type ClaimedSession,
  type ErasableStore,
  type Held,
  headOf,
  type Lease,
  nextTurnOf,
  type Pruning,
  type Renewal,
  SessionExistsError,
  SessionLeasedError,
  type SessionState,
  SessionStateError,
  type SessionStatus,
  type SessionSummary,
  type StartedTurn,
  type TurnCommit,
} from './store.ts';
import { SESSIONS } from './tables.ts';

/** How a {@link SqliteStore} is opened. */
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

  private constructor(file: SqliteFile, clock: Pick<Clock, 'now'>) {
    this.#file = file;
    this.#clock = clock;
  }

  /** Opens or creates the file. Throws {@link StoreError}: `foreign`, `damaged`, `newer`, `busy`, `io`. */
  static async open(path: string, { clock = systemClock, ...options }: SqliteStoreOptions = {}): Promise<SqliteStore> {
    return new SqliteStore(await SqliteFile.open(path, SESSIONS, options), clock);
  }

  async create(state: SessionState, at: number): Promise<void> {
    const { sid } = state;
    this.#file.write(() => {
      if (this.#file.get('SELECT 1 FROM sessions WHERE sid = ?', sid) !== undefined) throw new SessionExistsError(sid);
      this.#file.run(
        `INSERT INTO sessions (sid, status, reason, next_turn, state, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
        ...[sid, state.status, state.reason, state.nextTurn, JSON.stringify(state), Math.floor(at), Math.floor(at)],
      );
    });
  }

  async read(sid: string): Promise<SessionState | null> {
    return this.#file.read(() => {
      const row = this.#file.get('SELECT state FROM sessions WHERE sid = ?', sid);
      return row === undefined ? null : readState(row['state'], sid);
    });
  }

  async claim(sid: string, { owner, ms }: Lease): Promise<ClaimedSession> {
    return this.#file.write(() => {
      const row = this.#file.get('SELECT * FROM sessions WHERE sid = ?', sid);
      if (row === undefined) throw new SessionStateError(sid, 'unknown');
      const now = this.#clock.now();
      const holder = leaseOf(row, now);
      if (holder !== null && holder.owner !== owner) throw new SessionLeasedError(sid, holder);
      const state = readState(row['state'], sid);
      const fence = Number(row['fence']) + 1;
      this.#file.run(
        'UPDATE sessions SET lease_owner = ?, lease_until = ?, fence = ? WHERE sid = ?',
        ...[owner, Math.floor(now + ms), fence, sid],
      );
      const started = this.#file.get('SELECT body FROM started WHERE sid = ?', sid);
      const used = this.#file.all('SELECT jti, second FROM used WHERE sid = ? ORDER BY second', sid);
      const unlogged = this.#file.all('SELECT record FROM turns WHERE sid = ? AND owed = 1 ORDER BY turn', sid);
      return {
        fence,
        state,
        next: nextTurnOf(started === undefined ? null : readStarted(started['body'])),
        used: used.map(({ jti, second }) => ({ jti: String(jti), second: Number(second) })),
        unlogged: unlogged.map(({ record }) => readRecord(record)),
        unloggedEnd: row['end_owed'] === 1 ? Number(row['updated_at']) : null,
        cancelled: row['cancelled'] === 1,
      };
    });
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
    this.#file.write(() => {
      this.#file.run('UPDATE sessions SET lease_owner = NULL, lease_until = NULL WHERE sid = ? AND fence = ?', sid, fence);
    });
  }

  async start(turn: StartedTurn, fence: number): Promise<void> {
    this.#file.write(() => {
      const { status, next_turn } = this.#held(turn.sid, fence);
      if (status !== 'open' || next_turn !== turn.turn)
        throw new StoreError('order', `turn ${turn.turn} of session ${JSON.stringify(turn.sid)} is not the next`);
      this.#file.run(
        'INSERT OR REPLACE INTO started (sid, turn, body, waits) VALUES (?, ?, ?, ?)',
        turn.sid,
        turn.turn,
        JSON.stringify(turn),
        turn.suspended === null ? null : JSON.stringify(waitingOf(turn.turn, turn.suspended)),
      );
    });
  }

  async withdraw(sid: string, fence: number): Promise<void> {
    this.#file.write(() => {
      this.#held(sid, fence);
      this.#file.run('DELETE FROM started WHERE sid = ?', sid);
    });
  }

  async commit({ fence, record, next, used, usedSince, unlogged, at, keep }: TurnCommit): Promise<void> {
    const { sid } = next;
    const ended = next.status !== 'open';
    // Serialised outside the transaction, because other processes wait for its end.
    const [state, body] = [JSON.stringify(next), record === null ? '' : JSON.stringify(record)];
    this.#file.write(() => {
      const held = this.#held(sid, fence);
      if (record !== null) {
        const started = this.#file.get('SELECT turn FROM started WHERE sid = ?', sid);
        if (held['next_turn'] !== record.turn || started?.['turn'] !== record.turn)
          throw new StoreError('order', `turn ${record.turn} of session ${JSON.stringify(sid)} was not started`);
        this.#file.run(
          'INSERT INTO turns (sid, turn, decision, nonce, digest, record, owed) VALUES (?, ?, ?, ?, ?, ?, ?)',
          ...[sid, record.turn, record.decision, record.inputs.nonce, record.digest, body, unlogged ? 1 : 0],
        );
      }
      this.#file.run('DELETE FROM started WHERE sid = ?', sid);
      this.#file.run('DELETE FROM used WHERE sid = ? AND (? OR second < ?)', sid, ended ? 1 : 0, usedSince);
      if (!ended)
        for (const { jti, second } of used)
          this.#file.run('INSERT OR REPLACE INTO used (sid, jti, second) VALUES (?, ?, ?)', sid, jti, second);
      this.#file.run(
        `UPDATE sessions SET status = ?, reason = ?, next_turn = ?, state = ?, updated_at = ?,
         end_owed = max(end_owed, ?),
         lease_owner = iif(?, lease_owner, NULL), lease_until = iif(?, lease_until, NULL) WHERE sid = ?`,
        ...[next.status, next.reason, next.nextTurn, state, Math.floor(at)],
        ...[unlogged && record === null ? 1 : 0, keep ? 1 : 0, keep ? 1 : 0, sid],
      );
    });
  }

  async logged(sid: string, turn: number, fence: number, keep: boolean): Promise<void> {
    this.#file.write(() => {
      this.#held(sid, fence);
      this.#file.run('UPDATE turns SET owed = 0 WHERE sid = ? AND turn = ?', sid, turn);
      this.#file.run('UPDATE sessions SET end_owed = 0 WHERE sid = ? AND next_turn = ? AND end_owed = 1', sid, turn);
      if (!keep) this.#file.run('UPDATE sessions SET lease_owner = NULL, lease_until = NULL WHERE sid = ?', sid);
    });
  }

  async cancel(sid: string): Promise<boolean> {
    return this.#file.write(
      () => this.#file.run(`UPDATE sessions SET cancelled = 1 WHERE sid = ? AND status = 'open'`, sid) === 1,
    );
  }

  async turns(sid: string, onDamaged?: (turn: number, problem: string) => void): Promise<readonly TurnRecord[]> {
    const rows = this.#file.read(() => this.#file.all('SELECT turn, record FROM turns WHERE sid = ? ORDER BY turn', sid));
    return rows.flatMap(({ turn, record }) => {
      try {
        return [readRecord(record, `turn ${turn} of session ${JSON.stringify(sid)} in the store`)];
      } catch (error) {
        if (onDamaged === undefined || !(error instanceof StoreError)) throw error;
        onDamaged(Number(turn), error.message);
        return [];
      }
    });
  }

  async list(): Promise<readonly SessionSummary[]> {
    return this.#file.read(() => this.#summaries('1'));
  }

  async prune({ before, dryRun = false }: Pruning): Promise<readonly SessionSummary[]> {
    const old = () =>
      this.#summaries(`s.status <> 'open' AND s.updated_at < ?`, before).filter(
        ({ owed, lease }) => owed === 0 && lease === null,
      );
    if (dryRun) return this.#file.read(old);
    return this.#file.write(() => {
      const removed = old();
      for (const { sid } of removed)
        for (const table of ['turns', 'used', 'started', 'sessions']) this.#file.run(`DELETE FROM ${table} WHERE sid = ?`, sid);
      return removed;
    });
  }

  async erase(sids: readonly string[]): Promise<void> {
    this.#file.write(() => {
      for (const sid of sids) this.#erase(sid);
    });
    // Pages that are free now, or were freed before, still hold what they held; so does the write-ahead log.
    this.#file.compact();
  }

  /** Closes the file. Leases that are still held expire. */
  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }

  #erase(sid: string): void {
    const row = this.#file.get('SELECT * FROM sessions WHERE sid = ?', sid);
    if (row === undefined) throw new SessionStateError(sid, 'unknown');
    const holder = leaseOf(row, this.#clock.now());
    if (holder !== null) throw new SessionLeasedError(sid, holder);
    if (statusOf(row['status']) === 'open') throw new SessionStateError(sid, 'open');
    for (const { turn, record } of this.#file.all('SELECT turn, record FROM turns WHERE sid = ?', sid)) {
      const bare = unlessDamaged(() => eraseRecord(readRecord(record)));
      this.#file.run('UPDATE turns SET record = ?, digest = NULL WHERE sid = ? AND turn = ?', bare, sid, turn ?? null);
    }
    const state = unlessDamaged(() => eraseState(readState(row['state'], sid)));
    this.#file.run('UPDATE sessions SET state = ? WHERE sid = ?', state, sid);
    this.#file.run('DELETE FROM started WHERE sid = ?', sid);
  }

  /** The summaries of the sessions that meet a condition of SQL, in the order of their ids. */
  #summaries(condition: string, ...values: readonly number[]): SessionSummary[] {
    const now = this.#clock.now();
    return this.#file.all(`${SUMMARIES} WHERE ${condition} ORDER BY s.sid`, ...values).map((row) => summaryOf(row, now));
  }

  #held(sid: string, fence: number): Row {
    const row = this.#file.get('SELECT status, next_turn, fence, lease_owner, lease_until FROM sessions WHERE sid = ?', sid);
    if (row === undefined) throw new SessionStateError(sid, 'unknown');
    if (row['fence'] !== fence || row['lease_owner'] === null) throw new SessionLeasedError(sid, leaseOf(row, this.#clock.now()));
    return row;
  }
}

/** Selects the columns of a summary; conditions and order follow. */
const SUMMARIES = `SELECT s.*, t.turn AS started, t.waits AS waits,
  (SELECT count(*) FROM turns AS o WHERE o.sid = s.sid AND o.owed = 1) AS owed
  FROM sessions AS s LEFT JOIN started AS t ON t.sid = s.sid`;

function summaryOf(row: Row, now: number): SessionSummary {
  const reason = String(row['reason']);
  return {
    sid: String(row['sid']),
    status: statusOf(row['status']),
    reason: isHaltReason(reason) ? reason : null,
    turns: Number(row['next_turn']) - 1,
    createdAt: Number(row['created_at']),
    updatedAt: Number(row['updated_at']),
    started: row['started'] === null ? null : Number(row['started']),
    lease: leaseOf(row, now),
    owed: Number(row['owed']) + Number(row['end_owed']),
    ...bodyOf(row),
  };
}

/** The parts of a summary that are stored as JSON. A damaged session must not hide the others. */
function bodyOf({ sid, waits, state }: Row): Pick<SessionSummary, 'waits' | 'subject' | 'agent' | 'parent' | 'damaged'> {
  try {
    return { waits: waits === null ? null : readWaiting(waits), ...headOf(readState(state, String(sid))), damaged: null };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { waits: null, subject: null, agent: null, parent: null, damaged: error.message };
  }
}

/** The lease, if it lasts. */
/** The JSON of what is left of a row; nothing of a row that cannot be read. */
function unlessDamaged(rest: () => object): string {
  try {
    return JSON.stringify(rest());
  } catch (error) {
    if (error instanceof StoreError) return '{}';
    throw error;
  }
}

function leaseOf(row: Row, now: number): { readonly owner: string; readonly until: number } | null {
  const { lease_owner: owner, lease_until: until } = row;
  return typeof owner === 'string' && now < Number(until) ? { owner, until: Number(until) } : null;
}

const STATUSES: readonly string[] = ['open', 'done', 'aborted', 'halted'] satisfies readonly SessionStatus[];

function statusOf(value: unknown): SessionStatus {
  if (typeof value === 'string' && STATUSES.includes(value)) return value as SessionStatus;
  throw new StoreError('damaged', `a session has the status ${String(value)}`);
}
