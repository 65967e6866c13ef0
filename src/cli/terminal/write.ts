import { randomUUID } from 'node:crypto';
import { appendFileSync, constants, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { access, chmod, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from '../../files/folder.ts';
import { printable } from '../../report/index.ts';
import { UsageError } from './failure.ts';
import { fileTrouble, STDIN, statOf } from './input.ts';
import type { Terminal } from './terminal.ts';

export const PAGES: readonly string[] = ['.html', '.htm'];

/** Checks a flag that names a file to replace: a file of another kind may be a program. Throws {@link UsageError}. */
export function checkOutput(flag: string, file: string, endings: readonly string[]): void {
  if (!endings.some((ending) => file.toLowerCase().endsWith(ending)))
    throw new UsageError(`${flag} writes a ${endings[0]} file; give it such a name`);
  if (statOf(dirname(file))?.isDirectory() !== true)
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
    if (name !== STDIN && statOf(name)?.isFIFO() === true)
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

/** The flag of commands that print one document. */
export const OUT = ['--out <FILE>', 'write to this file, which must not exist, in place of standard output'] as const;

/** Prints a document, or writes it to the file of {@link OUT}. Throws {@link UsageError} as {@link writeNew} does. */
export async function writeOut(text: string, out: string | undefined, terminal: Terminal): Promise<void> {
  if (out === undefined) await terminal.out.lineWhenReady(text.trimEnd());
  else await writeNew(out, `${text.trimEnd()}\n`);
}

/** Writes a file that must not exist yet, for its owner alone. Throws {@link UsageError}, and leaves no half of a file. */
export async function writeNew(file: string, text: string): Promise<void> {
  let made = false;
  try {
    await using handle = await open(file, 'wx', 0o600);
    made = true;
    await handle.writeFile(text);
  } catch (error) {
    // Half a file, as of a full disk, would refuse the next attempt.
    if (made) await rm(file, { force: true });
    throw new UsageError(`cannot write ${printable(file)}: ${fileTrouble(error, 'make')}`, { cause: error });
  }
}

/** Makes a folder to write to, and those above it. Returns the first one that it made, if any. Throws {@link UsageError}. */
export function folderToWrite(folder: string): string | undefined {
  try {
    return makeFolder(folder);
  } catch (error) {
    throw new UsageError(`cannot write to ${printable(folder)}: ${fileTrouble(error, 'makeFolder')}`, { cause: error });
  }
}

/** Writes files that must not exist yet, all of them or none. Throws {@link UsageError} as {@link writeNew} does. */
export async function writeAllNew(files: Readonly<Record<string, string>>): Promise<void> {
  const made: string[] = [];
  try {
    for (const [file, text] of Object.entries(files)) {
      await writeNew(file, text);
      made.push(file);
    }
  } catch (error) {
    for (const file of made) await rm(file, { force: true });
    throw error;
  }
}

/**
 * Appends to an ordinary file. When that fails, as on a full disk, the file is as it was, because half a line would spoil it for every reader;
 * what another process has appended meanwhile stays. Throws the error of the file system.
 */
export function appendWhole(
  file: string,
  text: string,
  options: { readonly mode?: number; readonly flush?: boolean } = {},
): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  try {
    appendFileSync(file, text, options);
  } catch (error) {
    if (statSync(file, { throwIfNoEntry: false }) !== undefined) undo(file, size, text);
    throw error;
  }
}

/** Takes away what stands behind the first `size` bytes of a file, if it is no more than the beginning of a text. */
function undo(file: string, size: number, text: string): void {
  const added = readFileSync(file).subarray(size);
  if (!Buffer.from(text).subarray(0, added.length).equals(added)) return;
  if (size === 0) rmSync(file);
  else truncateSync(file, size);
}
