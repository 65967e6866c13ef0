import { ConfigError } from '../wire/errors.ts';

/** A row: values by column. */
export type PostgresRow = Readonly<Record<string, unknown>>;

/** What every query resolves with. */
export interface PostgresRows {
  /** Columns by name. */
  readonly rows: readonly PostgresRow[];
}

/** Runs one statement; `$1` is the first value. */
export type PostgresQuery = (text: string, values?: readonly unknown[]) => Promise<PostgresRows>;

/** What a store needs of a client of Postgres. `postgresClient` makes it of the clients that people use. */
export interface PostgresClient {
  /** Runs one statement outside of a transaction. */
  readonly query: PostgresQuery;
  /** Runs `work` in one transaction on one connection. */
  transaction<T>(work: (query: PostgresQuery) => Promise<T>): Promise<T>;
  /** Calls `heard` for each notification, on a connection of its own. Resolves when it listens; `lost` is called when it no longer does. */
  listen(channel: string, heard: () => void, lost: () => void): Promise<() => Promise<void>>;
  /** Closes what this object opened. */
  end(): Promise<void>;
}

/** The pool of the package `pg`. */
export interface PgPool {
  /** Runs one statement on any connection. */
  query(text: string, values?: unknown[]): Promise<{ readonly rows: PostgresRow[] }>;
  /** Takes a connection out of the pool, and calls back in the moment in which it is handed out. */
  connect(callback: (error: Error | undefined, connection: PgConnection | undefined) => void): unknown;
}

/** A connection of a {@link PgPool}. */
export interface PgConnection {
  /** Runs one statement. */
  query(text: string, values?: unknown[]): Promise<{ readonly rows: PostgresRow[] }>;
  /** Adds a listener. */
  on(event: 'notification' | 'error' | 'end', listener: () => void): unknown;
  /** Removes a listener. */
  off(event: 'error', listener: () => void): unknown;
  /** Gives the connection back to the pool, or closes it. */
  release(destroy?: boolean): void;
}

/** The object of the package `@electric-sql/pglite`. */
export interface Pglite {
  /** Runs any number of statements. */
  exec(text: string): Promise<unknown>;
  /** Runs one statement. */
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>;
  /** Runs statements in a transaction. */
  transaction<T>(work: (transaction: Pick<Pglite, 'query'>) => Promise<T>): Promise<T>;
  /** Calls `heard` for every notification, until the result is called. */
  listen(channel: string, heard: () => void): Promise<() => Promise<void>>;
}

/** The function of the package `postgres`. */
export interface PostgresJs {
  /** Runs one statement that is given as text. */
  unsafe(text: string, values?: never[], options?: { readonly prepare: boolean }): PromiseLike<readonly unknown[]>;
  /** Runs statements in a transaction. */
  begin(work: (transaction: Pick<PostgresJs, 'unsafe'>) => Promise<unknown>): PromiseLike<unknown>;
  /** Calls `heard` for every notification, until `unlisten` is called. */
  listen(channel: string, heard: () => void, listening: () => void): PromiseLike<{ unlisten(): Promise<void> }>;
}

/** A pool of `pg`, a PGlite, a function of `postgres`, or an object of the application's own. */
export type AnyClient = PgPool | Pglite | PostgresJs | PostgresClient;

/** Makes what a store needs. The client stays the application's: `end` does not close it. */
export function postgresClient(client: AnyClient): PostgresClient {
  if ('unsafe' in client) return ofPostgresJs(client);
  if ('connect' in client) return ofPg(client);
  return 'exec' in client ? ofPglite(client) : client;
}

const open = async (): Promise<void> => {};

/**
 * Takes a connection of a pool. Its end may come with the bytes that make it ready: a listener that was added after a promise would be too
 * late, and the event would end the process.
 */
function taken(pool: PgPool, onError: (connection: PgConnection) => () => void): Promise<PgConnection> {
  return new Promise((resolve, reject) => {
    pool.connect((error, connection) => {
      if (connection === undefined) return reject(error ?? new ConfigError('the pool gave no connection'));
      connection.on('error', onError(connection));
      resolve(connection);
    });
  });
}

function ofPg(pool: PgPool): PostgresClient {
  return {
    query: (text, values = []) => pool.query(text, [...values]),
    async transaction(work) {
      // A connection that breaks reports it twice: to the query and as an event.
      const ignore = (): void => {};
      const connection = await taken(pool, () => ignore);
      const query: PostgresQuery = (text, values = []) => connection.query(text, [...values]);
      try {
        await query('BEGIN');
        const result = await work(query);
        await query('COMMIT');
        connection.off('error', ignore);
        connection.release();
        return result;
      } catch (error) {
        // Closing it rolls back, too, and works for a connection that is lost.
        connection.release(true);
        throw error;
      }
    },
    async listen(channel, heard, lost) {
      let [listening, isOpen] = [false, true];
      const close = (connection: PgConnection): void => {
        if (isOpen) connection.release(true);
        isOpen = false;
      };
      const endOf = (connection: PgConnection) => (): void => {
        const wasListening = listening && isOpen;
        close(connection);
        if (wasListening) lost();
      };
      const connection = await taken(pool, endOf);
      connection.on('end', endOf(connection));
      connection.on('notification', heard);
      try {
        await connection.query(`LISTEN "${channel}"`);
      } catch (error) {
        close(connection);
        throw error;
      }
      listening = true;
      return async () => close(connection);
    },
    end: open,
  };
}

function ofPglite(database: Pglite): PostgresClient {
  const through =
    (one: Pick<Pglite, 'query'>): PostgresQuery =>
    async (text, values = []) =>
      rowsOf((await one.query(text, [...values])).rows);
  return {
    query: through(database),
    transaction: (work) => database.transaction((one) => work(through(one))),
    listen: (channel, heard, _lost) => database.listen(channel, heard),
    end: open,
  };
}

function ofPostgresJs(sql: PostgresJs): PostgresClient {
  const through =
    (one: Pick<PostgresJs, 'unsafe'>): PostgresQuery =>
    // The package wants its own type of values; it sends every text, number and null as it is.
    async (text, values = []) =>
      rowsOf(await one.unsafe(text, [...values] as never[], { prepare: false }));
  return {
    query: through(sql),
    async transaction<T>(work: (query: PostgresQuery) => Promise<T>): Promise<T> {
      const results: T[] = [];
      await sql.begin(async (one) => void results.push(await work(through(one))));
      const [result] = results;
      if (results.length !== 1) throw new ConfigError('the client of Postgres did not run a transaction once');
      return result as T;
    },
    async listen(channel, heard, _lost) {
      const { unlisten } = await sql.listen(channel, heard, heard);
      return unlisten;
    },
    end: open,
  };
}

function rowsOf(rows: readonly unknown[]): PostgresRows {
  return { rows: rows.map((row) => Object.fromEntries(Object.entries(row ?? {}))) };
}
