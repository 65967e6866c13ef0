import type { DatabaseSync } from 'node:sqlite';

type Sqlite = Readonly<{ DatabaseSync: typeof DatabaseSync }>;

let loaded: Sqlite | null = null;

/**
 * Node's SQLite, loaded at the first call. Node 24 warns that this module is experimental: a user of this package cannot act on that, and
 * the tests of this package run on that version, so the warning is left out.
 */
export function sqlite(): Sqlite {
  if (loaded !== null) return loaded;
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    loaded = process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
  return loaded;
}

/** SQLite's name for a database without a file. */
export const IN_MEMORY = ':memory:';
