import { StoreError } from '../../src/sqlite/error.ts';
import { type Looked, lookAt, type SqliteLook } from '../../src/sqlite/look.ts';
import { VALUES } from './sqlite.ts';

/** Counts of a storage of tool values, without the values. */
export interface StorageCensus {
  readonly entries: number;
  /** Counted as the caps count them. */
  readonly bytes: number;
  readonly scopes: number;
  /** The largest scopes, largest first. */
  readonly largest: readonly { readonly scope: string; readonly entries: number; readonly bytes: number }[];
}

/** Maximum number of scopes that a census names. */
const LARGEST = 20;

/**
 * Counts the content of a storage of tool values and does not change the file. Null if the file is not such a storage. Throws
 * {@link StoreError}: `foreign` if it is not a SQLite file, `damaged` if it cannot be opened, `busy`, `io`.
 */
export function storageCensus(path: string): Promise<Looked<StorageCensus> | null> {
  return lookAt(path, VALUES, census);
}

function census(look: SqliteLook): StorageCensus {
  if (!look.names('table').includes('scopes')) throw new StoreError('damaged', `the ${VALUES.name} has no table 'scopes'`);
  const [all] = look.all('SELECT count(*) AS scopes, total(entries) AS entries, total(bytes) AS bytes FROM scopes');
  const largest = look.all(
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
