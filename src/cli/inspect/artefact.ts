import { isUtf8 } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { printable, quantity } from '../../report/index.ts';
import { UsageError } from '../terminal/failure.ts';
import { openOrdinary, readBytes, STDIN } from '../terminal/input.ts';
import type { Artefact } from './kind.ts';

/** Maximum bytes of a file other than SQLite. */
export const MOST_BYTES = 64 * 1024 * 1024;

/** A SQLite file; it is opened in place and never read as a whole. */
export interface DatabaseFile {
  readonly path: string;
  readonly size: number;
}

/** The first bytes of every SQLite file. */
const SQLITE = Buffer.from('SQLite format 3\0');

/**
 * Reads a file or standard input; the name does not matter. Throws {@link UsageError} for a file that cannot be read, is not an
 * ordinary file, or is too large.
 */
export async function readArtefact(name: string, stdin: () => AsyncIterable<Uint8Array>): Promise<Artefact | DatabaseFile> {
  if (name === STDIN) {
    const bytes = await readBytes(STDIN, MOST_BYTES, stdin);
    if (isSqlite(bytes)) throw new UsageError('this is a SQLite file, which cannot be looked at through a pipe; name the file');
    return artefact(name, bytes, null);
  }
  await using file = await openOrdinary(name);
  const { size, mode } = await file.stat();
  if (isSqlite(await headOf(file))) return { path: name, size };
  if (size > MOST_BYTES)
    throw new UsageError(`${printable(name)} is larger than ${quantity('bytes', MOST_BYTES)}, the most that inspect reads`);
  return artefact(name, await readBytes(name, MOST_BYTES, stdin), process.platform === 'win32' ? null : mode & 0o777);
}

function artefact(name: string, bytes: Buffer, mode: number | null): Artefact {
  return { name, bytes, text: isUtf8(bytes) ? bytes.toString('utf8').replace(/^\ufeff/, '') : null, mode };
}

function isSqlite(bytes: Buffer): boolean {
  return bytes.subarray(0, SQLITE.length).equals(SQLITE);
}

async function headOf(file: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(SQLITE.length), 0, SQLITE.length, 0);
  return buffer.subarray(0, bytesRead);
}
