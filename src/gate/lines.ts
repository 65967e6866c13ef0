import { readSync } from 'node:fs';

/** Most bytes of one line, without its line feed. The length of a file has no limit. */
export const MAX_LINE_BYTES = 64 * 1024;

/** Bytes that one read asks for. */
const CHUNK_BYTES = 256 * 1024;

const LF = 0x0a;

/** A line is malformed, so nothing in its file can be trusted. */
export class MalformedLine extends Error {
  /** 1-based. */
  readonly line: number;
  constructor(line: number) {
    super(`line ${line} is not a record`);
    this.line = line;
  }
}

/**
 * Reads an open file from its beginning and calls `visit` for every line, without its line feed. Text after the last line feed
 * is a line too. Uses constant memory, and no more than a file of `size` bytes needs; of one that grows meanwhile it may read
 * only a part. Returns the number of bytes read, then more than `size`. Throws {@link MalformedLine} for a line that is too
 * long or not UTF-8, and the errors of the file system.
 */
export function readLines(file: number, size: number, visit: (text: string, line: number) => void): number {
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  // One byte more than the file has, so that one that has grown is seen to be longer.
  const buffer = Buffer.allocUnsafe(Math.min(size + 1, MAX_LINE_BYTES + CHUNK_BYTES));
  let line = 1;
  let kept = 0;
  let position = 0;
  const emit = (from: number, to: number): void => {
    if (to - from > MAX_LINE_BYTES) throw new MalformedLine(line);
    visit(decode(utf8, buffer.subarray(from, to), line), line);
    line += 1;
  };
  for (;;) {
    const read = readSync(file, buffer, kept, Math.min(CHUNK_BYTES, buffer.length - kept), position);
    if (read === 0) break;
    position += read;
    const end = kept + read;
    let from = 0;
    for (let at = buffer.indexOf(LF, kept); at >= 0 && at < end; at = buffer.indexOf(LF, from)) {
      emit(from, at);
      from = at + 1;
    }
    kept = end - from;
    if (kept > MAX_LINE_BYTES) throw new MalformedLine(line);
    buffer.copyWithin(0, from, end);
  }
  if (kept > 0) emit(0, kept);
  return position;
}

function decode(utf8: TextDecoder, bytes: Uint8Array, line: number): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new MalformedLine(line);
  }
}
