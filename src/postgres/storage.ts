import {
  checkCaps,
  entryBytes,
  excess,
  full,
  type StorageCaps,
  type Versioned,
  type VersionedStorage,
  type Write,
  type Written,
} from '../../stdlib-tools/index.ts';
import { StoreError } from '../sqlite/error.ts';
import { ToolError } from '../tools/index.ts';
import { NS_CODES } from '../wire/codes.ts';
import type { TaggedJson } from '../wire/protocol.ts';
import { type AnyClient, type PostgresQuery, type PostgresRow, postgresClient } from './clients.ts';
import { type ConnectOptions, connectPostgres, placeOf } from './connect.ts';
import { Database } from './database.ts';
import { checkSchema } from './schema.ts';
import { formOf, migrate, mustBePresent } from './tables.ts';

/** How a {@link PostgresStorage} is opened, and how much it may hold. */
export interface PostgresStorageOptions extends ConnectOptions {
  /** As of the store of sessions beside it. */
  readonly schema?: string;
  /** How much the storage may hold; see {@link StorageCaps} for the defaults. */
  readonly caps?: StorageCaps;
}

/**
 * Keeps the values of tools in the schema of a store of sessions, for all hosts. A compare-and-set is one transaction; one is done at a
 * time, so that the caps hold. Every write drops the expired entries.
 */
export class PostgresStorage implements VersionedStorage, AsyncDisposable {
  readonly #database: Database;
  readonly #schema: string;
  readonly #caps: Required<StorageCaps>;

  private constructor(database: Database, schema: string, caps: Required<StorageCaps>) {
    this.#database = database;
    this.#schema = schema;
    this.#caps = caps;
  }

  /** Throws as `PostgresStore.open` does, and `ConfigError` for invalid caps. */
  static async open(database: string | AnyClient, options: PostgresStorageOptions = {}): Promise<PostgresStorage> {
    const [schema, caps] = [checkSchema(options.schema), checkCaps(options.caps ?? {})];
    const client = typeof database === 'string' ? await connectPostgres(database, options) : postgresClient(database);
    const opened = new Database(client, typeof database === 'string' ? placeOf(database) : 'the database');
    try {
      const form = await formOf(opened, schema);
      if (form === 0) await migrate(opened, schema);
      else mustBePresent(form, opened.place);
      return new PostgresStorage(opened, schema, caps);
    } catch (error) {
      await opened.end();
      throw error;
    }
  }

  async get(scope: string, key: string, at: number): Promise<Versioned | null> {
    const row = await asToolError(() => this.#live((...statement) => this.#rows(...statement), { scope, key, at }));
    return row === undefined ? null : { value: storedValue(row), version: Number(row['version']) };
  }

  async keys(scope: string, at: number): Promise<readonly string[]> {
    const text = `SELECT key FROM ${this.#schema}.entries WHERE scope = $1 AND (expires IS NULL OR expires > $2)`;
    const { rows } = await asToolError(() => this.#rows(text, [JSON.stringify(scope), at]));
    return rows.map(({ key }) => String(JSON.parse(String(key)))).sort();
  }

  cas(write: Write): Promise<Written> {
    const { expected, ttlMs, at, call = null } = write;
    const [scope, key, value] = [JSON.stringify(write.scope), JSON.stringify(write.key), JSON.stringify(write.value)];
    const entries = `${this.#schema}.entries`;
    return asToolError(() =>
      this.#database.transaction(async (query): Promise<Written> => {
        const sums = (await query(`SELECT floor, bytes FROM ${this.#schema}.sums FOR UPDATE`)).rows[0];
        const before = await this.#live(query, write);
        const stored = Number(before?.['version'] ?? 0);
        if (call !== null && before?.['call'] === call) return { ok: true, version: stored };
        if (stored !== expected) return { ok: false, version: stored };
        const bytes = entryBytes(write, this.#caps);
        const gone = await this.#drop(query, 'expires <= $1', at);
        const floor = Math.max(Number(sums?.['floor'] ?? 0), gone.floor);
        const total = Number(sums?.['bytes'] ?? 0) - gone.bytes;
        const replaced = before === undefined ? null : Number(before['bytes']);
        const scoped = await query(
          `SELECT count(*) AS entries, coalesce(sum(bytes), 0) AS bytes, (SELECT count(DISTINCT scope) FROM ${entries}) AS scopes
           FROM ${entries} WHERE scope = $1`,
          [scope],
        );
        const problem = excess(
          bytes,
          {
            replaced,
            entries: Number(scoped.rows[0]?.['entries']),
            scopeBytes: Number(scoped.rows[0]?.['bytes']),
            scopes: Number(scoped.rows[0]?.['scopes']),
            totalBytes: total,
          },
          this.#caps,
        );
        if (problem !== null) throw full(problem);
        const version = (before === undefined ? floor : stored) + 1;
        await query(
          `INSERT INTO ${entries} (scope, key, version, value, bytes, expires, call) VALUES ($1, $2, $3, $4, $5, $6, $7)
           ON CONFLICT (scope, key) DO UPDATE SET version = excluded.version, value = excluded.value, bytes = excluded.bytes,
           expires = excluded.expires, call = excluded.call`,
          [scope, key, version, value, bytes, ttlMs === null ? null : at + ttlMs, call],
        );
        await this.#sum(query, floor, total + bytes - (replaced ?? 0));
        return { ok: true, version };
      }),
    );
  }

  async forget(scope: string): Promise<void> {
    await asToolError(() =>
      this.#database.transaction(async (query) => {
        const sums = (await query(`SELECT floor, bytes FROM ${this.#schema}.sums FOR UPDATE`)).rows[0];
        const gone = await this.#drop(query, 'scope = $1', JSON.stringify(scope));
        await this.#sum(query, Math.max(Number(sums?.['floor'] ?? 0), gone.floor), Number(sums?.['bytes'] ?? 0) - gone.bytes);
      }),
    );
  }

  /** Closes the connections that this object made. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database.end();
  }

  async #rows(text: string, values: readonly unknown[] = []): Promise<{ readonly rows: readonly PostgresRow[] }> {
    return { rows: await this.#database.query(text, ...values) };
  }

  async #live(query: PostgresQuery, { scope, key, at }: Pick<Write, 'scope' | 'key' | 'at'>): Promise<PostgresRow | undefined> {
    const text = `SELECT version, value, bytes, call FROM ${this.#schema}.entries
      WHERE scope = $1 AND key = $2 AND (expires IS NULL OR expires > $3)`;
    return (await query(text, [JSON.stringify(scope), JSON.stringify(key), at])).rows[0];
  }

  /** Drops entries, and says how many bytes they had, and the highest version among them. */
  async #drop(
    query: PostgresQuery,
    where: string,
    value: string | number,
  ): Promise<{ readonly bytes: number; readonly floor: number }> {
    const { rows } = await query(
      `WITH gone AS (DELETE FROM ${this.#schema}.entries WHERE ${where} RETURNING version, bytes)
       SELECT coalesce(sum(bytes), 0) AS bytes, coalesce(max(version), 0) AS floor FROM gone`,
      [value],
    );
    return { bytes: Number(rows[0]?.['bytes']), floor: Number(rows[0]?.['floor']) };
  }

  async #sum(query: PostgresQuery, floor: number, bytes: number): Promise<void> {
    await query(`UPDATE ${this.#schema}.sums SET floor = $1, bytes = $2`, [floor, bytes]);
  }
}

function storedValue(row: PostgresRow): TaggedJson {
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
