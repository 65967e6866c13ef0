import type { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { columns } from '../../wire/text/printable.ts';
import { UsageError } from './failure.ts';

/** A stream, which may be a terminal. */
type Stream = Writable & { readonly isTTY?: boolean; readonly columns?: number | undefined };

/**
 * One of the process's output streams. A reader that closes its end (`| head -1`) is not a failure: later writes do nothing, and
 * `closed` aborts so that the command can stop early. Any other error, such as a full disk, ends the process with an uncaught
 * {@link UsageError}.
 */
export class Output {
  readonly #stream: Stream;
  readonly #gone = new AbortController();

  constructor(stream: Stream) {
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

  /** Writes lines for a reader. A terminal that is narrower gets them broken between words; what is broken off stands further to the right. */
  prose(text: string): void {
    const { isTTY = false, columns: width = 0 } = this.#stream;
    const lines = isTTY && width > 0 ? text.split('\n').map((line) => broken(line, width)) : [text];
    this.line(lines.join('\n'));
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

/** Breaks a line between words. A word that is wider than the terminal stays whole, so that it can be copied. */
function broken(text: string, width: number): string {
  const indent = text.length - text.trimStart().length;
  const lines: string[] = [];
  let line = ' '.repeat(indent);
  let used = indent;
  // No word of a line has been written yet; blanks before its first one are left out.
  let empty = true;
  for (const word of text.slice(indent).split(' ')) {
    const wide = columns(stripVTControlCharacters(word));
    if (!empty && used + 1 + wide > width) {
      lines.push(line.trimEnd());
      line = ' '.repeat(indent + 2);
      used = indent + 2;
      empty = true;
    }
    if (empty && word === '') continue;
    line += empty ? word : ` ${word}`;
    used += wide + (empty ? 0 : 1);
    empty = false;
  }
  return [...lines, line].join('\n');
}

/** JSON without the two characters, U+2028 and U+2029, at which some readers split lines. Only texts contain them. */
export function oneLine(json: string): string {
  return json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}
