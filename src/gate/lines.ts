import { readSync } from 'node:fs';

/** Most bytes of one line, without its line feed. A file may be as long as it likes. */
export const MAX_LINE_BYTES = 64 * 1024;

/** Bytes that one read asks for. */
const CHUNK_BYTES = 256 * 1024;

const LF = 0x0a;

/** A line that is no record, and so makes everything that the file says doubtful. */
export class MalformedLine extends Error {
  /** 1-based. */
  readonly line: number;
  constructor(line: number) {
    super(`line ${line} is no record`);
    this.line = line;
  }
}

/**
 * Reads an open file once from its beginning and hands out every line, without its line feed, with its 1-based number. What
 * stands after the last line feed is a line too, unless it is nothing. Memory stays the same however long the file is.
 * Returns how many bytes were read. Throws {@link MalformedLine} for a line that is too long, invalid UTF-8 included, and the
 * file system's error.
 */
export function readLines(file: number, visit: (text: string, line: number) => void): number {
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const buffer = Buffer.allocUnsafe(MAX_LINE_BYTES + CHUNK_BYTES);
  let line = 1;
  let kept = 0;
  let position = 0;
  const emit = (from: number, to: number): void => {
    if (to - from > MAX_LINE_BYTES) throw new MalformedLine(line);
    visit(decode(utf8, buffer.subarray(from, to), line), line);
    line += 1;
  };
  for (;;) {
    const read = readSync(file, buffer, kept, CHUNK_BYTES, position);
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
