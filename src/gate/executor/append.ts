import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { MalformedLine } from '../lines.ts';
import { type LineParser, readRecords, reasonOf } from '../queue.ts';
import { ExecutorError } from './error.ts';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants;

const LF = 0x0a;

/**
 * Appends one line to a file of the queue and returns when the disk has it. First it reads the file: every line must be a
 * record that `check` accepts, and the last line must be complete. The new line takes one write. A short write is not
 * repaired, so every later reader denies. The caller holds the lock. Throws {@link ExecutorError} `ERR_GATE_RECORD`; it is
 * then unknown whether the file has the line.
 */
export function appendLine<T>(queue: string, name: string, line: string, parse: LineParser<T>, check: (record: T) => void): void {
  try {
    const file = openSync(join(queue, name), O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK | O_NOFOLLOW, 0o644);
    try {
      const before = fstatSync(file);
      if (!before.isFile()) throw new Error('it is not a regular file');
      const size = readRecords(file, before.size, parse, check);
      if (size !== before.size) throw new Error('it changed while it was read');
      if (size > 0 && lastByte(file, size) !== LF) throw new Error('its last line is incomplete');
      const bytes = Buffer.from(line);
      if (writeSync(file, bytes) !== bytes.length) throw new Error('the disk accepted only a part of the line');
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    syncDirectory(queue);
  } catch (cause) {
    if (cause instanceof ExecutorError) throw cause;
    const why = cause instanceof MalformedLine ? `its line ${cause.line} is not a record` : reasonOf(cause);
    throw new ExecutorError('ERR_GATE_RECORD', `cannot append to ${name}: ${why}`, { cause });
  }
}

function lastByte(file: number, size: number): number | undefined {
  const byte = Buffer.alloc(1);
  readSync(file, byte, 0, 1, size - 1);
  return byte[0];
}

/**
 * Waits until the disk has the name of the file, which is stored in its directory. An old file may lack it too: the process that
 * created the file may have died before this.
 */
function syncDirectory(path: string): void {
  const directory = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
