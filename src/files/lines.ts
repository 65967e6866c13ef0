const LF = 0x0a;
const FIRST_BYTES = 4096;

/** The bytes of a line without its line feed; null for a line that was too long. */
export type Line = Buffer | null;

/**
 * Splits chunks of bytes into lines. It looks at each byte once and copies it a bounded number of times, so that a line which
 * arrives byte by byte takes linear time, and it holds at most about twice `maxBytes`.
 */
export class LineSplitter {
  readonly #maxBytes: number;
  #held = Buffer.alloc(0);
  #length = 0;
  #tooLong = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that this chunk completes, and null once for each line that is longer than `maxBytes`, as soon as it is. */
  *push(chunk: Uint8Array): Generator<Line> {
    for (let from = 0; from < chunk.length; ) {
      const end = chunk.indexOf(LF, from);
      const part = chunk.subarray(from, end < 0 ? undefined : end);
      from += part.length + 1;
      const known = this.#tooLong;
      this.#tooLong ||= this.#length + part.length > this.#maxBytes;
      if (this.#tooLong && !known) yield null;
      if (!this.#tooLong) this.#add(part);
      if (end < 0) return;
      const line = this.#take();
      if (!this.#tooLong) yield line;
      this.#tooLong = false;
    }
  }

  /** What followed the last line feed; null if that is nothing, or was too long. */
  end(): Line {
    return this.#length === 0 || this.#tooLong ? null : this.#take();
  }

  #add(part: Uint8Array): void {
    const length = this.#length + part.length;
    if (length > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(FIRST_BYTES, 2 * this.#held.length, length));
      this.#held.copy(larger, 0, 0, this.#length);
      this.#held = larger;
    }
    this.#held.set(part, this.#length);
    this.#length = length;
  }

  #take(): Buffer {
    const line = this.#held.subarray(0, this.#length);
    this.#held = Buffer.alloc(0);
    this.#length = 0;
    return line;
  }
}

/** The lines of a stream, of at most `maxBytes` each; see {@link LineSplitter}. A last line without a line feed counts. */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Line> {
  const lines = new LineSplitter(maxBytes);
  for await (const chunk of chunks) yield* lines.push(chunk);
  const rest = lines.end();
  if (rest !== null) yield rest;
}
