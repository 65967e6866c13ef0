import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** A path that leads to something else than a readable file. `code` is the file system's code of the same trouble. */
export class UnreadableFile extends Error {
  readonly code: 'EISDIR' | 'ENXIO' | 'EFBIG';
  readonly path: string;
  constructor(code: UnreadableFile['code'], path: string, problem: string) {
    super(`${path} ${problem}`);
    this.code = code;
    this.path = path;
  }
}

/** Bytes that one read asks for. */
const CHUNK_BYTES = 256 * 1024;

/**
 * Opens a file for reading without waiting: opening a named pipe in the usual way blocks a thread until somebody writes to it, and
 * nothing can end that thread. Returns a file descriptor, which the caller closes. Throws the error of the file system.
 */
export function openAtOnce(path: string): number {
  return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
}

/** As {@link openAtOnce}; throws {@link UnreadableFile} for a folder, a named pipe and a device. */
export function openOrdinary(path: string): number {
  return onlyOrdinary(openAtOnce(path), path);
}

/**
 * Makes an ordinary file for its owner alone, unless it exists already or `mustExist`. Throws {@link UnreadableFile} for a folder, a
 * named pipe and a device, and the error of the file system for a file that cannot be read and written. Never waits.
 */
export function makeOrdinary(path: string, { mustExist = false } = {}): void {
  const make = mustExist ? 0 : constants.O_CREAT;
  closeSync(onlyOrdinary(openSync(path, constants.O_RDWR | constants.O_NONBLOCK | make, 0o600), path));
}

function onlyOrdinary(file: number, path: string): number {
  const found = fstatSync(file);
  if (found.isFile()) return file;
  closeSync(file);
  if (found.isDirectory()) throw new UnreadableFile('EISDIR', path, 'is a folder');
  throw new UnreadableFile('ENXIO', path, 'is not an ordinary file');
}

/**
 * The contents of an ordinary file. Throws {@link UnreadableFile} for everything else and for more than `maxBytes`; it holds no more
 * than that, even if the file grows meanwhile.
 */
export function readOrdinary(path: string, maxBytes: number): Buffer {
  const file = openOrdinary(path);
  try {
    return readWhole(file, path, maxBytes);
  } finally {
    closeSync(file);
  }
}

/** The contents of an open file from its beginning, with the bound of {@link readOrdinary}. */
export function readWhole(file: number, path: string, maxBytes: number): Buffer {
  const parts: Buffer[] = [];
  for (let size = 0; ; ) {
    const part = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, maxBytes + 1 - size));
    const read = readSync(file, part, 0, part.length, size);
    if (read === 0) return Buffer.concat(parts, size);
    size += read;
    if (size > maxBytes) throw new UnreadableFile('EFBIG', path, `has more than ${maxBytes} bytes`);
    parts.push(part.subarray(0, read));
  }
}
