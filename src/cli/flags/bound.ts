import { isMonstrous } from '../../files/json.ts';
import { printable } from '../../report/index.ts';
import { type Grant, loadGrant } from '../../tools/index.ts';
import { UsageError } from '../terminal/failure.ts';
import { readText } from '../terminal/input.ts';
import { named } from './setup.ts';

/** The flag that binds a run to a grant. */
export const BOUND = ['--bound <GRANT>', "refuse calls that this grant of 'neuroscript foresee --grant' does not have"] as const;

export const GRANTS: readonly string[] = ['.yaml', '.yml', '.json'];

const GRANT_BYTES = 4 * 1024 * 1024;

/** The grant of a file. `flag` names the flag. Throws {@link UsageError}. */
export async function readGrant(flag: string, file: string): Promise<Grant> {
  const text = await readText(file, GRANT_BYTES, `the file of ${flag}`);
  if (isMonstrous(text)) throw new UsageError(`${printable(file)}: the grant nests too deep, or has too many values`);
  return named(file, () => loadGrant(text, file));
}

/** The grant of a file, or nothing without a file, as part of a request. Throws {@link UsageError}. */
export async function readBound(file: string | undefined): Promise<{ readonly bound?: Grant }> {
  return file === undefined ? NOTHING : { bound: await readGrant('--bound', file) };
}

const NOTHING = {};
