import { readSqlite, type SqliteReader, type SqliteReading } from '../../src/sqlite/reader.ts';
import { VALUES } from './tables.ts';

/** Counts of a storage of tool values, without the values. */
export interface StorageStatistics {
  readonly entries: number;
  /** Bytes, by the counting of the caps. */
  readonly bytes: number;
  /** All scopes that have entries. */
  readonly scopes: number;
  /** The largest scopes, largest first. */
  readonly largest: readonly { readonly scope: string; readonly entries: number; readonly bytes: number }[];
}

/** Maximum number of scopes that the statistics name. */
const LARGEST = 20;

/**
 * Counts the content of a storage of tool values and does not change the file. Null if the file is not such a storage. Throws
 * `StoreError`: `foreign` if it is not a SQLite file, `damaged` if it cannot be opened, `busy`, `io`.
 */
export function storageStatistics(path: string): Promise<SqliteReading<StorageStatistics> | null> {
  return readSqlite(path, VALUES, ['scopes'], statistics);
}

function statistics(reader: SqliteReader): StorageStatistics {
  const [all] = reader.all('SELECT count(*) AS scopes, total(entries) AS entries, total(bytes) AS bytes FROM scopes');
  const largest = reader.all(
    'SELECT substr(scope, 1, 300) AS scope, entries, bytes FROM scopes ORDER BY bytes DESC, scope LIMIT ?',
    LARGEST,
  );
  return {
    entries: Number(all?.['entries']),
    bytes: Number(all?.['bytes']),
    scopes: Number(all?.['scopes']),
    largest: largest.map(({ scope, entries, bytes }) => ({
      scope: textOf(String(scope)),
      entries: Number(entries),
      bytes: Number(bytes),
    })),
  };
}

/** The storage keeps scopes as JSON text. */
function textOf(json: string): string {
  try {
    return String(JSON.parse(json));
  } catch {
    return json;
  }
}
