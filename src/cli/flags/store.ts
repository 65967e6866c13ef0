import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import type { Command } from 'commander';
import { SqliteStore } from '../../loop/index.ts';
import { printable } from '../../report/index.ts';
import { UsageError } from '../terminal/failure.ts';
import { fileTrouble } from '../terminal/input.ts';

/** {@link defaultStore} as the help text says it. */
export const STORE_PLACE = '~/.local/state/neuroscript/sessions.db';

/** The word that stands for no store. */
const NONE = 'none';

/**
 * Where sessions are kept unless `--store` says otherwise: `neuroscript/sessions.db` in `$XDG_STATE_HOME`, or in
 * `~/.local/state` where that is not set. A file of the user, not of the folder they happen to stand in.
 */
export function defaultStore(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const state = env['XDG_STATE_HOME'] ?? '';
  // The specification of these folders wants others to be ignored.
  const base = isAbsolute(state) ? state : join(homedir(), '.local', 'state');
  return join(base, 'neuroscript', 'sessions.db');
}

/** Adds `--store` to a command that works on the sessions of a store. */
export function addStore(command: Command): Command {
  return command.option('--store <FILE>', `the file with the sessions (default: ${STORE_PLACE})`);
}

/** The file that a flag names; null for `none`. */
export function storeFile(flag: string | undefined): string | null {
  return flag === NONE ? null : (flag ?? defaultStore());
}

/** Opens the store that a flag names, for commands that need one. Throws {@link UsageError} for `none`. */
export async function openStore(flag: string | undefined, { mustExist }: { readonly mustExist: boolean }): Promise<SqliteStore> {
  const file = storeFile(flag);
  if (file === null) throw new UsageError(`this command needs a store, and --store is '${NONE}'`);
  if (flag === undefined && !mustExist) await makeFolder(dirname(file));
  return SqliteStore.open(file, { mustExist });
}

/** The folder of the default store, for its owner only. Folders that a flag names are the user's to make. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    const why = `cannot make ${printable(folder)} to keep the session in: ${fileTrouble(error)}`;
    throw new UsageError(`${why}; name a file with --store FILE, or keep nothing with --store ${NONE}`, { cause: error });
  }
}
