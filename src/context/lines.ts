/** Where `promptuser` reads from: standard input, a file's stream, or any async iterable of text or UTF-8 bytes. */
export type LineSource = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

/**
 * Reads a source line by line. Nothing read ahead is ever lost between two calls, and a last line without a line feed
 * counts (P35). One reader per source: concurrent callers are served in order.
 */
export class LineReader {
  readonly #source: LineSource;
  #chunks: AsyncIterator<string | Uint8Array> | Iterator<string | Uint8Array> | null = null;
  readonly #decoder = new TextDecoder();
  #buffered = '';
  #ended = false;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(source: LineSource) {
    this.#source = source;
    Object.freeze(this);
  }

  /** The next line without its end (LF or CR LF), or null at the end of the source. Rejects as the source does. */
  next(): Promise<string | null> {
    const line = this.#turn.then(() => this.#read());
    this.#turn = line.catch(() => null);
    return line;
  }

  async #read(): Promise<string | null> {
    for (;;) {
      const end = this.#buffered.indexOf('\n');
      if (end >= 0) {
        const line = this.#buffered.slice(0, end);
        this.#buffered = this.#buffered.slice(end + 1);
        return line.endsWith('\r') ? line.slice(0, -1) : line;
      }
      if (this.#ended) {
        const rest = this.#buffered;
        this.#buffered = '';
        return rest === '' ? null : rest;
      }
      await this.#fill();
    }
  }

  async #fill(): Promise<void> {
    this.#chunks ??=
      Symbol.asyncIterator in this.#source ? this.#source[Symbol.asyncIterator]() : this.#source[Symbol.iterator]();
    const chunk = await this.#chunks.next();
    if (chunk.done === true) {
      this.#ended = true;
      this.#buffered += this.#decoder.decode();
    } else {
      this.#buffered += typeof chunk.value === 'string' ? chunk.value : this.#decoder.decode(chunk.value, { stream: true });
    }
  }
}
