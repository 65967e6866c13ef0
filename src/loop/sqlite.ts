import { open } from 'node:fs/promises';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { isHaltReason } from './decision.ts';
import type { TurnRecord } from './record.ts';
import { readRecord, readStarted, readState } from './rows.ts';
import { prepareSchema } from './schema.ts';
import {
  type ClaimedSession,
  type Lease,
  type Renewal,
  SessionExistsError,
  SessionLeasedError,
  type SessionState,
  SessionStateError,
  type SessionStatus,
  type SessionStore,
  type SessionSummary,
  type StartedTurn,
  StoreError,
  type TurnCommit,
} from './store.ts';

/** How a {@link SqliteStore} behaves. */
export interface SqliteStoreOptions {
  /**
   * What a committed turn survives: the death of the process (`process`, the default), or also a loss of power (`power`),
   * which waits for the disk in every transaction. The file is whole in both cases.
   */
  readonly durability?: 'process' | 'power';
  /** Most milliseconds that one call waits for another process; then it throws {@link StoreError} (`busy`). Default 5000. */
  readonly busyMs?: number;
  /** Open a store that exists, and make none. */
  readonly mustExist?: boolean;
}

type Row = Readonly<Record<string, SQLInputValue>>;

/**
 * Keeps sessions in a file that several processes may use at once. One transaction per call, in write-ahead mode: a process
 * that is killed at any instant leaves the session as it was before the call, or as it is after it.
 */
export class SqliteStore implements SessionStore, Disposable {
  readonly #database: DatabaseSync;
  readonly #name: string;
  readonly #statements = new Map<string, StatementSync>();

  private constructor(database: DatabaseSync, name: string) {
    this.#database = database;
    this.#name = name;
  }

  /**
   * Opens the file or makes it. Throws {@link StoreError}: `foreign` for a file that is no store, `damaged` when SQLite finds
   * it damaged (every page is looked at), `newer` for one of a later version, `busy`, `io`.
   */
  static async open(path: string, options: SqliteStoreOptions = {}): Promise<SqliteStore> {
    // Loaded here alone: Node 24 says at the import that the module is new, and whoever needs no file should not read that.
    const { DatabaseSync: Database } = await import('node:sqlite');
    try {
      // Made here, readable by its owner alone; SQLite gives the files beside it the same rights.
      await (await open(path, options.mustExist ? 'r+' : 'a', 0o600)).close();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new StoreError('io', `${path} cannot be opened: ${why}`, { cause: error });
    }
    return guarded(path, () => {
      const database = new Database(path, { timeout: options.busyMs ?? 5000, enableForeignKeyConstraints: false });
      try {
        // The first look at the file: what is no database fails here, before anything is written to it.
        database.exec('SELECT count(*) FROM sqlite_schema');
        prepareSchema(database, path);
        database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${options.durability === 'power' ? 'FULL' : 'NORMAL'}`);
        return new SqliteStore(database, path);
      } catch (error) {
        database.close();
        throw error;
      }
    });
  }

  async create(state: SessionState, at: number): Promise<void> {
    const { sid } = state;
    this.#write(() => {
      if (this.#get('SELECT 1 FROM sessions WHERE sid = ?', sid) !== undefined) throw new SessionExistsError(sid);
      this.#run(
        `INSERT INTO sessions (sid, status, reason, next_turn, state, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
        ...[sid, state.status, state.reason, state.nextTurn, JSON.stringify(state), Math.floor(at), Math.floor(at)],
      );
    });
  }

  async read(sid: string): Promise<SessionState | null> {
    return this.#guarded(() => {
      const row = this.#get('SELECT state FROM sessions WHERE sid = ?', sid);
      return row === undefined ? null : readState(row['state']);
    });
  }

  async claim(sid: string, { owner, now, until }: Lease): Promise<ClaimedSession> {
    return this.#write(() => {
      const row = this.#get('SELECT state, cancelled, lease_owner, lease_until FROM sessions WHERE sid = ?', sid);
      if (row === undefined) throw new SessionStateError(sid, 'unknown');
      const holder = leaseOf(row);
      if (holder !== null && holder.owner !== owner && now < holder.until) throw new SessionLeasedError(sid, holder);
      const state = readState(row['state']);
      this.#lease(sid, owner, until);
      const started = this.#get('SELECT body FROM started WHERE sid = ?', sid);
      const used = this.#all('SELECT jti, second FROM used WHERE sid = ? ORDER BY second', sid);
      const owed = this.#all('SELECT record FROM turns WHERE sid = ? AND owed = 1 ORDER BY turn', sid);
      return {
        state,
        started: started === undefined ? null : readStarted(started['body']),
        used: used.map(({ jti, second }) => ({ jti: String(jti), second: Number(second) })),
        owed: owed.map(({ record }) => readRecord(record)),
        cancelled: row['cancelled'] === 1,
      };
    });
  }

  async renew(sids: readonly string[], { owner, until }: Lease): Promise<readonly Renewal[]> {
    return this.#write(() =>
      sids.map((sid) => {
        const row = this.#get('SELECT lease_owner, lease_until, cancelled FROM sessions WHERE sid = ?', sid);
        if (row?.['lease_owner'] !== owner) return 'lost';
        this.#lease(sid, owner, until);
        return row['cancelled'] === 1 ? 'cancelled' : 'held';
      }),
    );
  }

  async release(sid: string, owner: string): Promise<void> {
    this.#write(() => {
      this.#run('UPDATE sessions SET lease_owner = NULL, lease_until = NULL WHERE sid = ? AND lease_owner = ?', sid, owner);
    });
  }

  async start(turn: StartedTurn, owner: string): Promise<void> {
    this.#write(() => {
      const { status, next_turn } = this.#held(turn.sid, owner);
      if (status !== 'open' || next_turn !== turn.turn)
        throw new StoreError('order', `turn ${turn.turn} of session ${JSON.stringify(turn.sid)} is not the next`);
      this.#run('INSERT OR REPLACE INTO started (sid, turn, body) VALUES (?, ?, ?)', turn.sid, turn.turn, JSON.stringify(turn));
    });
  }

  async withdraw(sid: string, owner: string): Promise<void> {
    this.#write(() => {
      this.#held(sid, owner);
      this.#run('DELETE FROM started WHERE sid = ?', sid);
    });
  }

  async commit({ owner, record, next, used, usedSince, owed, at, keep }: TurnCommit): Promise<void> {
    const { sid } = next;
    const ended = next.status !== 'open';
    // Outside the transaction, which others wait for.
    const [state, body] = [JSON.stringify(next), record === null ? '' : JSON.stringify(record)];
    this.#write(() => {
      const held = this.#held(sid, owner);
      if (record !== null) {
        const started = this.#get('SELECT turn FROM started WHERE sid = ?', sid);
        if (held['next_turn'] !== record.turn || started?.['turn'] !== record.turn)
          throw new StoreError('order', `turn ${record.turn} of session ${JSON.stringify(sid)} was not started`);
        this.#run(
          'INSERT INTO turns (sid, turn, decision, nonce, digest, record, owed) VALUES (?, ?, ?, ?, ?, ?, ?)',
          ...[sid, record.turn, record.decision, record.inputs.nonce, record.digest, body, owed ? 1 : 0],
        );
      }
      this.#run('DELETE FROM started WHERE sid = ?', sid);
      this.#run('DELETE FROM used WHERE sid = ? AND (? OR second < ?)', sid, ended ? 1 : 0, usedSince);
      if (!ended)
        for (const { jti, second } of used)
          this.#run('INSERT OR REPLACE INTO used (sid, jti, second) VALUES (?, ?, ?)', sid, jti, second);
      this.#run(
        `UPDATE sessions SET status = ?, reason = ?, next_turn = ?, state = ?, updated_at = ?,
         lease_owner = iif(?, lease_owner, NULL), lease_until = iif(?, lease_until, NULL) WHERE sid = ?`,
        ...[next.status, next.reason, next.nextTurn, state, Math.floor(at), keep ? 1 : 0, keep ? 1 : 0, sid],
      );
    });
  }

  async logged(sid: string, turn: number, owner: string, keep: boolean): Promise<void> {
    this.#write(() => {
      this.#held(sid, owner);
      this.#run('UPDATE turns SET owed = 0 WHERE sid = ? AND turn = ?', sid, turn);
      if (!keep) this.#run('UPDATE sessions SET lease_owner = NULL, lease_until = NULL WHERE sid = ?', sid);
    });
  }

  async cancel(sid: string): Promise<boolean> {
    return this.#write(() => this.#run(`UPDATE sessions SET cancelled = 1 WHERE sid = ? AND status = 'open'`, sid) === 1);
  }

  async turns(sid: string): Promise<readonly TurnRecord[]> {
    return this.#guarded(() =>
      this.#all('SELECT record FROM turns WHERE sid = ? ORDER BY turn', sid).map(({ record }) => readRecord(record)),
    );
  }

  async list(): Promise<readonly SessionSummary[]> {
    const sql = `SELECT s.*, t.turn AS started, (SELECT count(*) FROM turns AS o WHERE o.sid = s.sid AND o.owed = 1) AS owed
      FROM sessions AS s LEFT JOIN started AS t ON t.sid = s.sid ORDER BY s.sid`;
    return this.#guarded(() =>
      this.#all(sql).map((row) => {
        const reason = String(row['reason']);
        return {
          sid: String(row['sid']),
          status: statusOf(row['status']),
          reason: isHaltReason(reason) ? reason : null,
          turns: Number(row['next_turn']) - 1,
          createdAt: Number(row['created_at']),
          updatedAt: Number(row['updated_at']),
          started: row['started'] === null ? null : Number(row['started']),
          lease: leaseOf(row),
          owed: Number(row['owed']),
        };
      }),
    );
  }

  /** Closes the file; leases that are held last until they end by themselves. */
  [Symbol.dispose](): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #lease(sid: string, owner: string, until: number): void {
    this.#run('UPDATE sessions SET lease_owner = ?, lease_until = ? WHERE sid = ?', owner, Math.floor(until), sid);
  }

  #held(sid: string, owner: string): Row {
    const row = this.#get('SELECT status, next_turn, lease_owner, lease_until FROM sessions WHERE sid = ?', sid);
    if (row === undefined) throw new SessionStateError(sid, 'unknown');
    if (row['lease_owner'] !== owner) throw new SessionLeasedError(sid, leaseOf(row));
    return row;
  }

  /** One transaction, which waits for its turn before it reads: nothing it has read can change until it ends. */
  #write<T>(work: () => T): T {
    return this.#guarded(() => {
      this.#run('BEGIN IMMEDIATE');
      try {
        const result = work();
        this.#run('COMMIT');
        return result;
      } catch (error) {
        if (this.#database.isTransaction) this.#run('ROLLBACK');
        throw error;
      }
    });
  }

  #guarded<T>(work: () => T): T {
    return guarded(this.#name, work);
  }

  #get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#prepared(sql).get(...values);
  }

  #all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepared(sql).all(...values);
  }

  /** The number of rows that were changed. */
  #run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepared(sql).run(...values).changes);
  }

  #prepared(sql: string): StatementSync {
    const known = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }
}

function leaseOf(row: Row): { readonly owner: string; readonly until: number } | null {
  const { lease_owner: owner, lease_until: until } = row;
  return typeof owner === 'string' ? { owner, until: Number(until) } : null;
}

const STATUSES: readonly string[] = ['open', 'done', 'aborted', 'halted'] satisfies readonly SessionStatus[];

function statusOf(value: unknown): SessionStatus {
  if (typeof value === 'string' && STATUSES.includes(value)) return value as SessionStatus;
  throw new StoreError('damaged', `a session has the status ${String(value)}`);
}

/** SQLite's own result codes, without their extensions. */
const SQLITE = { busy: 5, locked: 6, corrupt: 11, notadb: 26 } as const;

/** Runs `work` and puts what SQLite throws in our own words. */
function guarded<T>(name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : null;
    if (code === null || !(error instanceof Error)) throw error;
    if (code === SQLITE.notadb)
      throw new StoreError('foreign', `${name} is no store of sessions: it is no SQLite file`, { cause: error });
    if (code === SQLITE.corrupt) throw new StoreError('damaged', `${name} is damaged: ${error.message}`, { cause: error });
    if (code === SQLITE.busy || code === SQLITE.locked)
      throw new StoreError('busy', `${name} is in use by another process for too long`, { cause: error });
    throw new StoreError('io', `${name} cannot be used: ${error.message}`, { cause: error });
  }
}
