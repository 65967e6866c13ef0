import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { makeFolder } from '../../files/folder.ts';
import { allSessions, SqliteStore } from '../../loop/index.ts';
import { isPostgresUrl, type PostgresStore, placeOf } from '../../postgres/index.ts';
import { printable } from '../../report/index.ts';
import { UsageError } from '../terminal/failure.ts';
import { fileTrouble } from '../terminal/input.ts';
import { stateFolder } from './statefolder.ts';

/** {@link defaultStore} in the help text. */
export const STORE_PLACE = '~/.local/state/neuroscript/sessions.db';

/** The value of `--store` for no store. */
const NONE = 'none';

/**
 * The file of sessions without `--store`: `neuroscript/sessions.db` in `$XDG_STATE_HOME`, by default `~/.local/state`. It belongs
 * to the user, not to the current folder.
 */
export function defaultStore(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const folder = stateFolder(env);
  if (folder === null)
    throw new UsageError('there is no home directory to keep sessions in; name a file with --store FILE, or set HOME');
  return join(folder, 'sessions.db');
}

export function addStore(command: Command): Command {
  return command.option('--store <FILE>', `the file with the sessions, or postgres://… (default: ${STORE_PLACE})`);
}

/** A store as a command opens it. */
export type OpenedStore = SqliteStore | PostgresStore;

/** The flag of a store for messages: the address of a database without user and password. */
export function storeName(flag: string): string {
  return printable(isPostgresUrl(flag) ? placeOf(flag) : flag);
}

/** The file or the address that a flag names; null for `none`. */
export function storeFile(flag: string | undefined): string | null {
  return flag === NONE ? null : (flag ?? defaultStore());
}

/** Whether a flag names a store that may have sessions: nothing may ever have been kept in the user's own store. */
export function mayHaveSessions(flag: string | undefined): boolean {
  return flag !== undefined || existsSync(defaultStore());
}

/**
 * Opens the store that a flag names, for commands that need one: the one place where a file or an address becomes a store. Throws
 * {@link UsageError} for `none`.
 */
export async function openStore(
  flag: string | undefined,
  { mustExist, listenUrl }: { readonly mustExist: boolean; readonly listenUrl?: string | undefined },
): Promise<OpenedStore> {
  const file = mustExist ? placeOfStore(flag) : placeToMake(flag);
  if (isPostgresUrl(file)) {
    const { PostgresStore } = await import('../../postgres/index.ts');
    return PostgresStore.open(file, { migrate: !mustExist, listenUrl });
  }
  if (listenUrl !== undefined) throw new UsageError('--store-listen needs a --store of the form postgres://…');
  return SqliteStore.open(file, { mustExist });
}

/** The file or the address of the store that a command needs. */
function placeOfStore(flag: string | undefined): string {
  const file = storeFile(flag);
  if (file === null) throw new UsageError(`this command needs a store, but --store is '${NONE}'`);
  // The rest of the address is not repeated: it may hold a password.
  if (!isPostgresUrl(file) && file.includes('://'))
    throw new UsageError(`a store is a file or postgres://…, and not ${printable(file.slice(0, file.indexOf('://')))}://…`);
  return file;
}

/** As {@link placeOfStore}, for a store that may be made. */
export function placeToMake(flag: string | undefined): string {
  const file = placeOfStore(flag);
  if (flag === undefined) makeStateFolder(dirname(file));
  return file;
}

/** The ids of all sessions of a store, in order. */
export async function sessionIds(store: OpenedStore): Promise<readonly string[]> {
  const sids: string[] = [];
  for await (const { sid } of allSessions(store)) sids.push(sid);
  return sids;
}

/** Makes the folder of the default store, for its owner only. The user makes folders that a flag names. */
function makeStateFolder(folder: string): void {
  try {
    makeFolder(folder, 0o700);
  } catch (error) {
    const why = `cannot make ${printable(folder)} to keep the session in: ${fileTrouble(error, 'makeFolder')}`;
    throw new UsageError(`${why}; name a file with --store FILE, or keep nothing with --store ${NONE}`, { cause: error });
  }
}
