const LF = 0x0a;
const FIRST_BYTES = 4096;

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

  /** The lines that this chunk completes, without their line feeds, and null once for each line that is longer than `maxBytes`. */
  *push(chunk: Buffer): Generator<Buffer | null> {
    for (let from = 0; from < chunk.length; ) {
      const end = chunk.indexOf(LF, from);
      const part = chunk.subarray(from, end < 0 ? undefined : end);
      from += part.length + 1;
      const known = this.#tooLong;
      this.#tooLong ||= this.#length + part.length > this.#maxBytes;
      if (this.#tooLong && !known) yield null;
      if (!this.#tooLong) this.#add(part);
      if (end < 0) return;
      const line = this.#tooLong ? null : this.#held.subarray(0, this.#length);
      this.#held = Buffer.alloc(0);
      this.#length = 0;
      this.#tooLong = false;
      if (line !== null) yield line;
    }
  }

  #add(part: Buffer): void {
    const length = this.#length + part.length;
    if (length > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(FIRST_BYTES, 2 * this.#held.length, length));
      this.#held.copy(larger, 0, 0, this.#length);
      this.#held = larger;
    }
    part.copy(this.#held, this.#length);
    this.#length = length;
  }
}
