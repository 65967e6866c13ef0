import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from './error.ts';
import { IN_MEMORY, sqlite } from './module.ts';

/** A kind of SQLite file, and its forms. */
export interface Format {
  /** For messages, such as `store of sessions`. */
  readonly name: string;
  /** Four letters in SQLite's `application_id`. */
  readonly applicationId: number;
  /**
   * The statements that make the first form of an empty file, and each later form of the one before. A file says its form in
   * `user_version`, from 1; this version reads and writes the last one. Statements that were released never change.
   */
  readonly forms: readonly string[];
  /** What to do with a file of an earlier form, for messages; `neuroscript store migrate` when absent. */
  readonly ifOlder?: string;
}

/**
 * Makes the tables of a new file, and refuses a file of another kind or form with {@link StoreError} (`foreign`, `older`, `newer`,
 * `damaged`). One transaction covers everything.
 */
export function prepareFormat(database: DatabaseSync, path: string, format: Format): void {
  inTransaction(database, path, format, (form) => {
    if (form === 0) makeForm(database, format);
    else if (form < format.forms.length) throw otherForm(path, form, format.forms.length, format.ifOlder);
  });
}

/** Brings a file to the last form. Returns the form that it had; 0 for a new file. Throws as {@link prepareFormat} does. */
export function migrateFormat(database: DatabaseSync, path: string, format: Format): number {
  return inTransaction(database, path, format, (form) => {
    makeForm(database, format, form);
    return form;
  });
}

/** The error for a store of another form than that which this version reads and writes. `ifOlder` says what to do with an earlier one. */
export function otherForm(
  place: string,
  form: number,
  newest: number,
  ifOlder = `run neuroscript store migrate --store ${place}`,
): StoreError {
  if (form > newest)
    return new StoreError(
      'newer',
      `${place} was written by a newer version (form ${form}; this one knows ${newest}): use that version, or a newer one`,
    );
  return new StoreError('older', `${place} has form ${form}, and this version needs form ${newest}: ${ifOlder}`);
}

/**
 * The largest file of which every page is checked when it is opened. Writers wait meanwhile, so hosts of a larger one would lose their leases to
 * each command beside them. SQLite still finds a damaged page when it reads it.
 */
const CHECKED_BYTES = 16 * 1024 ** 2;

/** Runs `work` with the form of a file, which may have nothing but the tables of that form. */
function inTransaction<T>(database: DatabaseSync, path: string, format: Format, work: (form: number) => T): T {
  const { name, applicationId, forms } = format;
  // Reads first, so that a file that is not a database fails before anything is written to it.
  database.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; SELECT count(*) FROM sqlite_schema; BEGIN IMMEDIATE');
  try {
    const form = pragma(database, 'user_version');
    const application = pragma(database, 'application_id');
    const isEmpty = database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
    if (application !== applicationId && !(application === 0 && form === 0 && isEmpty))
      throw new StoreError('foreign', `${path} is a SQLite file of another program, not a ${name}`);
    if (form > forms.length) throw otherForm(path, form, forms.length);
    // Views, triggers and expressions in a crafted file run with our queries, so the file may have nothing but our tables.
    if (schema(database) !== schemaOf(format, form))
      throw new StoreError('foreign', `${path} is not a ${name}: its tables are not those of one`);
    const bytes = pragma(database, 'page_count') * pragma(database, 'page_size');
    const problem = bytes > CHECKED_BYTES ? null : integrityProblem(database);
    if (problem !== null) throw new StoreError('damaged', `${path} is damaged: ${problem}`);
    const result = work(form);
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** Makes the last form of a database that has an earlier one; 0 is an empty one. */
export function makeForm(database: DatabaseSync, { applicationId, forms }: Format, from = 0): void {
  for (const statements of forms.slice(from)) database.exec(statements);
  database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${forms.length}`);
}

/** The schema of a file of this form. */
function schemaOf(format: Format, form: number): string {
  const fresh = new (sqlite().DatabaseSync)(IN_MEMORY);
  try {
    for (const statements of format.forms.slice(0, form)) fresh.exec(statements);
    return schema(fresh);
  } finally {
    fresh.close();
  }
}

/** The first damage that SQLite finds when it checks every page; null if there is none. */
export function integrityProblem(database: DatabaseSync): string | null {
  const [found] = Object.values(database.prepare('PRAGMA integrity_check(1)').get() ?? {});
  return found === 'ok' ? null : String(found);
}

/** A number in the header of a file. */
export function pragma(database: DatabaseSync, name: string): number {
  return Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
}

/** Everything that a file defines, apart from the statistics that ANALYZE keeps. White space does not count. */
function schema(database: DatabaseSync): string {
  const rows = database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name').all();
  const own = rows.filter(({ type, name }) => !(type === 'table' && /^sqlite_stat[1-4]$/.test(String(name))));
  return JSON.stringify(own.map((row) => Object.values(row))).replace(/\\[nrt]|\s/g, '');
}
