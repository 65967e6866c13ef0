import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { MalformedLine } from '../lines.ts';
import { type LineReader, readRecords, reasonOf } from '../queue.ts';
import { ExecutorError } from './error.ts';

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants;

const LF = 0x0a;

/**
 * Appends one line to a file of the queue and waits until the disk has it. What stands there is never changed, and nothing is
 * appended to a file that leaves a doubt: every line must be a record, the last one ended, and `check` content with each. The
 * line goes out in one write; if that comes out short, nothing is repaired, so that every reader denies from then on. The
 * caller holds the lock. Throws {@link ExecutorError} `ERR_GATE_RECORD`, after which nobody knows whether the line was kept.
 */
export function appendLine<T>(queue: string, name: string, line: string, read: LineReader<T>, check: (record: T) => void): void {
  try {
    const { file, isNew } = openForAppend(join(queue, name));
    try {
      if (!fstatSync(file).isFile()) throw new Error('it is no regular file');
      const size = readRecords(file, read, check);
      if (size > 0 && lastByte(file, size) !== LF) throw new Error('its last line was never finished');
      const bytes = Buffer.from(line);
      if (writeSync(file, bytes) !== bytes.length) throw new Error('the disk took only a part of the line');
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    if (isNew) syncDirectory(queue);
  } catch (cause) {
    if (cause instanceof ExecutorError) throw cause;
    const why = cause instanceof MalformedLine ? `its line ${cause.line} is no record` : reasonOf(cause);
    throw new ExecutorError('ERR_GATE_RECORD', `${name} cannot be continued: ${why}`, { cause });
  }
}

function openForAppend(path: string): { readonly file: number; readonly isNew: boolean } {
  const flags = O_RDWR | O_APPEND | O_NONBLOCK | O_NOFOLLOW;
  try {
    return { file: openSync(path, flags | O_CREAT | O_EXCL, 0o644), isNew: true };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    return { file: openSync(path, flags), isNew: false };
  }
}

function lastByte(file: number, size: number): number | undefined {
  const byte = Buffer.alloc(1);
  readSync(file, byte, 0, 1, size - 1);
  return byte[0];
}

/** The name of a new file is only kept once its directory is. */
function syncDirectory(path: string): void {
  const directory = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
