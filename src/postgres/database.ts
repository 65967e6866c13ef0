import { setTimeout as sleep } from 'node:timers/promises';
import type { SessionsDialect } from '../loop/index.ts';
import { StoreError } from '../sqlite/error.ts';
import type { Row, Sql, SqlQuery } from '../sqlite/sql.ts';
import { ConfigError, NeuroScriptError } from '../wire/errors.ts';
import { type AnyClient, type PostgresClient, postgresClient } from './clients.ts';
import { type ConnectOptions, connectPostgres, placeOf } from './connect.ts';

/** Milliseconds for which a write is tried again after its connection was lost. */
const PATIENCE_MS = 10_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1000;

/** SQLSTATE classes and codes after which the same statement may succeed on another connection. */
const LOST = ['08', '57P01', '57P02', '57P03', '40001', '40P01'] as const;
const BUSY = ['53300', '55P03'] as const;
const ABSENT = ['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'EAI_AGAIN'] as const;
const MISSING = ['3D000', '3F000', '42P01'] as const;

/** The connection to the database was lost, so nobody knows whether the statement had an effect. */
export class LostError extends StoreError {
  /** Whether nothing answers at the address. */
  get isAbsent(): boolean {
    const { cause } = this;
    return cause instanceof Error && 'code' in cause && ABSENT.some((code) => code === cause.code);
  }
}

/** Unix milliseconds by the clock of the database, which is the only clock of a store. */
export const NOW = '(floor(extract(epoch FROM statement_timestamp()) * 1000))::bigint';

export function dialectOf(schema: string): SessionsDialect {
  return {
    schema,
    now: NOW,
    found: 'EXISTS (SELECT 1 FROM first)',
    lock: { share: 'FOR SHARE', update: 'FOR UPDATE', skip: 'FOR UPDATE SKIP LOCKED' },
    index: () => '',
    json: (text) => `CAST(${text} AS json)`,
    items: (list) => `json_array_elements(CAST(CAST(${list} AS text) AS json)) AS item (one)`,
    gathered: `CAST(coalesce(json_agg(one), '[]') AS text)`,
    // An entry is chained later, so that no commit waits for others.
    entry: (sid, turn, text, condition) =>
      `INSERT INTO ${schema}.decisions (sid, turn, text) SELECT ${sid}, ${turn}, ${text} WHERE ${condition}`,
  };
}

/** Statements to one database, with its errors as {@link StoreError}. No statement has a name, and none leaves anything in its connection. */
export class Database implements Sql {
  readonly dialect: SessionsDialect;
  /** For messages; without a password. */
  readonly place: string;
  readonly #client: PostgresClient;
  #ended = false;

  private constructor(client: PostgresClient, place: string, schema: string) {
    this.#client = client;
    this.place = place;
    this.dialect = dialectOf(schema);
  }

  /**
   * Connects by a URL, or through a client of the application. Throws {@link StoreError}, and `ConfigError` for a URL or a schema of another
   * form.
   */
  static async connect(
    database: string | AnyClient,
    { schema, ...options }: ConnectOptions & { readonly schema?: string | undefined },
  ): Promise<Database> {
    const checked = checkSchema(schema);
    if (typeof database !== 'string') return new Database(postgresClient(database), 'the database', checked);
    return new Database(await connectPostgres(database, options), placeOf(database), checked);
  }

  /** Runs one statement. Rejects with {@link StoreError} (`io`, `busy`, `foreign`), and {@link LostError} for a lost connection. */
  readonly query: SqlQuery = (text, ...values) => this.#guarded(async () => (await this.#client.query(text, values)).rows);

  /** As {@link query}; again and again after a lost connection, for ten seconds. The statement may take effect more than once. */
  readonly again: SqlQuery = (text, ...values) => this.patiently(() => this.query(text, ...values));

  /** Does the work again and again after a lost connection, for ten seconds; after every loss, or after those that `may` names. */
  async patiently<T>(work: () => Promise<T>, may: (lost: LostError) => boolean = () => true): Promise<T> {
    const until = performance.now() + PATIENCE_MS;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof LostError) || !may(error) || this.#ended || performance.now() + pause > until) throw error;
      }
      await sleep(pause);
    }
  }

  change([first, ...then]: readonly [string, ...string[]], ...values: readonly unknown[]): Promise<readonly Row[]> {
    const others = then.map((text, index) => `, then${index} AS (${text})`).join('');
    return this.again(`WITH first AS (${first})${others} SELECT * FROM first`, ...values);
  }

  /** Runs `work` in one transaction. */
  transaction<T>(work: (query: SqlQuery) => Promise<T>): Promise<T> {
    return this.#guarded(() =>
      this.#client.transaction((query) => work(async (text, ...values) => (await query(text, values)).rows)),
    );
  }

  /** Listens until the result is called; connects again when the connection is lost, and then calls `heard` too. */
  listen(channel: string, heard: () => void): () => void {
    let stop: (() => Promise<void>) | null = null;
    let stopped = false;
    const listen = async (): Promise<void> => {
      for (let pause = FIRST_PAUSE_MS; !stopped && !this.#ended; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
        try {
          const lost = (): void => {
            stop = null;
            void listen();
          };
          stop = await this.#client.listen(channel, heard, lost);
          if (stopped) await stop();
          else heard();
          return;
        } catch {
          // The database cannot be reached. Hosts also poll, and get the error then.
          await sleep(pause, undefined, { ref: false });
        }
      }
    };
    void listen();
    return () => {
      stopped = true;
      void stop?.().catch(() => {});
    };
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#client.end();
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof NeuroScriptError || error instanceof TypeError || !(error instanceof Error)) throw error;
      if (this.#ended) throw new StoreError('order', `${this.place} has been closed: open the store again`, { cause: error });
      const state = stateOf(error);
      const is = (codes: readonly string[]): boolean => codes.some((code) => state?.startsWith(code));
      if (is(BUSY)) throw new StoreError('busy', `${this.place} has no connection to spare`, { cause: error });
      if (is(MISSING))
        throw new StoreError('foreign', `${this.place} has no store of sessions: ${error.message}`, { cause: error });
      const message = `${this.place} cannot be used: ${error.message === '' ? 'no connection' : error.message}`;
      if (state === null || is(LOST)) throw new LostError('io', message, { cause: error });
      throw new StoreError('io', message, { cause: error });
    }
  }
}

/** The SQLSTATE that the server answered with; null for an error of the connection. */
function stateOf(error: Error): string | null {
  const code: unknown = 'code' in error ? error.code : null;
  return typeof code === 'string' && code.length === 5 && code === code.toUpperCase() && code !== 'EPIPE' ? code : null;
}

const DEFAULT_SCHEMA = 'neuroscript';

const FIRST = 'abcdefghijklmnopqrstuvwxyz_';
const REST = `${FIRST}0123456789`;

/** The name of a schema, which stands in statements as it is. Throws {@link ConfigError} for a name with other characters. */
function checkSchema(name: string = DEFAULT_SCHEMA): string {
  const right = FIRST.includes(name.slice(0, 1)) && [...name].every((each) => REST.includes(each));
  if (name !== '' && name.length <= 40 && right && !name.startsWith('pg_')) return name;
  throw new ConfigError('the schema of a store may have up to 40 lower-case letters, digits and _, and begins with a letter');
}
