/**
 * Sessions, decision log and tool values on Postgres. Entry point `neuroscript-runtime/postgres`.
 */
export type {
  AnyClient,
  PgConnection,
  Pglite,
  PgPool,
  PostgresClient,
  PostgresJs,
  PostgresQuery,
  PostgresRow,
  PostgresRows,
} from './clients.ts';
export { type ConnectOptions, isPostgresUrl, placeOf } from './connect.ts';
export { type MigrationReport, migrateStore, type StoreReport, storeStatus } from './status.ts';
export { PostgresStorage, type PostgresStorageOptions } from './storage.ts';
export { PostgresStore, type PostgresStoreOptions } from './store.ts';
