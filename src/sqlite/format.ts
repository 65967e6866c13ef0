import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from './error.ts';

/** A kind of SQLite file, and the migrations to its present version. */
export interface Format {
  /** For messages, such as `store of sessions`. */
  readonly name: string;
  /** Four letters in SQLite's `application_id`. */
  readonly applicationId: number;
  /**
   * The migrations from an empty file to the present version; `user_version` counts those that have run. A released migration
   * never changes: a new version adds one.
   */
  readonly migrations: readonly string[];
}

/**
 * Initializes a new file, migrates an older one, and refuses every other file with {@link StoreError} (`foreign`, `newer`,
 * `damaged`). One transaction covers everything, so a file is never left between two versions.
 */
export function prepareFormat(
  database: DatabaseSync,
  path: string,
  { name, applicationId, migrations }: Format,
  schemaOf: (migrations: readonly string[]) => string,
): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    const version = pragma(database, 'user_version');
    const application = pragma(database, 'application_id');
    const isEmpty = database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
    if (application !== applicationId && !(application === 0 && version === 0 && isEmpty))
      throw new StoreError('foreign', `${path} is a SQLite file of another program, not a ${name}`);
    if (version > migrations.length)
      throw new StoreError(
        'newer',
        `${path} was written by a newer version (form ${version}; this one knows ${migrations.length})`,
      );
    // Views, triggers and expressions in a crafted file run with our queries, so the file may have nothing but our tables.
    if (schema(database) !== schemaOf(migrations.slice(0, version)))
      throw new StoreError('foreign', `${path} is not a ${name}: its tables are not those of one`);
    const problem = integrityProblem(database);
    if (problem !== null) throw new StoreError('damaged', `${path} is damaged: ${problem}`);
    for (const migration of migrations.slice(version)) database.exec(migration);
    if (version < migrations.length)
      database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${migrations.length}`);
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
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
export function schema(database: DatabaseSync): string {
  const rows = database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name').all();
  const own = rows.filter(({ type, name }) => !(type === 'table' && /^sqlite_stat[1-4]$/.test(String(name))));
  return JSON.stringify(own.map((row) => Object.values(row))).replace(/\\[nrt]|\s/g, '');
}
