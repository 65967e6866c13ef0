import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from './error.ts';

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

/**
 * Throws {@link StoreError} (`io`) when something else than an ordinary file has the name of a file that SQLite keeps beside a database: it
 * would wait for the writer of a named pipe, and nothing could end that.
 */
export function onlyOrdinaryBeside(path: string): void {
  for (const beside of ['-journal', '-wal', '-shm'].map((ending) => `${path}${ending}`))
    if (statSync(beside, { throwIfNoEntry: false })?.isFile() === false)
      throw new StoreError('io', `${path} cannot be opened: ${beside} is not an ordinary file`);
}
