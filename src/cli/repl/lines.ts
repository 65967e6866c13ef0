import { createInterface, type Interface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { type Line, splitLines } from '../../files/lines.ts';
import { printable, quantity } from '../../report/index.ts';
import { until } from '../terminal/input.ts';

/**
 * The result of waiting for a line: its text, why it is unusable, Ctrl-C (which may have `cleared` a line), or the end of the
 * input.
 */
export type Typed = { readonly text: string } | { readonly trouble: string } | 'interrupted' | 'cleared' | 'end';

/** A source of lines. */
export interface Lines extends Disposable {
  /** Whether a person types the lines and sees the prompts. */
  readonly interactive: boolean;
  /** The next line; a terminal shows `prompt` first. */
  next(prompt: string): Promise<Typed>;
  /** Whether the next line is there already: pasted text may contain empty lines. */
  more(): Promise<boolean>;
  /** Discards lines that were typed ahead. */
  forget(): void;
}

/** Lines of a pipe or a file of at most `maxBytes` each. */
export class PipedLines implements Lines {
  readonly interactive = false;
  readonly #lines: AsyncGenerator<Line>;
  readonly #maxBytes: number;

  constructor(stdin: Readable, maxBytes: number, interrupt: AbortSignal) {
    this.#maxBytes = maxBytes;
    this.#lines = splitLines(until(interrupt, stdin), maxBytes);
  }

  async next(): Promise<Typed> {
    const { value: line, done } = await this.#lines.next();
    if (done === true) return 'end';
    if (line === null) return { trouble: `the line is longer than ${quantity('bytes', this.#maxBytes)}` };
    try {
      return { text: new TextDecoder('utf-8', { fatal: true }).decode(line) };
    } catch {
      return { trouble: 'the line is not UTF-8 text' };
    }
  }

  async more(): Promise<boolean> {
    return true;
  }

  forget(): void {
    // Reads only on demand.
  }

  [Symbol.dispose](): void {
    // The owner of the stream closes it.
  }
}

/** Maximum milliseconds between two pieces of a pasted text. */
const PASTE_MS = 30;

/** Completions of a line: the words that fit, and the part of the line that they replace. */
export type Completer = (line: string) => [string[], string];

/** Number of lines in the history. */
const HISTORY = 1000;

/** The options of {@link KeyboardLines}. */
export interface KeyboardInit {
  readonly stdin: Readable;
  readonly screen: Writable;
  /** Maximum bytes of a line. */
  readonly maxBytes: number;
  readonly complete: Completer;
  /** Aborts when the command ends. */
  readonly interrupt: AbortSignal;
  /** Called on Ctrl-C while no line is awaited. */
  readonly onInterrupt: () => void;
}

/** Lines from a keyboard, with history of this session, editing and completion by Node's readline. */
export class KeyboardLines implements Lines {
  readonly interactive = true;
  readonly #keys: Interface;
  readonly #screen: Writable;
  readonly #maxBytes: number;
  readonly #typed: string[] = [];
  #ended = false;
  #waiting: ((typed: Typed) => void) | null = null;

  constructor({ stdin, screen, maxBytes, complete: completer, interrupt: signal, onInterrupt }: KeyboardInit) {
    this.#screen = screen;
    this.#maxBytes = maxBytes;
    const keys = createInterface({ input: stdin, output: screen, terminal: true, completer, historySize: HISTORY, signal });
    this.#keys = keys;
    keys.on('line', (line) => this.#settle({ text: line }));
    keys.on('SIGINT', () => {
      this.forget();
      const empty = keys.line === '';
      this.#clearLine();
      screen.write('^C\n');
      if (this.#waiting === null) onInterrupt();
      else this.#settle(empty ? 'interrupted' : 'cleared');
    });
    keys.on('close', () => {
      this.#ended = true;
      this.#settle('end');
    });
  }

  next(prompt: string): Promise<Typed> {
    const line = this.#typed.shift();
    if (line !== undefined) return Promise.resolve(this.#checked({ text: line }));
    if (this.#ended) return Promise.resolve('end');
    return new Promise((resolve) => {
      this.#waiting = (typed) => resolve(this.#checked(typed));
      // The prompt may be a program's question with several lines.
      const cut = prompt.lastIndexOf('\n') + 1;
      for (const above of prompt.slice(0, cut).split('\n').slice(0, -1)) this.#screen.write(`${printable(above)}\n`);
      this.#keys.setPrompt(printable(prompt.slice(cut)));
      this.#keys.prompt();
    });
  }

  async more(): Promise<boolean> {
    if (this.#typed.length === 0) await wait(PASTE_MS);
    return this.#typed.length > 0;
  }

  forget(): void {
    this.#typed.length = 0;
  }

  [Symbol.dispose](): void {
    this.#keys.close();
  }

  #settle(typed: Typed): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting !== null) waiting(typed);
    else if (typeof typed === 'object' && 'text' in typed) this.#typed.push(typed.text);
  }

  /** Clears the edited line: moves to its end and deletes backwards. */
  #clearLine(): void {
    this.#keys.write(null, { ctrl: true, name: 'e' });
    this.#keys.write(null, { ctrl: true, name: 'u' });
  }

  #checked(typed: Typed): Typed {
    if (typeof typed === 'string' || !('text' in typed) || Buffer.byteLength(typed.text) <= this.#maxBytes) return typed;
    return { trouble: `the line is longer than ${quantity('bytes', this.#maxBytes)}` };
  }
}
