import { ConfigError } from '../wire/errors.ts';

/** A source of lines for `promptuser`: any iterable of text or UTF-8 bytes, such as standard input. */
export type LineSource = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

/** Most UTF-16 units of one line, so that a source without line feeds cannot fill the host's memory. */
const MAX_LINE = 8 * 1024 * 1024;

/**
 * Reads a source line by line. Text that was read ahead is kept for the next call. A last line without a line feed counts.
 * Concurrent callers get lines in the order of their calls, so a source should have one reader only.
 */
export class LineReader {
  readonly #source: LineSource;
  #chunks: AsyncIterator<string | Uint8Array> | Iterator<string | Uint8Array> | null = null;
  readonly #decoder = new TextDecoder();
  /** The start of the current line, which contains no line feed. The parts are joined once, so that a long line takes linear time. */
  #parts: string[] = [];
  #held = 0;
  /** The text after the parts, not searched for a line feed yet. */
  #rest = '';
  #ended = false;
  #turn: Promise<unknown> = Promise.resolve();
  /** The line that is being read, until a caller has it. */
  #reading: Promise<string | null> | null = null;

  constructor(source: LineSource) {
    if (typeof source !== 'string' && (typeof source !== 'object' || source === null))
      throw new ConfigError(
        `the source of lines must be an iterable of text or bytes, got ${source === null ? 'null' : typeof source}`,
      );
    this.#source = source;
    Object.freeze(this);
  }

  /**
   * The next line without its LF or CR LF; null at the end of the source. Rejects when the source does. Once a line is longer
   * than 8 Mi UTF-16 units, every further call rejects. When the signal is aborted first, the call rejects with its reason, and the next
   * caller gets the line.
   */
  next(signal?: AbortSignal): Promise<string | null> {
    const line = this.#turn.then(() => this.#given(signal));
    this.#turn = line.catch(() => null);
    return line;
  }

  #given(signal: AbortSignal | undefined): Promise<string | null> {
    signal?.throwIfAborted();
    this.#reading ??= this.#read();
    const { promise, resolve, reject } = Promise.withResolvers<string | null>();
    const leave = (): void => reject(signal?.reason);
    signal?.addEventListener('abort', leave);
    const end = (): void => {
      signal?.removeEventListener('abort', leave);
      if (signal?.aborted !== true) this.#reading = null;
    };
    this.#reading.finally(end).then(resolve, reject);
    return promise;
  }

  async #read(): Promise<string | null> {
    for (;;) {
      const end = this.#rest.indexOf('\n');
      if (end >= 0) {
        this.#parts.push(this.#rest.slice(0, end));
        this.#rest = this.#rest.slice(end + 1);
        const line = this.#take();
        return line.endsWith('\r') ? line.slice(0, -1) : line;
      }
      if (this.#rest !== '') this.#parts.push(this.#rest);
      this.#held += this.#rest.length;
      this.#rest = '';
      if (this.#held > MAX_LINE) throw new RangeError(`the line is longer than ${MAX_LINE} characters`);
      if (this.#ended) return this.#held === 0 ? null : this.#take();
      await this.#fill();
    }
  }

  #take(): string {
    const line = this.#parts.join('');
    this.#parts = [];
    this.#held = 0;
    return line;
  }

  async #fill(): Promise<void> {
    this.#chunks ??=
      Symbol.asyncIterator in this.#source ? this.#source[Symbol.asyncIterator]() : this.#source[Symbol.iterator]();
    const chunk = await this.#chunks.next();
    if (chunk.done === true) {
      this.#ended = true;
      this.#rest = this.#decoder.decode();
    } else {
      this.#rest = typeof chunk.value === 'string' ? chunk.value : this.#decoder.decode(chunk.value, { stream: true });
    }
  }
}
