import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { StoreError } from './error.ts';
import { guarded, type Row } from './file.ts';
import { type Format, integrityProblem, pragma } from './format.ts';

const ANY = { name: 'SQLite file' };

/**
 * A look at a SQLite file of whatever origin that changes nothing: neither the file nor its folder. What another process has
 * written and not yet folded into the file is seen as well, as long as it lies beside it (`FILE-wal`).
 */
export class SqliteLook implements Disposable {
  readonly #database: DatabaseSync;
  readonly #path: string;
  /** What marks the files of one program; 0 when none does. */
  readonly applicationId: number;
  /** How many steps the form of the file has taken. */
  readonly version: number;
  /** Whether there are changes beside the file that are not in it. */
  readonly unfolded: boolean;

  private constructor(database: DatabaseSync, path: string, unfolded: boolean) {
    this.#database = database;
    this.#path = path;
    this.unfolded = unfolded;
    this.applicationId = pragma(database, 'application_id');
    this.version = pragma(database, 'user_version');
  }

  /** Throws {@link StoreError}: `foreign` for what is no SQLite file, `damaged`, `busy`, `io`. */
  static async open(path: string): Promise<SqliteLook> {
    const { DatabaseSync: Database } = await import('node:sqlite');
    const unfolded = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    const url = pathToFileURL(path);
    // Without changes beside it nobody writes to the file; so SQLite need not make its own files there to lock it.
    if (!unfolded) url.searchParams.set('immutable', '1');
    return guarded(path, ANY, () => {
      const database = new Database(url, { readOnly: true, timeout: 5000 });
      try {
        // What a crafted file has in its schema must not do anything.
        database.exec('PRAGMA trusted_schema = OFF');
        return new SqliteLook(database, path, unfolded);
      } catch (error) {
        database.close();
        throw error;
      }
    });
  }

  /** Throws {@link StoreError} (`damaged`) when a page is. */
  mustBeWhole(): void {
    guarded(this.#path, ANY, () => {
      const problem = integrityProblem(this.#database);
      if (problem !== null) throw new StoreError('damaged', `${this.#path} is damaged: ${problem}`);
    });
  }

  /** The names of what the file has of a type, such as `table`. */
  names(type: 'table' | 'view'): readonly string[] {
    return this.all('SELECT name FROM sqlite_schema WHERE type = ? LIMIT 1000', type).map(({ name }) => String(name));
  }

  /** Every row. Throws {@link StoreError}. */
  all(sql: string, ...values: readonly (string | number)[]): readonly Row[] {
    return guarded(this.#path, ANY, () => this.#database.prepare(sql).all(...values));
  }

  [Symbol.dispose](): void {
    if (this.#database.isOpen) this.#database.close();
  }
}

/** What a look at a file of a known {@link Format} gave. */
export interface Looked<Contents> {
  /** How many steps the form of the file has taken; more than `newest` when a newer version wrote it. */
  readonly version: number;
  /** How many steps this version knows. */
  readonly newest: number;
  /** Whether there are changes beside the file that are not in it. */
  readonly unfolded: boolean;
  /** What was read; the error (`damaged`) when that is not possible. */
  readonly contents: Contents | StoreError;
}

/** Looks at a file, if it is of the format; null if it is not. Throws {@link StoreError}: `foreign`, `busy`, `io`, `damaged`. */
export async function lookAt<Contents>(
  path: string,
  format: Format,
  read: (look: SqliteLook) => Contents,
): Promise<Looked<Contents> | null> {
  using look = await SqliteLook.open(path);
  if (look.applicationId !== format.applicationId) return null;
  const { version, unfolded } = look;
  return { version, newest: format.migrations.length, unfolded, contents: attempt(look, read) };
}

function attempt<Contents>(look: SqliteLook, read: (look: SqliteLook) => Contents): Contents | StoreError {
  try {
    look.mustBeWhole();
    return read(look);
  } catch (error) {
    if (error instanceof StoreError && error.detail === 'damaged') return error;
    throw error;
  }
}
