import { StoreError } from '../../src/sqlite/error.ts';
import type { Row, Sql, SqlQuery } from '../../src/sqlite/sql.ts';
import { ToolError } from '../../src/tools/index.ts';
import { NS_CODES } from '../../src/wire/codes.ts';
import { jsonFrom } from '../../src/wire/foreign.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { checkCaps, entryBytes, excess, full, type StorageCaps } from './caps.ts';
import { type ValueStatements, valueStatements } from './tables.ts';
import type { Versioned, VersionedStorage, Write, Written } from './versioned.ts';

/** What all entries of a storage take. */
interface Sums {
  /** The highest version that was ever dropped. New entries start above it. */
  readonly floor: number;
  readonly scopes: number;
  readonly bytes: number;
}

/** Keeps values in a database that speaks SQL. A compare-and-set is one transaction. Every write drops the expired entries. */
export abstract class SqlStorage implements VersionedStorage {
  readonly #sql: Sql;
  readonly #statements: ValueStatements;
  readonly #caps: Required<StorageCaps>;

  /** Throws `ConfigError` (`ERR_CONFIG`) for a cap that is not a whole number from 1. */
  protected constructor(sql: Sql, caps: StorageCaps) {
    this.#caps = checkCaps(caps);
    this.#sql = sql;
    this.#statements = valueStatements(sql.dialect);
  }

  async get(scope: string, key: string, at: number): Promise<Versioned | null> {
    const { entry } = this.#statements;
    const [row] = await asToolError(() => this.#sql.again(entry, JSON.stringify(scope), JSON.stringify(key), at));
    return row === undefined ? null : { value: storedValue(row), version: Number(row['version']) };
  }

  async keys(scope: string, at: number): Promise<readonly string[]> {
    const rows = await asToolError(() => this.#sql.again(this.#statements.keys, JSON.stringify(scope), at));
    return rows.map(({ key }) => String(JSON.parse(String(key)))).sort();
  }

  async cas(write: Write): Promise<Written> {
    const value = jsonFrom(write.value);
    return asToolError(() => this.#sql.transaction((query) => this.#write(query, { ...write, value })));
  }

  async forget(scope: string): Promise<void> {
    await asToolError(() =>
      this.#sql.transaction(async (query) => {
        const sums = await this.#sums(query);
        await this.#putSums(query, await this.#drop(query, sums, this.#statements.dropScope, JSON.stringify(scope)));
      }),
    );
  }

  async #write(query: SqlQuery, write: Write): Promise<Written> {
    const { expected, ttlMs, at, call = null } = write;
    const [scope, key, value] = [JSON.stringify(write.scope), JSON.stringify(write.key), JSON.stringify(write.value)];
    const { entry, dropExpired, put, scope: scopeSums } = this.#statements;
    const before = await this.#sums(query);
    const [known] = await query(entry, scope, key, at);
    const stored = Number(known?.['version'] ?? 0);
    if (call !== null && known?.['call'] === call) return { ok: true, version: stored };
    if (stored !== expected) return { ok: false, version: stored };
    const bytes = entryBytes(write, this.#caps);
    const sums = await this.#drop(query, before, dropExpired, at);
    const [own] = await query(scopeSums, scope);
    const replaced = known === undefined ? null : Number(known['bytes']);
    const taken = { replaced, entries: Number(own?.['entries'] ?? 0), scopeBytes: Number(own?.['bytes'] ?? 0) };
    const problem = excess(bytes, { ...taken, scopes: sums.scopes, totalBytes: sums.bytes }, this.#caps);
    if (problem !== null) throw full(problem);
    const version = (known === undefined ? sums.floor : stored) + 1;
    await query(put, scope, key, version, value, bytes, ttlMs === null ? null : at + ttlMs, call);
    const added = bytes - (replaced ?? 0);
    await this.#count(query, scope, replaced === null ? 1 : 0, added);
    await this.#putSums(query, {
      ...sums,
      scopes: sums.scopes + (taken.entries === 0 ? 1 : 0),
      bytes: sums.bytes + added,
    });
    return { ok: true, version };
  }

  /** Drops the entries that a statement deletes, and resolves with the sums without them. */
  async #drop(query: SqlQuery, sums: Sums, text: string, value: string | number): Promise<Sums> {
    let { floor, scopes, bytes } = sums;
    const gone = await query(text, value);
    for (const [scope, entries] of Map.groupBy(gone, (entry) => String(entry['scope']))) {
      const freed = entries.reduce((sum, entry) => sum + Number(entry['bytes']), 0);
      if ((await this.#count(query, scope, -entries.length, -freed)) === 0) {
        await query(this.#statements.forgetScope, scope);
        scopes -= 1;
      }
      bytes -= freed;
      floor = Math.max(floor, ...entries.map(({ version }) => Number(version)));
    }
    return { floor, scopes, bytes };
  }

  /** Adds to the counts of a scope, and resolves with the number of its entries. */
  async #count(query: SqlQuery, scope: string, entries: number, bytes: number): Promise<number> {
    const [counted] = await query(this.#statements.count, scope, entries, bytes);
    return Number(counted?.['entries']);
  }

  async #sums(query: SqlQuery): Promise<Sums> {
    const [row] = await query(this.#statements.sums);
    return { floor: Number(row?.['floor']), scopes: Number(row?.['scopes']), bytes: Number(row?.['bytes']) };
  }

  async #putSums(query: SqlQuery, { floor, scopes, bytes }: Sums): Promise<void> {
    await query(this.#statements.putSums, floor, scopes, bytes);
  }
}

function storedValue(row: Row): TaggedJson {
  // Only this class writes values, as the JSON of a TaggedJson.
  return JSON.parse(String(row['value'])) as TaggedJson;
}

/** Turns a failure of the storage into an error that a script can catch and that names no place of the host. */
async function asToolError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new ToolError(NS_CODES.IOFailed, `the storage cannot be used (${error.detail})`, undefined, { cause: error });
  }
}
