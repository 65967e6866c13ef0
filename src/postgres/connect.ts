import { StoreError } from '../sqlite/error.ts';
import { ConfigError } from '../wire/errors.ts';
import { type PgPool, type PostgresClient, type PostgresJs, postgresClient } from './clients.ts';

/** How a URL is connected to. */
export interface ConnectOptions {
  /** Most connections at a time; 10 when absent. */
  readonly connections?: number;
  /**
   * A URL that leads past a pooler, for the one connection that listens: a pooler that lends connections for a transaction cannot
   * listen. The same URL when absent.
   */
  readonly listenUrl?: string | undefined;
}

/** Milliseconds after which a connection that is not made, or a query without an answer, is given up. */
const CONNECT_MS = 5000;
const ANSWER_MS = 30_000;

/** The place that a URL names, for messages: host, port and database, without user and password. */
export function placeOf(url: string): string {
  const { hostname, port, pathname, searchParams } = parsed(url);
  const host = hostname === '' ? (searchParams.get('host') ?? 'localhost') : hostname;
  return `postgres://${host}${port === '' ? '' : `:${port}`}${pathname}`;
}

/** Whether a text is meant as a URL of Postgres. */
export function isPostgresUrl(text: string): boolean {
  return ['postgres:', 'postgresql:'].some((scheme) => text.slice(0, scheme.length).toLowerCase() === scheme);
}

/** Connects through the package `pg`, else `postgres`. Throws {@link StoreError} (`io`) when neither is installed. */
export async function connectPostgres(url: string, options: ConnectOptions = {}): Promise<PostgresClient> {
  placeOf(url);
  const pg = await optional('pg');
  if (pg !== null) return throughPg(pg, url, options);
  const postgres = await optional('postgres');
  if (postgres !== null) return throughPostgresJs(postgres, url, options);
  throw new StoreError('io', `${placeOf(url)} needs a client: npm install pg`);
}

function throughPg(pg: object, url: string, { connections = 10, listenUrl = url }: ConnectOptions): PostgresClient {
  const pool = (connectionString: string, max: number): OwnPool => {
    const own: OwnPool = Reflect.construct(member(pg, 'Pool'), [
      {
        connectionString,
        max,
        connectionTimeoutMillis: CONNECT_MS,
        query_timeout: ANSWER_MS,
        keepAlive: true,
        application_name: 'neuroscript',
      },
    ]);
    // The query that meets a broken connection rejects; an idle connection that breaks is replaced.
    own.on('error', () => {});
    return own;
  };
  const all = pool(url, connections);
  const listener = pool(listenUrl, 1);
  const client = postgresClient(all);
  return {
    ...client,
    listen: (...to) => postgresClient(listener).listen(...to),
    end: async () => void (await Promise.all([all.end(), listener.end()])),
  };
}

function throughPostgresJs(postgres: object, url: string, { connections = 10, listenUrl = url }: ConnectOptions): PostgresClient {
  const make = (place: string, max: number): PostgresJs & { end(): Promise<void> } =>
    Reflect.apply(member({ postgres }, 'postgres'), undefined, [
      place,
      {
        max,
        prepare: false,
        connect_timeout: CONNECT_MS / 1000,
        onnotice: () => {},
        connection: { application_name: 'neuroscript' },
      },
    ]);
  const [all, listener] = [make(url, connections), make(listenUrl, 1)];
  return {
    ...postgresClient(all),
    listen: (...to) => postgresClient(listener).listen(...to),
    end: async () => void (await Promise.all([all.end(), listener.end()])),
  };
}

interface OwnPool extends PgPool {
  on(event: 'error', listener: () => void): unknown;
  end(): Promise<void>;
}

/** A package that is installed beside this one, or null. */
async function optional(name: string): Promise<object | null> {
  try {
    const loaded: { readonly default?: object } = await import(name);
    return loaded.default ?? null;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return null;
    throw error;
  }
}

// biome-ignore lint/complexity/noBannedTypes: what a package exports is callable or it is not
function member(from: object, name: string): Function {
  const found: unknown = Reflect.get(from, name);
  if (typeof found === 'function') return found;
  throw new ConfigError(`the client of Postgres has no ${name}: its version is not supported`);
}

function parsed(url: string): URL {
  const found = isPostgresUrl(url) && url.includes('://') ? URL.parse(url) : null;
  // The text is not repeated: it may hold a password.
  if (found === null)
    throw new ConfigError('the address of Postgres is not of the form postgres://USER:PASSWORD@HOST:PORT/DATABASE');
  return found;
}
