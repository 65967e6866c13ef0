import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { MalformedLine, readLines } from './lines.ts';

/** The files of a queue directory that record approvals and executions. */
export const APPROVED = 'approved.jsonl';
export const EXECUTED = 'executed.jsonl';

/** Parses one line of a file; null for a malformed line. */
export type LineParser<T> = (text: string) => T | null;

/**
 * Reads a whole file of the queue and calls `visit` for every record with its 1-based line. Returns false when the directory
 * exists and the file does not. Throws {@link MalformedLine}, and any other error for a file that cannot be read or changes
 * meanwhile; the caller must then discard the records that it has seen.
 */
export function readQueue<T>(
  directory: string,
  name: string,
  read: LineParser<T>,
  visit: (record: T, line: number) => void,
): boolean {
  const path = join(directory, name);
  let file: number;
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for a writer.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (isAbsent(error, directory, path)) return false;
    throw error;
  }
  try {
    const before = fstatSync(file);
    if (!before.isFile()) throw new Error(`${name} is not a regular file`);
    const bytes = readRecords(file, before.size, read, visit);
    if (bytes !== before.size || changed(before, statSync(path))) throw new Error(`${name} changed while it was read`);
    return true;
  } finally {
    closeSync(file);
  }
}

/** Calls `visit` for every record of an open file of `size` bytes and returns how many were read. Throws {@link MalformedLine}. */
export function readRecords<T>(
  file: number,
  size: number,
  read: LineParser<T>,
  visit: (record: T, line: number) => void,
): number {
  return readLines(file, size, (text, line) => {
    const record = read(text);
    if (record === null) throw new MalformedLine(line);
    visit(record, line);
  });
}

/** The message of an error. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether the file does not exist in an existing directory. A dangling link does exist, and is not an empty record. */
function isAbsent(error: unknown, directory: string, path: string): boolean {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) return false;
  return (
    statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true &&
    lstatSync(path, { throwIfNoEntry: false }) === undefined
  );
}

function changed(before: Stats, after: Stats): boolean {
  return before.dev !== after.dev || before.ino !== after.ino || before.size !== after.size || before.mtimeMs !== after.mtimeMs;
}
