import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { MalformedLine, readLines } from './lines.ts';

/** The files of a queue directory that hold decisions (ARGO-5-1): what humans approved, and what was executed. */
export const APPROVED = 'approved.jsonl';
export const EXECUTED = 'executed.jsonl';

/** Reads one line of a file; null for what leaves any doubt. */
export type LineReader<T> = (text: string) => T | null;

/** A file of the queue that cannot be read as it stands; the message says why. */
export class UnreadableQueue extends Error {}

/**
 * Reads a whole file of the queue and hands out every record with its 1-based line. Opened once, for reading, and never waited
 * for. False when there is no such file while the directory is there. Throws {@link MalformedLine} and
 * {@link UnreadableQueue}; what was handed out before must then be forgotten.
 */
export function readQueue<T>(
  directory: string,
  name: string,
  read: LineReader<T>,
  visit: (record: T, line: number) => void,
): boolean {
  const path = join(directory, name);
  let file: number;
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for somebody to write into it.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (isAbsent(error, directory, path)) return false;
    throw new UnreadableQueue(reasonOf(error), { cause: error });
  }
  try {
    const before = fstatSync(file);
    if (!before.isFile()) throw new UnreadableQueue(`${name} is no regular file`);
    const bytes = readRecords(file, read, visit);
    if (bytes !== before.size || changed(before, statSync(path))) throw new UnreadableQueue(`${name} changed while it was read`);
    return true;
  } catch (error) {
    if (error instanceof MalformedLine || error instanceof UnreadableQueue) throw error;
    throw new UnreadableQueue(reasonOf(error), { cause: error });
  } finally {
    closeSync(file);
  }
}

/** Hands out every record of an open file; returns its bytes. Throws {@link MalformedLine}. */
export function readRecords<T>(file: number, read: LineReader<T>, visit: (record: T, line: number) => void): number {
  return readLines(file, (text, line) => {
    const record = read(text);
    if (record === null) throw new MalformedLine(line);
    visit(record, line);
  });
}

/** What the file system said, or whatever else went wrong, in one sentence. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A link into nowhere is there, and says nothing: only a name that does not exist is an empty record (AMB-53c). */
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
