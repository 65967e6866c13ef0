/** The standard tools, one file per group. A factory takes the storage or the rule that its tools use. */

export * from './public.ts';
export { SqlStorage } from './storage/sqlstorage.ts';
export { type StorageStatistics, storageStatistics } from './storage/statistics.ts';
