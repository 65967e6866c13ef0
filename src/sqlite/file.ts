import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeOrdinary } from '../files/ordinary.ts';
import { StoreError } from './error.ts';
import { type Format, prepareFormat, schema } from './format.ts';

/** Options for opening a file. */
export interface SqliteFileOptions {
  /**
   * `process` (the default): a finished write survives the death of the process. `power`: it also survives a loss of power, and
   * every transaction waits for the disk. The file stays consistent in both cases.
   */
  readonly durability?: 'process' | 'power';
  /** Milliseconds that a call waits for another process before it throws {@link StoreError} (`busy`); 5000 if absent. */
  readonly busyMs?: number;
  /** Opens only a file that exists. */
  readonly mustExist?: boolean;
}

const DEFAULT_BUSY_MS = 5000;
const RETRY_MS = 5;

/** SQLite's name for a database without a file. */
const IN_MEMORY = ':memory:';

/** A row: values by column. */
export type Row = Readonly<Record<string, SQLInputValue>>;

/**
 * A SQLite file of a known {@link Format} that several processes may use at once. Every call is one transaction in write-ahead
 * mode: if a process is killed, the file is as it was before the call or as it is after it.
 */
export class SqliteFile implements Disposable {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #format: Format;
  readonly #statements = new Map<string, StatementSync>();

  private constructor(database: DatabaseSync, path: string, format: Format) {
    this.#database = database;
    this.#path = path;
    this.#format = format;
  }

  /**
   * Opens the file or makes it; `:memory:` is a database without a file. Throws {@link StoreError}: `foreign` for a file of another kind,
   * `damaged` if SQLite finds damage (it checks every page), `newer` for a file of a later version, `busy`, `io`.
   */
  static async open(path: string, format: Format, options: SqliteFileOptions = {}): Promise<SqliteFile> {
    // A dynamic import, because Node 24 prints a warning when it loads this module.
    const { DatabaseSync: Database } = await import('node:sqlite');
    try {
      // Only the owner may read the file. SQLite gives the files beside it the same mode.
      if (path !== IN_MEMORY) makeOrdinary(path, { mustExist: options.mustExist ?? false });
    } catch (error) {
      throw new StoreError('io', `${path} cannot be opened: ${openTrouble(error, options.mustExist ?? false)}`, { cause: error });
    }
    const { busyMs = DEFAULT_BUSY_MS } = options;
    const database = guarded(
      path,
      format,
      () => new Database(path, { timeout: busyMs, enableForeignKeyConstraints: false, defensive: true }),
    );
    try {
      guarded(path, format, () => {
        // Reads first, so that a file that is not a database fails before anything is written to it.
        database.exec('PRAGMA trusted_schema = OFF; SELECT count(*) FROM sqlite_schema');
        prepareFormat(database, path, format, (migrations) => {
          const fresh = new Database(IN_MEMORY);
          try {
            for (const migration of migrations) fresh.exec(migration);
            return schema(fresh);
          } finally {
            fresh.close();
          }
        });
      });
      await untilFree(busyMs, () => guarded(path, format, () => database.exec('PRAGMA journal_mode = WAL')));
      guarded(path, format, () => database.exec(`PRAGMA synchronous = ${options.durability === 'power' ? 'FULL' : 'NORMAL'}`));
      return new SqliteFile(database, path, format);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** Runs one transaction. It takes the write lock before it reads, so nothing that it has read changes until it ends. */
  write<T>(work: () => T): T {
    return this.read(() => {
      this.run('BEGIN IMMEDIATE');
      try {
        const result = work();
        this.run('COMMIT');
        return result;
      } catch (error) {
        if (this.#database.isTransaction) this.run('ROLLBACK');
        throw error;
      }
    });
  }

  /** Runs `work` and turns SQLite's errors into {@link StoreError}. */
  read<T>(work: () => T): T {
    return guarded(this.#path, this.#format, work);
  }

  /** The first row. Call it within {@link read} or {@link write}. */
  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#reading(sql, (statement) => oneOrNone(statement.get(...values)))[0];
  }

  /** All rows. Call it within {@link read} or {@link write}. */
  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#reading(sql, (statement) => statement.all(...values));
  }

  /** Runs a statement and returns the number of changed rows. Call it within {@link write}. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepared(sql).run(...values).changes);
  }

  /**
   * Writes the file anew, without free pages, and empties its write-ahead log. Takes time in proportion to the file. Throws
   * {@link StoreError} (`busy`) while another process reads; then repeat it.
   */
  compact(): void {
    const path = this.#path;
    const log = this.read(() => {
      this.run('VACUUM');
      return this.get('PRAGMA wal_checkpoint(TRUNCATE)');
    });
    if (log?.['busy'] !== 0)
      throw new StoreError('busy', `${path} is in use by another process: repeat this, so that nothing old is left`);
  }

  /** Closes the file. Idempotent. */
  [Symbol.dispose](): void {
    if (this.#database.isOpen) this.#database.close();
  }

  /**
   * Reads rows. No number of this package exceeds those of JavaScript, but a file is foreign: a number that does comes rounded, so that one
   * such row does not hide the others.
   */
  #reading(sql: string, work: (statement: StatementSync) => Row[]): Row[] {
    const statement = this.#prepared(sql);
    try {
      return work(statement);
    } catch (error) {
      // Anything but a SELECT would take effect twice.
      if (!isOutOfRange(error) || !sql.startsWith('SELECT')) throw error;
    }
    statement.setReadBigInts(true);
    try {
      return work(statement).map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([column, value]) => [column, typeof value === 'bigint' ? Number(value) : value]),
        ),
      );
    } finally {
      statement.setReadBigInts(false);
    }
  }

  #prepared(sql: string): StatementSync {
    const known = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }
}

/**
 * Repeats `work` while another process uses the file, for at most `busyMs`. The switch to write-ahead mode needs this, because
 * SQLite reports `busy` there without waiting.
 */
async function untilFree(busyMs: number, work: () => void): Promise<void> {
  const deadline = performance.now() + busyMs;
  for (;;) {
    try {
      work();
      return;
    } catch (error) {
      if (!(error instanceof StoreError) || error.detail !== 'busy' || performance.now() >= deadline) throw error;
    }
    await sleep(RETRY_MS);
  }
}

/** SQLite's primary result codes. */
const SQLITE = { busy: 5, locked: 6, corrupt: 11, notadb: 26 } as const;

/** Runs `work` and turns SQLite's errors into {@link StoreError}. */
export function guarded<T>(path: string, format: Pick<Format, 'name'>, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (isOutOfRange(error)) throw new StoreError('damaged', `${path} is damaged: ${error.message}`, { cause: error });
    const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : null;
    if (code === null || !(error instanceof Error)) throw error;
    if (code === SQLITE.notadb)
      throw new StoreError('foreign', `${path} is not a ${format.name}: it is not a SQLite file`, { cause: error });
    if (code === SQLITE.corrupt) throw new StoreError('damaged', `${path} is damaged: ${error.message}`, { cause: error });
    if (code === SQLITE.busy || code === SQLITE.locked)
      throw new StoreError('busy', `${path} is in use by another process for too long`, { cause: error });
    throw new StoreError('io', `${path} cannot be used: ${error.message}`, { cause: error });
  }
}

function oneOrNone(row: Row | undefined): Row[] {
  return row === undefined ? [] : [row];
}

/** Whether Node found a number in a row that is no number of JavaScript. */
function isOutOfRange(error: unknown): error is RangeError {
  return error instanceof RangeError && 'code' in error && error.code === 'ERR_OUT_OF_RANGE';
}

/** Why a file could not be opened or made, in plain words for the common reasons. */
export function openTrouble(error: unknown, mustExist: boolean): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? error.code : null;
  if (code === 'ENOENT') return mustExist ? 'there is no such file' : 'its folder does not exist';
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  if (code === 'EISDIR') return 'it is a folder';
  return code === 'ENXIO' ? 'it is no ordinary file' : error.message;
}
