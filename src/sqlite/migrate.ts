import { guarded, openDatabase, type SqliteFileOptions } from './file.ts';
import { type Format, migrateFormat, pragma } from './format.ts';

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
