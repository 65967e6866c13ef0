import { closeSync, constants, fstatSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from './folder.ts';
import { openOrdinary, readWhole } from './ordinary.ts';

/** A file that should be private is not. */
export class ExposedFile extends Error {}

/**
 * The contents of an ordinary file of this user or of root that nobody else can access (mode 0600 or less, on POSIX). The check
 * runs on the opened file, so that nobody can exchange it in between. Throws {@link ExposedFile}, `UnreadableFile`, or the error of
 * the file system.
 */
export function readPrivate(path: string, maxBytes: number): Buffer {
  const file = openOrdinary(path);
  try {
    const { uid, mode } = fstatSync(file);
    if (process.platform !== 'win32') {
      if (uid !== 0 && uid !== process.geteuid?.()) throw new ExposedFile(`${path} belongs to another user, who can change it`);
      if ((mode & 0o077) !== 0) throw new ExposedFile(`others can access ${path}; run: chmod 600 ${path}`);
    }
    return readWhole(file, path, maxBytes);
  } finally {
    closeSync(file);
  }
}

/**
 * Writes a file for this user alone (mode 0600), completely or not at all: it writes a new file and renames it. Makes the folder,
 * for this user alone. Throws the error of the file system.
 */
export function writePrivate(path: string, text: string): void {
  makeFolder(dirname(path), 0o700);
  const draft = `${path}.${crypto.randomUUID()}.new`;
  try {
    const file = openSync(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
