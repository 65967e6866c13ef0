import type { Writable } from 'node:stream';
import { UsageError } from './failure.ts';

/**
 * One of the process's output streams. A reader that went away (`| head -1`) is no failure: what is written afterwards
 * vanishes, and `closed` is told once so that the command can stop early. Any other trouble, such as a full disk, is thrown
 * where nothing can catch it: the process must end, with {@link UsageError}.
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

  /** Aborted when nobody reads any more. */
  get closed(): AbortSignal {
    return this.#gone.signal;
  }

  /** Writes the text and a line feed, without waiting; for output whose size a limit bounds. */
  line(text: string): void {
    if (!this.#gone.signal.aborted) this.#stream.write(`${text}\n`);
  }

  /** Writes the text as it is, for instance a question without a line feed. */
  text(text: string): void {
    if (!this.#gone.signal.aborted) this.#stream.write(text);
  }

  /** As {@link line}; resolves when the stream takes more, so that a slow reader holds the writer back. */
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
