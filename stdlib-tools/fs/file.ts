import { randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, rename, unlink } from 'node:fs/promises';
import { ToolError } from '../../src/tools/index.ts';
import { NS_CODES } from '../../src/wire/codes.ts';
import { grouped } from '../../src/wire/text/grouped.ts';
import type { Anchor } from './anchor.ts';
import { errnoOf } from './errors.ts';
import { TEMPORARY, violation } from './path.ts';

const { O_RDONLY, O_WRONLY, O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants;

/** Bytes of a file that are worked on at once. */
const CHUNK_BYTES = 256 * 1024;

/** Gives the bytes of an ordinary file to `take`, chunk by chunk. Rejects as {@link readBytes}. */
export async function readChunks(
  directory: Anchor,
  name: string,
  most: number,
  take: (chunk: Buffer) => Promise<void>,
): Promise<void> {
  await using file = await open(directory.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const { size } = await ordinary(file);
  if (size > most) throw tooLarge(size, most);
  const chunk = Buffer.allocUnsafe(Math.min(size + 1, CHUNK_BYTES));
  for (let at = 0; ; ) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    // The file grew while it was read.
    if (at > size) throw tooLarge(at, size);
    await take(chunk.subarray(0, bytesRead));
  }
}

/** Reads an ordinary file of at most `most` bytes. Rejects as the file system does, and with {@link ToolError} 23, 34 or 37. */
export async function readBytes(directory: Anchor, name: string, most: number): Promise<Buffer> {
  // O_NONBLOCK: opening a pipe without a writer would block forever.
  await using file = await open(directory.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const { size } = await ordinary(file);
  if (size > most) throw tooLarge(size, most);
  const bytes = Buffer.alloc(size + 1);
  const { bytesRead } = await file.read(bytes, 0, size + 1, 0);
  // The file grew while it was read.
  if (bytesRead > size) throw tooLarge(bytesRead, size);
  return bytes.subarray(0, bytesRead);
}

/** Replaces a file as a whole: readers, and a crash, see either the old content or the new content. */
export async function replace(directory: Anchor, name: string, content: string | Uint8Array): Promise<void> {
  const before = await statOf(directory, name);
  if (before !== null) mustBeOrdinary(before);
  const temporary = `${TEMPORARY}${randomUUID()}`;
  try {
    await using file = await open(directory.at(temporary), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    await file.writeFile(content);
    await rename(directory.at(temporary), directory.at(name));
  } catch (error) {
    await unlink(directory.at(temporary)).catch(() => {});
    throw error;
  }
}

/** Appends to a file, and makes it if it is absent. */
export async function append(directory: Anchor, name: string, content: string | Uint8Array): Promise<void> {
  const before = await statOf(directory, name);
  if (before !== null) mustBeOrdinary(before);
  const flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
  await using file = await open(directory.at(name), flags, 0o600);
  await ordinary(file);
  await file.writeFile(content);
}

/** The entry of a name, or null if there is none. A link is not followed. */
export async function statOf(directory: Anchor, name: string): Promise<Stats | null> {
  return lstat(directory.at(name)).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  });
}

async function ordinary(file: FileHandle): Promise<Stats> {
  const stats = await file.stat();
  mustBeOrdinary(stats);
  return stats;
}

/** Refuses links: the target of a symbolic link, and the second name of a file, may lie outside the directory. */
function mustBeOrdinary(stats: Stats): void {
  if (stats.isDirectory()) throw new ToolError(NS_CODES.PathTypeMismatch, 'it is a directory');
  if (stats.isSymbolicLink()) throw violation('it leads over a symbolic link');
  if (!stats.isFile()) throw new ToolError(NS_CODES.PathTypeMismatch, 'it is not an ordinary file');
  if (stats.nlink > 1) throw violation('the file has a second name');
}

function tooLarge(size: number, most: number): ToolError {
  return new ToolError(NS_CODES.ResourceExhaustion, `the file has ${grouped(size)} bytes, and ${grouped(most)} are allowed`);
}
