import { randomUUID } from 'node:crypto';
import { constants, statSync } from 'node:fs';
import { access, chmod, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { printable } from '../../report/index.ts';
import { UsageError } from './failure.ts';
import { fileTrouble, STDIN } from './input.ts';

export const PAGES: readonly string[] = ['.html', '.htm'];

/** Checks a flag that names a file to replace: a file of another kind may be a program. Throws {@link UsageError}. */
export function checkOutput(flag: string, file: string, endings: readonly string[]): void {
  if (!endings.some((ending) => file.toLowerCase().endsWith(ending)))
    throw new UsageError(`${flag} writes a ${endings[0]} file; give it such a name`);
  if (statSync(dirname(file), { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UsageError(`cannot write ${printable(file)}: its folder does not exist`);
}

/** Writes a file atomically, readable for its owner only. Throws {@link UsageError}; the file is then as it was. */
export async function replaceFile(file: string, content: string | Iterable<string>, deed = 'write'): Promise<void> {
  const beside = `${file}.${randomUUID()}`;
  try {
    await using handle = await open(beside, 'wx', 0o600);
    await handle.writeFile(typeof content === 'string' ? content : inPieces(content));
    await rename(beside, file);
  } catch (error) {
    // The reason why the file could not be written is the one to tell.
    await rm(beside, { force: true }).catch(() => {});
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new UsageError(`cannot ${deed} ${printable(file)}: ${fileTrouble(error, 'make')}`, { cause: error });
  }
}

const PIECE = 64 * 1024;

/** Joins small texts: each piece is a write of its own. */
function* inPieces(texts: Iterable<string>): Generator<string> {
  let piece = '';
  for (const text of texts) {
    piece += text;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

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
