import { randomUUID } from 'node:crypto';
import {
  type ClaimedSession,
  type Columns,
  type Condition,
  checkSetup,
  claimedOf,
  type DamagedSession,
  type ErasableStore,
  type ForcedEnd,
  type Held,
  isDamage,
  type Lease,
  type ListQuery,
  leaseOf,
  mustKnow,
  notStarted,
  type OnDamaged,
  PLAIN_SETUP,
  type Pruning,
  READER,
  type RecentQuery,
  type Renewal,
  type Runnable,
  readState,
  recentSql,
  recordsOf,
  SessionExistsError,
  SessionLeasedError,
  type SessionSetup,
  type SessionState,
  SessionStateError,
  type SessionSummary,
  type StartedTurn,
  type StoredStep,
  setupOf,
  type TurnCommit,
  type TurnRecord,
  type TurnsQuery,
  usedOf,
  waitingOf,
  waitsUntil,
} from '../loop/index.ts';
import { StoreError } from '../sqlite/error.ts';
import { type AnyClient, type PostgresClient, postgresClient } from './clients.ts';
import { commitSql, commitValues } from './commit.ts';
import { type ConnectOptions, connectPostgres, placeOf } from './connect.ts';
import { Database } from './database.ts';
import { summaries } from './lists.ts';
import { PostgresLog } from './log.ts';
import { findSql, lapseSql, nextSql, nextValues } from './queue.ts';
import { endUnread, eraseSession, pruneSessions } from './removal.ts';
import { checkSchema } from './schema.ts';
import { formOf, keepPartitions, migrate, mustBePresent, NOW } from './tables.ts';
import { WakeUps } from './wakeups.ts';

/** How a {@link PostgresStore} is opened. */
export interface PostgresStoreOptions extends ConnectOptions {
  /** The schema of the tables: lower-case letters, digits and `_`; `neuroscript` when absent. */
  readonly schema?: string;
  /** Whether the tables are made or brought to the present form; true when absent. If not, a store of another form is refused. */
  readonly migrate?: boolean;
}

/**
 * Keeps sessions in a database that many hosts use at once. Each call is one statement or one transaction, with the clock of the database,
 * and leaves nothing in its connection. A write whose connection was lost is tried again: the store then sees by the turn itself whether
 * it had been done.
 *
 * @example
 * ```ts
 * import { createRuntime } from 'neuroscript-runtime';
 * import { LoopController } from 'neuroscript-runtime/loop';
 * import { PostgresStore } from 'neuroscript-runtime/postgres';
 *
 * await using runtime = await createRuntime();
 * await using store = await PostgresStore.open('postgres://user:password@127.0.0.1:5432/app');
 * const controller = new LoopController({ runtime, store, log: store.log });
 * ```
 */
export class PostgresStore implements ErasableStore, AsyncDisposable {
  readonly #database: Database;
  readonly #schema: string;
  readonly #wakeUps: WakeUps;
  /** The decision log in the same schema. */
  readonly log: PostgresLog;
  #served = '';

  private constructor(database: Database, schema: string) {
    this.#database = database;
    this.#schema = schema;
    this.#wakeUps = new WakeUps(database, schema);
    this.log = new PostgresLog(database, schema);
  }

  /**
   * Opens the store of a database: by its URL, or through a client of the application, which stays open when the store is closed.
   * Throws `StoreError`: `io`, `busy`, `foreign`, `newer`; and `ConfigError` for a URL or a schema of another form. No message
   * has the password.
   */
  static async open(database: string | AnyClient, options: PostgresStoreOptions = {}): Promise<PostgresStore> {
    const schema = checkSchema(options.schema);
    const client: PostgresClient =
      typeof database === 'string' ? await connectPostgres(database, options) : postgresClient(database);
    const opened = new Database(client, typeof database === 'string' ? placeOf(database) : 'the database');
    try {
      const form = await formOf(opened, schema);
      if (options.migrate === false || form > 0) mustBePresent(Math.max(form, options.migrate === false ? 0 : 1), opened.place);
      if (form === 0) await migrate(opened, schema);
      else await keepPartitions(opened, schema);
      return new PostgresStore(opened, schema);
    } catch (error) {
      await opened.end();
      throw error;
    }
  }

  async create(state: SessionState, at: number, setup: SessionSetup = PLAIN_SETUP): Promise<void> {
    checkSetup(setup);
    const { sid, parent } = state;
    const { tenant, profile, configuration, engine, reader } = setup;
    const stamp = randomUUID();
    const [made] = await this.#database.again(
      `INSERT INTO ${this.#schema}.sessions AS s (sid, status, reason, next_turn, state, created_at, updated_at,
       tenant, profile, configuration, engine, reader, nested, parent_sid, stamp, idle_since)
       VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $8, $9, $10, $11, $12, $13, $14, ${NOW})
       ON CONFLICT (sid) DO UPDATE SET stamp = s.stamp WHERE s.stamp = $14 RETURNING 1`,
      ...[sid, state.status, state.reason, state.nextTurn, JSON.stringify(state), Math.floor(at)],
      ...[tenant, profile, configuration === null ? null : JSON.stringify(configuration), engine, reader],
      ...[parent === null ? 0 : 1, parent?.sid ?? null, stamp],
    );
    if (made === undefined) throw new SessionExistsError(sid);
    this.#wakeUps.tell();
  }

  async read(sid: string): Promise<SessionState | null> {
    const [row] = await this.#database.again(`SELECT state FROM ${this.#schema}.sessions WHERE sid = $1`, sid);
    return row === undefined ? null : readState(row['state'], sid);
  }

  async claim(sid: string, lease: Lease): Promise<ClaimedSession> {
    const row = await this.#take(sid, lease);
    try {
      return await this.#claimed(row);
    } catch (error) {
      await this.release(sid, Number(row['fence']));
      throw error;
    }
  }

  async #take(sid: string, { owner, ms }: Lease): Promise<Columns> {
    const [row] = await this.#database.again(
      `UPDATE ${this.#schema}.sessions SET fence = fence + 1, lease_owner = $2, lease_until = ${NOW} + $3::bigint
       WHERE sid = $1 AND reader <= $4 AND (lease_owner IS NULL OR lease_owner = $2 OR lease_until <= ${NOW}) RETURNING *`,
      ...[sid, owner, Math.floor(ms), READER],
    );
    if (row !== undefined) return row;
    const found = await this.#found(sid);
    mustKnow(sid, setupOf({ ...found, configuration: null }));
    throw new SessionLeasedError(sid, leaseOf(found, Number(found['now'])));
  }

  async next(lease: Lease, most: number, runnable: Runnable): Promise<readonly ClaimedSession[]> {
    await this.#database.query(lapseSql(this.#schema));
    const rows = await this.#database.query(nextSql(this.#schema), ...nextValues(lease, most, runnable, this.#served));
    const order = (row: Columns): readonly (number | string)[] => [
      Number(row['round']),
      Number(row['part']),
      String(row['tenant']),
    ];
    const sorted = [...rows].sort((a, b) => compare(order(a), order(b)));
    this.#served = String(sorted.at(-1)?.['tenant'] ?? this.#served);
    const claimed: ClaimedSession[] = [];
    for (const row of sorted)
      try {
        claimed.push(await this.#claimed(row));
      } catch (error) {
        if (!(error instanceof StoreError) || error.detail !== 'damaged') throw error;
        await this.#putAside(row);
      }
    return claimed;
  }

  onReady(wake: () => void): () => void {
    return this.#wakeUps.on(wake);
  }

  async renew(held: readonly Held[], ms: number): Promise<readonly Renewal[]> {
    const rows = await this.#database.query(
      `UPDATE ${this.#schema}.sessions AS s SET lease_until = ${NOW} + $1::bigint
       FROM unnest($2::text[], $3::bigint[]) AS h (sid, fence)
       WHERE s.sid = h.sid AND s.fence = h.fence AND s.lease_owner IS NOT NULL RETURNING s.sid, s.cancelled`,
      ...[Math.floor(ms), held.map(({ sid }) => sid), held.map(({ fence }) => fence)],
    );
    const renewed = new Map(rows.map(({ sid, cancelled }) => [sid, Number(cancelled) === 1]));
    return held.map(({ sid }) => {
      const cancelled = renewed.get(sid);
      return cancelled === undefined ? 'lost' : cancelled ? 'cancelled' : 'held';
    });
  }

  async release(sid: string, fence: number): Promise<void> {
    await this.#database.again(
      `UPDATE ${this.#schema}.sessions SET lease_owner = NULL, lease_until = NULL, idle_since = ${NOW} WHERE sid = $1 AND fence = $2`,
      ...[sid, fence],
    );
    this.#wakeUps.tell();
  }

  async start(turn: StartedTurn, fence: number): Promise<void> {
    const { sid, suspended } = turn;
    const waits = waitsUntil(turn);
    const [started] = await this.#database.again(
      `UPDATE ${this.#schema}.sessions SET started = $3, started_turn = $4, started_nonce = $5, waits = $6, waits_until = CASE WHEN cancelled = 1 THEN NULL ELSE $7::bigint END
       WHERE sid = $1 AND fence = $2 AND lease_owner IS NOT NULL AND status = 'open' AND next_turn = $4 RETURNING 1`,
      ...[sid, fence, JSON.stringify(turn), turn.turn, turn.nonce],
      ...[suspended === null ? null : JSON.stringify(waitingOf(turn.turn, suspended)), waits === null ? null : Math.floor(waits)],
    );
    if (started !== undefined) return;
    await this.#mustHold(sid, fence);
    throw new StoreError('order', `turn ${turn.turn} of session ${JSON.stringify(sid)} is not the next`);
  }

  async keep(sid: string, { turn, seq, body }: StoredStep, fence: number): Promise<void> {
    // The row is locked, so that no claim reads the steps while one of them is added.
    const [kept] = await this.#database.again(
      `WITH held AS (
         SELECT started_nonce FROM ${this.#schema}.sessions WHERE sid = $1 AND fence = $2 AND lease_owner IS NOT NULL AND started_turn = $3 FOR SHARE
       ) INSERT INTO ${this.#schema}.steps (sid, nonce, turn, seq, body) SELECT $1, started_nonce, $3, $4, $5 FROM held
       ON CONFLICT (sid, nonce, seq) DO UPDATE SET body = excluded.body RETURNING 1`,
      ...[sid, fence, turn, seq, JSON.stringify(body)],
    );
    if (kept !== undefined) return;
    await this.#mustHold(sid, fence);
    throw notStarted(sid, turn);
  }

  async withdraw(sid: string, fence: number): Promise<void> {
    const [held] = await this.#database.again(
      `WITH held AS (
         UPDATE ${this.#schema}.sessions SET started = NULL, started_turn = NULL, started_nonce = NULL, waits = NULL, waits_until = NULL
         WHERE sid = $1 AND fence = $2 AND lease_owner IS NOT NULL RETURNING sid
       ), gone AS (DELETE FROM ${this.#schema}.steps USING held WHERE steps.sid = held.sid) SELECT 1 FROM held`,
      ...[sid, fence],
    );
    if (held === undefined) await this.#mustHold(sid, fence);
  }

  async commit(commit: TurnCommit): Promise<void> {
    const { next, entry, record, fence, keep } = commit;
    const { sid } = next;
    // Tells this commit from all others when it is repeated because nobody knows whether it was done.
    const stamp = randomUUID();
    const [done] = await this.#database.again(commitSql(this.#schema), ...commitValues(commit, stamp));
    if (done === undefined && !(await this.#wasDone(stamp, sid))) {
      await this.#mustHold(sid, fence);
      throw notStarted(sid, record?.turn ?? next.nextTurn);
    }
    if (entry !== null) this.log.sealSoon();
    if (!keep) this.#wakeUps.tell();
  }

  async logged(sid: string, turn: number, fence: number, keep: boolean): Promise<void> {
    const [held] = await this.#database.again(
      `WITH held AS (
         SELECT sid FROM ${this.#schema}.sessions WHERE sid = $1 AND fence = $2 AND lease_owner IS NOT NULL FOR NO KEY UPDATE
       ), paid AS (
         UPDATE ${this.#schema}.turns AS t SET owed = 0 FROM held WHERE t.sid = held.sid AND t.turn = $3 AND t.owed = 1 RETURNING 1
       )
       UPDATE ${this.#schema}.sessions AS s SET owed = owed - (SELECT count(*) FROM paid),
         end_owed = CASE WHEN next_turn = $3 THEN 0 ELSE end_owed END,
         lease_owner = CASE WHEN $4 THEN lease_owner END, lease_until = CASE WHEN $4 THEN lease_until END,
         idle_since = CASE WHEN $4 THEN idle_since ELSE ${NOW} END
       FROM held WHERE s.sid = held.sid RETURNING 1`,
      ...[sid, fence, turn, keep],
    );
    if (held === undefined) await this.#mustHold(sid, fence);
    if (!keep) this.#wakeUps.tell();
  }

  async cancel(sid: string): Promise<boolean> {
    const text = `UPDATE ${this.#schema}.sessions SET cancelled = 1, waits_until = NULL WHERE sid = $1 AND status NOT IN ('done', 'aborted', 'halted') RETURNING 1`;
    const cancelled = (await this.#database.again(text, sid)).length > 0;
    if (cancelled) this.#wakeUps.tell();
    return cancelled;
  }

  async endDamaged(sid: string, lease: Lease, end: ForcedEnd): Promise<DamagedSession | null> {
    const row = await this.#take(sid, lease);
    const fence = Number(row['fence']);
    try {
      await this.#claimed(row);
      await this.release(sid, fence);
      return null;
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    const unlogged = await this.#database.transaction((query) => endUnread(query, this.#schema, sid, fence, end));
    if (end.log === 'own') this.log.sealSoon();
    return { fence, unlogged };
  }

  async turns(sid: string, onDamaged?: OnDamaged, { after = 0, limit }: TurnsQuery = {}): Promise<readonly TurnRecord[]> {
    const text = `SELECT turn, record FROM ${this.#schema}.turns WHERE sid = $1 AND turn > $2 ORDER BY turn LIMIT $3`;
    return recordsOf(sid, await this.#database.again(text, sid, after, limit ?? null), onDamaged);
  }

  async list({ after = '', limit, parent }: ListQuery = {}): Promise<readonly SessionSummary[]> {
    const rest = 'WHERE sid > $1 AND ($2::text IS NULL OR parent_sid = $2) ORDER BY sid LIMIT $3';
    return summaries(this.#database, this.#schema, rest, after, parent ?? null, limit ?? null);
  }

  async recent(query: RecentQuery): Promise<readonly SessionSummary[]> {
    return summaries(this.#database, this.#schema, ...recentSql(query, (n) => `$${n}`));
  }

  async summary(sid: string): Promise<SessionSummary | null> {
    return (await summaries(this.#database, this.#schema, 'WHERE sid = $1', sid))[0] ?? null;
  }

  async find(condition: Condition, limit: number): Promise<readonly string[]> {
    if (condition.kind === 'ready') await this.#database.query(lapseSql(this.#schema));
    const rows = await this.#database.again(...findSql(this.#schema, condition, limit));
    return rows.map(({ sid }) => String(sid));
  }

  /** Also drops the parts of the table of turns that are wholly old; the space of single turns is free after the next vacuum. */
  async prune(pruning: Pruning): Promise<readonly SessionSummary[]> {
    return this.#database.transaction((query) => pruneSessions(query, this.#schema, pruning));
  }

  /** What was erased stays in old versions of rows until the next vacuum, and in the write-ahead log until it is recycled. */
  async erase(sids: readonly string[]): Promise<void> {
    await this.#database.transaction(async (query) => {
      for (const sid of sids) await eraseSession(query, this.#schema, sid);
    });
    for (const table of ['sessions', 'turns', 'steps']) await this.#database.query(`VACUUM ${this.#schema}.${table}`);
  }

  async ping(): Promise<void> {
    await this.#database.query('SELECT 1');
  }

  /** Seals the log, stops listening, and closes the connections that this object made. Leases that are still held expire. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#wakeUps.close();
    await this.log.close();
    await this.#database.end();
  }

  async #claimed(row: Columns): Promise<ClaimedSession> {
    const sid = String(row['sid']);
    const { started, started_nonce: nonce, owed } = row;
    const steps = `SELECT turn, seq, body FROM ${this.#schema}.steps WHERE sid = $1 AND nonce = $2 ORDER BY seq`;
    const unlogged = `SELECT turn, record FROM ${this.#schema}.turns WHERE sid = $1 AND owed = 1 ORDER BY turn`;
    return claimedOf(row, {
      started,
      steps: started === null ? [] : await this.#database.again(steps, sid, nonce),
      used: usedOf(row['used']),
      unlogged: Number(owed) === 0 ? [] : recordsOf(sid, await this.#database.again(unlogged, sid)),
    });
  }

  /** Keeps a session that cannot be read from being claimed with the others; a claim by its id still finds it. */
  async #putAside({ sid, fence }: Columns): Promise<void> {
    await this.#database.query(
      `UPDATE ${this.#schema}.sessions SET lease_owner = NULL, lease_until = NULL, waits_until = $3 WHERE sid = $1 AND fence = $2`,
      ...[sid, Number(fence), Number.MAX_SAFE_INTEGER],
    );
  }

  async #found(sid: string): Promise<Columns> {
    const [row] = await this.#database.again(`SELECT *, ${NOW} AS now FROM ${this.#schema}.sessions WHERE sid = $1`, sid);
    if (row === undefined) throw new SessionStateError(sid, 'unknown');
    return row;
  }

  async #mustHold(sid: string, fence: number): Promise<void> {
    const row = await this.#found(sid);
    if (Number(row['fence']) !== fence || row['lease_owner'] === null)
      throw new SessionLeasedError(sid, leaseOf(row, Number(row['now'])));
  }

  async #wasDone(stamp: string, sid: string): Promise<boolean> {
    const text = `SELECT 1 FROM ${this.#schema}.sessions WHERE sid = $1 AND stamp = $2`;
    return (await this.#database.again(text, sid, stamp)).length > 0;
  }
}

function compare(a: readonly (number | string)[], b: readonly (number | string)[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? '';
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}
