const LF = 0x0a;
/** Bytes of the first block of a line, which most lines fit into, and of the largest. */
const BLOCK = { first: 4 * 1024, largest: 64 * 1024 } as const;

/** The bytes of a line without its line feed; null for a line that was too long. */
export type Line = Buffer | null;

/**
 * Splits chunks of bytes into lines. It copies each line out of its chunk. Of a line over several chunks it copies each byte into a block,
 * and once more when the line ends, so that a line which arrives byte by byte takes linear time and no chunk takes longer because the
 * line is long. It holds about `maxBytes`, and twice that while it joins the blocks.
 */
export class LineSplitter {
  readonly #maxBytes: number;
  /** The line so far: full blocks, and one that is filled up to `#end`. */
  #full: Buffer[] = [];
  #block = Buffer.alloc(0);
  #end = 0;
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
      if (end >= 0 && this.#length === 0 && !this.#tooLong) {
        // A chunk of short lines would need a block for each of them.
        yield Buffer.from(part);
        continue;
      }
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
    for (let done = 0; done < part.length; ) {
      if (this.#end === this.#block.length) this.#nextBlock();
      const piece = part.subarray(done, done + this.#block.length - this.#end);
      this.#block.set(piece, this.#end);
      this.#end += piece.length;
      done += piece.length;
    }
    this.#length += part.length;
  }

  #nextBlock(): void {
    const { length } = this.#block;
    if (length > 0) this.#full.push(this.#block);
    this.#block = Buffer.allocUnsafeSlow(Math.min(Math.max(BLOCK.first, 2 * length), BLOCK.largest));
    this.#end = 0;
  }

  #take(): Buffer {
    const last = this.#block.subarray(0, this.#end);
    const line = this.#full.length === 0 ? last : Buffer.concat([...this.#full, last], this.#length);
    this.#full = [];
    this.#block = Buffer.alloc(0);
    this.#end = 0;
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
