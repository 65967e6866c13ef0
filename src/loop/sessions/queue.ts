import type { Row, SqliteFile } from '../../sqlite/file.ts';
import { READER, type Runnable } from './setup.ts';
import type { Condition } from './store.ts';
import { Wakes } from './wakes.ts';

/** Most sessions with an ended lease or wait that one call handles. */
const LAPSES = 1000;

/** Milliseconds between two looks for changes by other processes. */
const LOOK_MS = 100;

/**
 * The sessions of one index of `tables.ts`. The condition must be the same text as that of the index. The query names the index because
 * SQLite does not count rows and would choose the index on the status, which has all open sessions.
 */
const READY = `sessions INDEXED BY sessions_ready WHERE status = 'open' AND nested = 0 AND lease_owner IS NULL AND waits_until IS NULL`;
const LEASED = `sessions INDEXED BY sessions_leased WHERE status = 'open' AND nested = 0 AND lease_owner IS NOT NULL`;
const WAITING = `sessions INDEXED BY sessions_waiting WHERE status = 'open' AND nested = 0 AND lease_owner IS NULL AND waits_until IS NOT NULL`;
const NESTED = `sessions INDEXED BY sessions_nested WHERE status = 'open' AND nested = 1`;
const OWING = 'sessions INDEXED BY sessions_owing WHERE end_owed = 1';

/**
 * Finds the sessions of a SQLite store that need a host or an operator. Each search reads an index with only these sessions, so its cost
 * does not grow with the store.
 */
export class SqliteQueue implements Disposable {
  readonly #file: SqliteFile;
  readonly #wakes = new Wakes();
  #timer: NodeJS.Timeout | null = null;
  /** The tenant that was served last. */
  #served = '';

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  /** Clears leases and waits whose time is over. Must run within a transaction, like the other methods. */
  lapse(now: number): void {
    this.#file.run(
      `UPDATE sessions SET lease_owner = NULL, idle_since = lease_until, lease_until = NULL
       WHERE sid IN (SELECT sid FROM ${LEASED} AND lease_until <= ? ORDER BY lease_until LIMIT ${LAPSES})`,
      now,
    );
    this.#file.run(
      `UPDATE sessions SET idle_since = waits_until, waits_until = NULL
       WHERE sid IN (SELECT sid FROM ${WAITING} AND waits_until <= ? ORDER BY waits_until LIMIT ${LAPSES})`,
      now,
    );
  }

  /** The session to claim next: the longest ready one of the tenant that follows the last served tenant. */
  first(runnable: Runnable): Row | undefined {
    const lanes = lanesOf(runnable);
    const without = new Set(runnable.without);
    const tenant = this.#tenant(lanes, this.#served, without) ?? this.#tenant(lanes, null, without);
    if (tenant === null) return undefined;
    this.#served = tenant;
    const firsts = lanes.flatMap(({ profile, reader }) => {
      const sql = `SELECT * FROM ${READY} AND profile = ? AND reader = ? AND tenant = ? ORDER BY idle_since, sid LIMIT 1`;
      const row = this.#file.get(sql, profile, reader, tenant);
      return row === undefined ? [] : [row];
    });
    return firsts.sort((a, b) => Number(a['idle_since']) - Number(b['idle_since']))[0];
  }

  /** Excludes a session that cannot be read from the queue. A claim by its id still finds it. */
  putAside(sid: string): void {
    this.#file.run('UPDATE sessions SET waits_until = ? WHERE sid = ?', Number.MAX_SAFE_INTEGER, sid);
  }

  /** Implements `SessionStore.find`. */
  find(condition: Condition, limit: number, now: number): readonly string[] {
    const { kind } = condition;
    const all = (sql: string, ...values: readonly (string | number)[]): readonly string[] =>
      this.#file.all(`${sql} LIMIT ?`, ...values, limit).map(({ sid }) => String(sid));
    if (kind === 'owing')
      return all(
        `SELECT sid FROM (SELECT DISTINCT sid FROM turns WHERE owed = 1 AND sid > ?
         UNION SELECT sid FROM ${OWING} AND sid > ?) ORDER BY sid`,
        ...[condition.after, condition.after],
      );
    if (kind === 'orphaned')
      return all(
        `SELECT sid FROM ${NESTED} AND sid > ? AND idle_since <= ?
         AND (lease_owner IS NULL OR lease_until <= ?) ORDER BY sid`,
        ...[condition.after, now - condition.idleMs, now],
      );
    this.lapse(now);
    const own = all(`SELECT sid FROM ${LEASED} AND lease_owner = ?`, condition.owner);
    return [...own, ...all(`SELECT sid FROM ${READY} ORDER BY profile, reader, tenant, idle_since`)].slice(0, limit);
  }

  onReady(wake: () => void): () => void {
    const stop = this.#wakes.on(wake);
    this.#timer ??= this.#watch();
    return () => {
      stop();
      if (this.#wakes.size === 0) this[Symbol.dispose]();
    };
  }

  wake(): void {
    this.#wakes.wake();
  }

  [Symbol.dispose](): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Watches for changes by other processes. */
  #watch(): NodeJS.Timeout {
    let version = this.#version();
    const timer = setInterval(() => {
      const before = version;
      version = this.#version();
      if (version !== before) this.wake();
    }, LOOK_MS);
    return timer.unref();
  }

  /** A number that differs after every change by another process. */
  #version(): unknown {
    return this.#file.read(() => this.#file.get('PRAGMA data_version')?.['data_version']);
  }

  /** The first tenant after `after` that has a session to claim, or the first of all if `after` is null; null without one. */
  #tenant(lanes: readonly Lane[], after: string | null, without: ReadonlySet<string>): string | null {
    for (let than = after; ; ) {
      const tenants = lanes.flatMap(({ profile, reader }) => {
        const sql = `SELECT tenant FROM ${READY} AND profile = ? AND reader = ? AND tenant ${than === null ? '>=' : '>'} ? ORDER BY tenant LIMIT 1`;
        const row = this.#file.get(sql, profile, reader, than ?? '');
        return row === undefined ? [] : [String(row['tenant'])];
      });
      const first = tenants.sort()[0] ?? null;
      if (first === null || !without.has(first)) return first;
      than = first;
    }
  }
}

interface Lane {
  readonly profile: string;
  readonly reader: number;
}

/** The key prefixes of the index that cover the sessions a host can run. */
function lanesOf({ profiles, reader = READER }: Runnable): readonly Lane[] {
  return profiles.flatMap((profile) => Array.from({ length: reader }, (_, before) => ({ profile, reader: before + 1 })));
}
