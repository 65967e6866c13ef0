import { closeSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { openOrdinary } from '../files/ordinary.ts';
import { StoreError } from './error.ts';
import { guarded, openTrouble, type SqliteRow } from './file.ts';
import { type Format, integrityProblem, pragma } from './format.ts';
import { onlyOrdinaryBeside, sqlite } from './module.ts';

const ANY = { name: 'database' };

/**
 * Reads a SQLite file of any origin and changes neither the file nor its folder. It also sees the changes that another process
 * has written to the log beside the file (`FILE-wal`).
 */
export class SqliteReader implements Disposable {
  readonly #database: DatabaseSync;
  readonly #path: string;
  /** The mark of the program that the file belongs to; 0 if there is none. */
  readonly applicationId: number;
  readonly version: number;
  /** True if the log beside the file has changes that are not in the file. */
  readonly unfolded: boolean;

  private constructor(database: DatabaseSync, path: string, unfolded: boolean) {
    this.#database = database;
    this.#path = path;
    this.unfolded = unfolded;
    this.applicationId = pragma(database, 'application_id');
    this.version = pragma(database, 'user_version');
  }

  /** Throws {@link StoreError}: `foreign` if the file is not a SQLite file, `damaged`, `busy`, `io`. */
  static async open(path: string): Promise<SqliteReader> {
    const { DatabaseSync: Database } = sqlite();
    try {
      // SQLite would wait for the writer of a named pipe.
      closeSync(openOrdinary(path));
    } catch (error) {
      throw new StoreError('io', `${path} cannot be opened: ${openTrouble(error, true)}`, { cause: error });
    }
    onlyOrdinaryBeside(path);
    const unfolded = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    const url = pathToFileURL(path);
    // Without a log nobody writes to the file, so SQLite need not create lock files beside it.
    if (!unfolded) url.searchParams.set('immutable', '1');
    return guarded(path, ANY, () => {
      const database = new Database(url, { readOnly: true, timeout: 5000 });
      try {
        // The schema of a crafted file must not run code.
        database.exec('PRAGMA trusted_schema = OFF');
        return new SqliteReader(database, path, unfolded);
      } catch (error) {
        database.close();
        throw error;
      }
    });
  }

  /** Throws {@link StoreError} (`damaged`) if a page is damaged. */
  mustBeWhole(): void {
    guarded(this.#path, ANY, () => {
      const problem = integrityProblem(this.#database);
      if (problem !== null) throw new StoreError('damaged', `${this.#path} is damaged: ${problem}`);
    });
  }

  names(type: 'table' | 'view'): readonly string[] {
    return this.all('SELECT name FROM sqlite_schema WHERE type = ? LIMIT 1000', type).map(({ name }) => String(name));
  }

  /** All rows. Throws {@link StoreError}. */
  all(sql: string, ...values: readonly (string | number)[]): readonly SqliteRow[] {
    return guarded(this.#path, ANY, () => this.#database.prepare(sql).all(...values));
  }

  [Symbol.dispose](): void {
    if (this.#database.isOpen) this.#database.close();
  }
}

/** The result of reading a file of a known {@link Format}. */
export interface SqliteReading<Contents> {
  /** The form of the file; more than `newest` if a newer version wrote it. */
  readonly version: number;
  /** The form that this version reads and writes. */
  readonly newest: number;
  /** True if the log beside the file has changes that are not in the file. */
  readonly unfolded: boolean;
  /** The content, or the error (`damaged`) if it cannot be read. */
  readonly contents: Contents | StoreError;
}

/**
 * Reads a file of a format that must have these tables; null for a file of another format. Throws {@link StoreError}: `foreign`,
 * `busy`, `io`, `damaged`.
 */
export async function readSqlite<Contents>(
  path: string,
  format: Format,
  tables: readonly string[],
  read: (reader: SqliteReader) => Contents,
): Promise<SqliteReading<Contents> | null> {
  using reader = await SqliteReader.open(path);
  if (reader.applicationId !== format.applicationId) return null;
  const { version, unfolded } = reader;
  return { version, newest: format.forms.length, unfolded, contents: attempt(reader, format, tables, read) };
}

function attempt<Contents>(
  reader: SqliteReader,
  { name }: Format,
  tables: readonly string[],
  read: (reader: SqliteReader) => Contents,
): Contents | StoreError {
  try {
    reader.mustBeWhole();
    const present = reader.names('table');
    const missing = tables.find((table) => !present.includes(table));
    if (missing !== undefined) throw new StoreError('damaged', `the ${name} has no table '${missing}'`);
    return read(reader);
  } catch (error) {
    if (error instanceof StoreError && error.detail === 'damaged') return error;
    throw error;
  }
}
