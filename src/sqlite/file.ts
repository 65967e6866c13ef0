import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeOrdinary } from '../files/ordinary.ts';
import { StoreError } from './error.ts';
import { type Format, makeForm, migrateFormat, pragma, prepareFormat } from './format.ts';
import { IN_MEMORY, onlyOrdinaryBeside, sqlite } from './module.ts';

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

/** A row: values by column. */
export type SqliteRow = Readonly<Record<string, SQLInputValue>>;

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
   * `damaged` if SQLite finds damage (it checks every page), `older` and `newer` for a file of another form, `busy`, `io`.
   */
  static async open(path: string, format: Format, options: SqliteFileOptions = {}): Promise<SqliteFile> {
    if (path === IN_MEMORY) return SqliteFile.memory(format);
    const { busyMs = DEFAULT_BUSY_MS } = options;
    const database = openDatabase(path, format, options);
    try {
      guarded(path, format, () => prepareFormat(database, path, format));
      await untilFree(busyMs, () => guarded(path, format, () => database.exec('PRAGMA journal_mode = WAL')));
      guarded(path, format, () => database.exec(`PRAGMA synchronous = ${options.durability === 'power' ? 'FULL' : 'NORMAL'}`));
      return new SqliteFile(database, path, format);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** A database without a file. */
  static memory(format: Format): SqliteFile {
    const database = new (sqlite().DatabaseSync)(IN_MEMORY, { enableForeignKeyConstraints: false, defensive: true });
    makeForm(database, format);
    return new SqliteFile(database, IN_MEMORY, format);
  }

  /** Makes a function of SQL. An error that it throws is thrown by the statement that calls it. */
  define(name: string, work: (...values: SQLInputValue[]) => SQLInputValue): void {
    this.#database.function(name, { varargs: true }, work);
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
        this.#rollBack();
        throw error;
      }
    });
  }

  /** As {@link write}, for `work` that resolves later. Nothing else may use this object until then. */
  async writeLater<T>(work: () => Promise<T>): Promise<T> {
    this.read(() => this.run('BEGIN IMMEDIATE'));
    try {
      const result = await work();
      this.read(() => this.run('COMMIT'));
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  #rollBack(): void {
    if (this.#database.isTransaction) this.run('ROLLBACK');
  }

  /** Runs `work` and turns SQLite's errors into {@link StoreError}. */
  read<T>(work: () => T): T {
    return guarded(this.#path, this.#format, work);
  }

  /** The first row. Call it within {@link read} or {@link write}. */
  get(sql: string, ...values: SQLInputValue[]): SqliteRow | undefined {
    return this.#reading(sql, (statement) => oneOrNone(statement.get(...values)))[0];
  }

  /** All rows. Call it within {@link read} or {@link write}. */
  all(sql: string, ...values: SQLInputValue[]): SqliteRow[] {
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
  #reading(sql: string, work: (statement: StatementSync) => SqliteRow[]): SqliteRow[] {
    const statement = this.#prepared(sql);
    // Anything but a SELECT would take effect twice when it is repeated.
    if (!sql.startsWith('SELECT')) return rounded(statement, work);
    try {
      return work(statement);
    } catch (error) {
      if (!isOutOfRange(error)) throw error;
      return rounded(statement, work);
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
    if (error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE')
      throw new StoreError('order', `${path} has been closed: open the ${format.name} again`, { cause: error });
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

function oneOrNone(row: SqliteRow | undefined): SqliteRow[] {
  return row === undefined ? [] : [row];
}

/** Reads rows with numbers of any size, and rounds these to numbers of JavaScript. */
function rounded(statement: StatementSync, work: (statement: StatementSync) => SqliteRow[]): SqliteRow[] {
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

/** Opens the database of a file, or makes the file, which only its owner may read. */
export function openDatabase(
  path: string,
  format: Pick<Format, 'name'>,
  { busyMs = DEFAULT_BUSY_MS, mustExist = false }: SqliteFileOptions,
): DatabaseSync {
  try {
    // SQLite gives the files beside it the same mode.
    makeOrdinary(path, { mustExist });
  } catch (error) {
    throw new StoreError('io', `${path} cannot be opened: ${openTrouble(error, mustExist)}`, { cause: error });
  }
  onlyOrdinaryBeside(path);
  const { DatabaseSync: Database } = sqlite();
  return guarded(
    path,
    format,
    () => new Database(path, { timeout: busyMs, enableForeignKeyConstraints: false, defensive: true }),
  );
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
  return code === 'ENXIO' ? 'it is not an ordinary file' : error.message;
}

/** The form of a store before and after a migration. */
export interface FormChange {
  /** 0 for a store that was made. */
  readonly from: number;
  readonly to: number;
}

/**
 * Brings a file to the last form of its kind, which is one of `kinds`; a new file becomes one of the first kind. Throws `StoreError` as
 * `SqliteFile.open` does.
 */
export function migrateFile(path: string, kinds: readonly [Format, ...Format[]], options: SqliteFileOptions = {}): FormChange {
  const [first] = kinds;
  const database = openDatabase(path, first, options);
  try {
    return guarded(path, first, () => {
      const application = pragma(database, 'application_id');
      const format = kinds.find(({ applicationId }) => applicationId === application) ?? first;
      return { from: migrateFormat(database, path, format), to: format.forms.length };
    });
  } finally {
    database.close();
  }
}
