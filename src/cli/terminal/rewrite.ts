import { constants, statSync } from 'node:fs';
import { access, chmod, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { printable } from '../../report/index.ts';
import { UsageError } from './failure.ts';
import { fileTrouble, STDIN } from './input.ts';

/** Checks, before they are read, that files can be rewritten: a pipe would become a file. Throws {@link UsageError}. */
export function mustRewrite(names: readonly string[]): void {
  for (const name of names)
    if (name !== STDIN && statSync(name, { throwIfNoEntry: false })?.isFIFO() === true)
      throw new UsageError(`cannot write ${printable(name)}: it is a pipe; '-' reads standard input`);
}

/**
 * Replaces a file's content atomically: a reader sees the old text or the new one, even after a crash. Replaces the target of a
 * link, not the link, and keeps the permissions. Throws {@link UsageError}.
 */
export async function rewriteFile(name: string, text: string): Promise<void> {
  try {
    const path = await realpath(name);
    await access(path, constants.W_OK);
    const { mode } = await stat(path);
    const draft = `${path}.${process.pid}.tmp`;
    try {
      await writeFile(draft, text, { flag: 'wx', mode, flush: true });
      await chmod(draft, mode);
      await rename(draft, path);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  } catch (error) {
    throw new UsageError(`cannot write ${printable(name)}: ${fileTrouble(error)}`, { cause: error });
  }
}
