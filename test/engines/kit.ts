import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AnyClient, Pglite, PgPool, PostgresJs } from '../../src/postgres/index.ts';
import { ROOT } from '../architecture/source.ts';

/** The package with the engines. */
export const ENGINES = join(ROOT, 'apps/lab/engines');

const own = createRequire(join(ENGINES, 'package.json'));
const load = async (name: string): Promise<Readonly<Record<string, unknown>>> => import(pathToFileURL(own.resolve(name)).href);

/** The rounds of the failure matrix: one, unless `npm run prove` asks for more. */
export const ROUNDS: readonly number[] = Array.from(
  { length: Number(process.env['MATRIX_ROUNDS'] ?? 1) },
  (_, index) => index + 1,
);

/** A pool of `pg` that a test closes. */
export type OwnPool = PgPool & { end(): Promise<void>; on(event: 'error', listener: () => void): unknown };

/** A pool of connections whose names without a schema are looked up in these schemas, in this order. */
export async function pgPool(
  url: string,
  { path, max = 5 }: { readonly path?: string; readonly max?: number } = {},
): Promise<OwnPool> {
  const pg = await load('pg');
  const Pool = Reflect.get(Object(pg['default']), 'Pool');
  const pool: OwnPool = Reflect.construct(Pool, [
    {
      connectionString: url,
      max,
      connectionTimeoutMillis: 20_000,
      options: path === undefined ? undefined : `-c search_path=${path}`,
    },
  ]);
  pool.on('error', () => {});
  return pool;
}

/** A function of `postgres` that a test closes. */
export async function postgresJs(url: string): Promise<PostgresJs & { end(): Promise<void> }> {
  const { default: make } = await load('postgres');
  if (typeof make !== 'function') throw new Error('the package postgres exports no function');
  return make(url, { max: 4, onnotice: () => {} });
}

/** A new database in this process. */
export async function pglite(): Promise<Pglite & { close(): Promise<void> }> {
  const { PGlite } = await load('@electric-sql/pglite');
  if (typeof PGlite !== 'function') throw new Error('the package pglite exports no class');
  return Reflect.construct(PGlite, []);
}

/** A function of the same name as the clock of the database, which a schema before `pg_catalog` puts in its place. */
export const clockStatements = (schema: string): readonly string[] => [
  `CREATE SCHEMA IF NOT EXISTS ${schema}`,
  `CREATE TABLE IF NOT EXISTS ${schema}.clock (at double precision NOT NULL)`,
  `DELETE FROM ${schema}.clock`,
  `INSERT INTO ${schema}.clock VALUES (0)`,
  `CREATE OR REPLACE FUNCTION ${schema}.statement_timestamp() RETURNS timestamptz STABLE LANGUAGE sql
   AS 'SELECT to_timestamp(at / 1000) FROM ${schema}.clock'`,
];

export type { AnyClient };
