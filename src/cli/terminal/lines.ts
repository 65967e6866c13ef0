import type { Readable } from 'node:stream';

const LF = 0x0a;

/** One line of a stream: its bytes without the line feed, or that it was longer than the cap (its bytes are dropped). */
export type Line = { readonly bytes: Uint8Array } | { readonly tooLong: true };

/**
 * Splits a stream of bytes at line feeds, holding at most `cap` bytes of a line. What follows the last line feed is a
 * line if it is not empty.
 */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>, cap: number): AsyncGenerator<Line> {
  let parts: Uint8Array[] = [];
  let held = 0;
  let tooLong = false;
  const add = (part: Uint8Array) => {
    held += part.length;
    tooLong ||= held > cap;
    if (tooLong) parts = [];
    else if (part.length > 0) parts.push(part);
  };
  const take = (): Line => {
    const line: Line = tooLong ? { tooLong: true } : { bytes: Buffer.concat(parts) };
    parts = [];
    held = 0;
    tooLong = false;
    return line;
  };
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, from)) {
      add(chunk.subarray(from, end));
      yield take();
      from = end + 1;
    }
    add(chunk.subarray(from));
  }
  if (held > 0) yield take();
}

/** A stream that ends when an interrupt destroys it. */
export async function* until(signal: AbortSignal, stream: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* stream;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
