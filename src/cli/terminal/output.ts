import type { Writable } from 'node:stream';
import { UsageError } from './failure.ts';

/**
 * One of the process's output streams. A reader that closes its end (`| head -1`) is not a failure: later writes do nothing, and
 * `closed` aborts so that the command can stop early. Any other error, such as a full disk, ends the process with an uncaught
 * {@link UsageError}.
 */
export class Output {
  readonly #stream: Writable;
  readonly #gone = new AbortController();

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED')
        throw new UsageError(`the output cannot be written: ${error.message}`, { cause: error });
      this.#gone.abort();
    });
  }

  /** Aborts when the reader closes its end. */
  get closed(): AbortSignal {
    return this.#gone.signal;
  }

  /** Writes the text and a line feed, without waiting; for output whose size a limit bounds. */
  line(text: string): void {
    if (!this.#gone.signal.aborted) this.#stream.write(`${text}\n`);
  }

  /** Writes a value as JSON on a line of its own, as docs/commands.md says. */
  json(value: unknown): void {
    this.line(oneLine(JSON.stringify(value)));
  }

  /** Writes the text as it is, for instance a question without a line feed. */
  text(text: string): void {
    if (!this.#gone.signal.aborted) this.#stream.write(text);
  }

  /** As {@link line}, but waits until the stream takes more, so that a slow reader slows the writer. */
  async lineWhenReady(text: string): Promise<void> {
    if (this.#gone.signal.aborted || this.#stream.write(`${text}\n`)) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#stream.off('drain', done);
        this.#gone.signal.removeEventListener('abort', done);
        resolve();
      };
      this.#stream.once('drain', done);
      this.#gone.signal.addEventListener('abort', done, { once: true });
    });
  }
}

/** JSON without the two characters, U+2028 and U+2029, at which some readers split lines. Only texts contain them. */
export function oneLine(json: string): string {
  return json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}
