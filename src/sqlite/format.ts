import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from './error.ts';

/** What makes a SQLite file one of ours, and the steps to its present form. */
export interface Format {
  /** For messages, such as `store of sessions`. */
  readonly name: string;
  /** Four letters in the field that SQLite keeps for this purpose. */
  readonly applicationId: number;
  /**
   * The steps from an empty file to the form that this version uses; `user_version` counts those that were taken. A step
   * that was ever released is never changed: a new form is a new step.
   */
  readonly migrations: readonly string[];
}

/**
 * Gives a new file its form, brings an older one to the present form, and refuses every other file with {@link StoreError}
 * (`foreign`, `newer`, `damaged`). All in one transaction: a file is never left between two forms.
 */
export function prepareFormat(database: DatabaseSync, path: string, { name, applicationId, migrations }: Format): void {
  const problem = integrityProblem(database);
  if (problem !== null) throw new StoreError('damaged', `${path} is damaged: ${problem}`);
  database.exec('BEGIN IMMEDIATE');
  try {
    const version = pragma(database, 'user_version');
    const application = pragma(database, 'application_id');
    if (application !== applicationId && !(application === 0 && version === 0 && isEmpty(database)))
      throw new StoreError('foreign', `${path} is a SQLite file of another program, not a ${name}`);
    if (version > migrations.length)
      throw new StoreError(
        'newer',
        `${path} was written by a newer version (form ${version}; this one knows ${migrations.length})`,
      );
    for (const migration of migrations.slice(version)) database.exec(migration);
    if (version < migrations.length)
      database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${migrations.length}`);
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** What SQLite finds damaged when it looks at every page; null for nothing. */
export function integrityProblem(database: DatabaseSync): string | null {
  const [found] = Object.values(database.prepare('PRAGMA integrity_check(1)').get() ?? {});
  return found === 'ok' ? null : String(found);
}

/** A number that SQLite keeps for a file. */
export function pragma(database: DatabaseSync, name: string): number {
  return Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
}

function isEmpty(database: DatabaseSync): boolean {
  return database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
}
