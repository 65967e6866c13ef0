import { isUtf8 } from 'node:buffer';
import { closeSync, fstatSync, readSync } from 'node:fs';
import { openOrdinary, readWhole } from '../../files/ordinary.ts';
import { printable, quantity } from '../../report/index.ts';
import { UsageError } from '../terminal/failure.ts';
import { readBytes, reading, STDIN } from '../terminal/input.ts';
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
    if (isSqlite(bytes)) throw new UsageError('this is a SQLite file, which cannot be read from a pipe; name the file');
    return artefact(name, bytes, null);
  }
  return reading(name, () => {
    const file = openOrdinary(name);
    try {
      const { size, mode } = fstatSync(file);
      if (isSqlite(headOf(file))) return { path: name, size };
      if (size > MOST_BYTES)
        throw new UsageError(`${printable(name)} is larger than ${quantity('bytes', MOST_BYTES)}, the maximum for inspect`);
      return artefact(name, readWhole(file, name, MOST_BYTES), process.platform === 'win32' ? null : mode & 0o777);
    } finally {
      closeSync(file);
    }
  });
}

function artefact(name: string, bytes: Buffer, mode: number | null): Artefact {
  return { name, bytes, text: isUtf8(bytes) ? bytes.toString('utf8').replace(/^\ufeff/, '') : null, mode };
}

function isSqlite(bytes: Buffer): boolean {
  return bytes.subarray(0, SQLITE.length).equals(SQLITE);
}

function headOf(file: number): Buffer {
  const head = Buffer.alloc(SQLITE.length);
  return head.subarray(0, readSync(file, head, 0, head.length, 0));
}
