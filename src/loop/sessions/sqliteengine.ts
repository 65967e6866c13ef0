import type { SqliteFile } from '../../sqlite/file.ts';
import { IN_MEMORY } from '../../sqlite/module.ts';
import type { Row } from '../../sqlite/sql.ts';
import { SQLITE_DIALECT, SqliteSql } from '../../sqlite/sqlitesql.ts';
import type { Clock } from '../clock.ts';
import { chained, GENESIS } from '../log/chain.ts';
import { hashOfLine } from '../log/sqllog.ts';
import type { SessionsDialect, SessionsEngine } from './engine.ts';
import { READER, type Runnable } from './setup.ts';
import { statementsOf } from './statements.ts';
import type { Lease } from './store.ts';
import { READY } from './tables.ts';
import { Wakes } from './wakes.ts';

/** Milliseconds between two looks for changes by other processes. */
const LOOK_MS = 100;

const DIALECT: SessionsDialect = {
  ...SQLITE_DIALECT,
  // One process writes at a time, so an entry is chained when it is added.
  entry: (sid, turn, text, condition) =>
    `INSERT INTO main.decisions (line, sid, turn, text)
     SELECT coalesce(last.line, 0) + 1, ${sid}, ${turn}, chained_line(${text}, last.line, last.text)
     FROM (SELECT 1) AS one LEFT JOIN (SELECT line, text FROM main.decisions ORDER BY line DESC LIMIT 1) AS last WHERE ${condition}`,
};

const { lapse, claim } = statementsOf(DIALECT);

/** The index is named because SQLite does not count rows and would choose that on the status, which has all open sessions. */
const READY_SESSIONS = `main.sessions INDEXED BY sessions_ready WHERE ${READY} AND profile = $1 AND reader = $2`;

/** Sessions in a SQLite file or in memory. Each search reads an index with only the sessions that it is for. */
export class SqliteEngine implements SessionsEngine, Disposable {
  readonly sql: SqliteSql<SessionsDialect>;
  readonly #wakes = new Wakes();
  readonly #isShared: boolean;
  #timer: NodeJS.Timeout | null = null;
  /** The tenant that was served last. */
  #served = '';

  /** `open` is called when the file is needed first. */
  constructor(path: string, open: () => SqliteFile, clock: Pick<Clock, 'now'>) {
    const opened = (): SqliteFile => {
      const file = open();
      file.define('chained_line', chainedLine);
      return file;
    };
    this.sql = new SqliteSql(DIALECT, opened, () => clock.now());
    this.#isShared = path !== IN_MEMORY;
  }

  async admitting(): Promise<void> {
    // A transaction has the file for itself.
  }

  async lapse(): Promise<void> {
    await this.sql.alone((file) => file.write(() => this.#lapse()));
  }

  next({ owner, ms }: Lease, most: number, runnable: Runnable): Promise<readonly Row[]> {
    return this.sql.alone((file) =>
      file.write(() => {
        this.#lapse();
        const claimed: Row[] = [];
        while (claimed.length < most) {
          const first = this.#first(runnable);
          if (first === undefined) break;
          claimed.push(...this.sql.rows(claim, [first['sid'], owner, Math.floor(ms), runnable.reader ?? READER]));
        }
        return claimed;
      }),
    );
  }

  onReady(wake: () => void): () => void {
    const stop = this.#wakes.on(wake);
    if (this.#isShared) this.#timer ??= this.#watch();
    return () => {
      stop();
      if (this.#wakes.size === 0) this.#stop();
    };
  }

  wake(): void {
    this.#wakes.wake();
  }

  logged(): void {}

  async seal(): Promise<void> {}

  async pruning(): Promise<void> {}

  /** Free pages and the write-ahead log still hold the old content. */
  async scrub(): Promise<void> {
    if (this.#isShared) await this.sql.alone((file) => file.compact());
  }

  /** Makes everything as it was at first. */
  clear(): void {
    this.#stop();
    this.#wakes.clear();
    this.#served = '';
    const { file } = this.sql;
    file.write(() => {
      for (const { name } of file.all(`SELECT name FROM sqlite_schema WHERE type = 'table'`)) file.run(`DELETE FROM ${name}`);
    });
  }

  [Symbol.dispose](): void {
    this.#stop();
    this.sql[Symbol.dispose]();
  }

  #lapse(): void {
    for (const text of lapse) this.sql.rows(text, []);
  }

  /** The session to claim next: the longest ready one of the tenant that follows the last served tenant. */
  #first(runnable: Runnable): Row | undefined {
    const lanes = lanesOf(runnable);
    const without = new Set(runnable.without);
    const tenant = this.#tenant(lanes, this.#served, without) ?? this.#tenant(lanes, null, without);
    if (tenant === null) return undefined;
    this.#served = tenant;
    const text = `SELECT sid, idle_since FROM ${READY_SESSIONS} AND tenant = $3 ORDER BY idle_since, sid LIMIT 1`;
    const firsts = lanes.flatMap(({ profile, reader }) => this.sql.rows(text, [profile, reader, tenant]));
    return firsts.sort((a, b) => Number(a['idle_since']) - Number(b['idle_since']))[0];
  }

  /** The first tenant after `after` that has a session to claim, or the first of all if `after` is null; null without one. */
  #tenant(lanes: readonly Lane[], after: string | null, without: ReadonlySet<string>): string | null {
    for (let than = after; ; ) {
      const text = `SELECT tenant FROM ${READY_SESSIONS} AND tenant ${than === null ? '>=' : '>'} $3 ORDER BY tenant LIMIT 1`;
      const rows = lanes.flatMap(({ profile, reader }) => this.sql.rows(text, [profile, reader, than ?? '']));
      const first = rows.map(({ tenant }) => String(tenant)).sort()[0] ?? null;
      if (first === null || !without.has(first)) return first;
      than = first;
    }
  }

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
    const { file } = this.sql;
    return file.read(() => file.get('PRAGMA data_version')?.['data_version']);
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}

/** The line of an entry after the last line of the log, which is null in an empty log. */
function chainedLine(entry: unknown, line: unknown, text: unknown): string {
  // The store gives the JSON of an entry.
  const given = JSON.parse(String(entry)) as object;
  return chained(given, text === null ? GENESIS : hashOfLine(text, Number(line))).text;
}

interface Lane {
  readonly profile: string;
  readonly reader: number;
}

/** The key prefixes of the index that cover the sessions a host can run. */
function lanesOf({ profiles, reader = READER }: Runnable): readonly Lane[] {
  return profiles.flatMap((profile) => Array.from({ length: reader }, (_, before) => ({ profile, reader: before + 1 })));
}
