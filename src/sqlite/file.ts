import { open } from 'node:fs/promises';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from './error.ts';
import { type Format, prepareFormat } from './format.ts';

/** How a file is opened. */
export interface SqliteFileOptions {
  /**
   * What a finished write survives: the death of the process (`process`, the default), or also a loss of power (`power`),
   * which waits for the disk in every transaction. The file is whole in both cases.
   */
  readonly durability?: 'process' | 'power';
  /** Most milliseconds that one call waits for another process; then it throws {@link StoreError} (`busy`). Default 5000. */
  readonly busyMs?: number;
  /** Open a file that exists, and make none. */
  readonly mustExist?: boolean;
}

const DEFAULT_BUSY_MS = 5000;
const RETRY_MS = 5;

/** A row, by column. */
export type Row = Readonly<Record<string, SQLInputValue>>;

/**
 * A SQLite file of a known {@link Format} that several processes may use at once. One transaction per call, in write-ahead
 * mode: a process that is killed at any instant leaves the file as it was before the call, or as it is after it.
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
   * Opens the file or makes it. Throws {@link StoreError}: `foreign` for a file of another kind, `damaged` when SQLite finds
   * it damaged (every page is looked at), `newer` for one of a later version, `busy`, `io`.
   */
  static async open(path: string, format: Format, options: SqliteFileOptions = {}): Promise<SqliteFile> {
    // Loaded here alone: Node 24 says at the import that the module is new, and whoever needs no file should not read that.
    const { DatabaseSync: Database } = await import('node:sqlite');
    try {
      // Made here, readable by its owner alone; SQLite gives the files beside it the same rights.
      await (await open(path, options.mustExist ? 'r+' : 'a', 0o600)).close();
    } catch (error) {
      throw new StoreError('io', `${path} cannot be opened: ${openTrouble(error, options.mustExist ?? false)}`, { cause: error });
    }
    const { busyMs = DEFAULT_BUSY_MS } = options;
    const database = guarded(path, format, () => new Database(path, { timeout: busyMs, enableForeignKeyConstraints: false }));
    try {
      guarded(path, format, () => {
        // Reads first, so that a file that is not a database fails before anything is written to it.
        database.exec('SELECT count(*) FROM sqlite_schema');
        prepareFormat(database, path, format);
      });
      await untilFree(busyMs, () => guarded(path, format, () => database.exec('PRAGMA journal_mode = WAL')));
      guarded(path, format, () => database.exec(`PRAGMA synchronous = ${options.durability === 'power' ? 'FULL' : 'NORMAL'}`));
      return new SqliteFile(database, path, format);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** One transaction, which waits for its turn before it reads: nothing it has read can change until it ends. */
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

  /** Runs `work` with what SQLite throws put in our own words: {@link StoreError}. */
  read<T>(work: () => T): T {
    return guarded(this.#path, this.#format, work);
  }

  /** The first row, inside of {@link read} or {@link write}. */
  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#prepared(sql).get(...values);
  }

  /** Every row, inside of {@link read} or {@link write}. */
  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepared(sql).all(...values);
  }

  /** The number of rows that were changed; inside of {@link write}. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepared(sql).run(...values).changes);
  }

  /** Closes the file. Idempotent. */
  [Symbol.dispose](): void {
    if (this.#database.isOpen) this.#database.close();
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

/** SQLite's own result codes, without their extensions. */
const SQLITE = { busy: 5, locked: 6, corrupt: 11, notadb: 26 } as const;

/** Runs `work` with what SQLite throws put in our own words: {@link StoreError}. */
export function guarded<T>(path: string, format: Pick<Format, 'name'>, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : null;
    if (code === null || !(error instanceof Error)) throw error;
    if (code === SQLITE.notadb)
      throw new StoreError('foreign', `${path} is no ${format.name}: it is no SQLite file`, { cause: error });
    if (code === SQLITE.corrupt) throw new StoreError('damaged', `${path} is damaged: ${error.message}`, { cause: error });
    if (code === SQLITE.busy || code === SQLITE.locked)
      throw new StoreError('busy', `${path} is in use by another process for too long`, { cause: error });
    throw new StoreError('io', `${path} cannot be used: ${error.message}`, { cause: error });
  }
}

/** Why a file could be neither opened nor made, in words for the reasons that people meet. */
function openTrouble(error: unknown, mustExist: boolean): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? error.code : null;
  if (code === 'ENOENT') return mustExist ? 'there is no such file' : 'its folder does not exist';
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  return error.message;
}
