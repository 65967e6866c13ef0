import { createInterface, type Interface } from 'node:readline/promises';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { RESERVED } from '../../../grammar/vocabulary/keywords.ts';
import { type Line, splitLines } from '../../files/lines.ts';
import { printable, printableLines, quantity } from '../../report/index.ts';
import { until } from '../terminal/input.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { COMMAND_NAMES, isCommand } from './commands.ts';
import type { Session } from './session.ts';

/**
 * The result of waiting for a line: its text, why it is unusable, Ctrl-C (which may have `cleared` a line), or the end of the
 * input.
 */
export type Typed = { readonly text: string } | { readonly trouble: string } | 'interrupted' | 'cleared' | 'end';

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

const [CTRL_C, LINE_FEED, RETURN] = [3, 10, 13];

/**
 * The keys of a terminal, one line at a time: what is typed or pasted while nobody waits for a line is held, so that each line is shown
 * behind its own prompt. Ctrl-C passes at once.
 */
class HeldKeys extends PassThrough {
  readonly #stdin: Readable & { readonly isTTY?: boolean; setRawMode?(on: boolean): void };
  #keys = Buffer.alloc(0);
  #released = false;

  constructor(stdin: Readable) {
    super();
    this.#stdin = stdin;
    stdin.on('data', this.#take);
    stdin.on('end', () => this.end(this.#keys));
  }

  readonly #take = (keys: Buffer): void => {
    this.#keys = Buffer.concat([this.#keys, keys]);
    this.#pass();
  };

  get empty(): boolean {
    return this.#keys.length === 0;
  }

  /** Lets the next line pass, held or not yet typed. */
  release(): void {
    this.#released = true;
    this.#pass();
  }

  forget(): void {
    this.#keys = Buffer.alloc(0);
  }

  /** Takes no more of the terminal's keys. */
  stop(): void {
    this.#stdin.off('data', this.#take).pause();
  }

  /** Readline sets the mode of its input, and the terminal has it. */
  setRawMode(on: boolean): void {
    this.#stdin.setRawMode?.(on);
  }

  #pass(): void {
    const stop = this.#keys.lastIndexOf(CTRL_C);
    if (!this.#released && stop < 0) return;
    const end = this.#keys.findIndex((key) => key === LINE_FEED || key === RETURN);
    const passing = this.#released ? (end < 0 ? this.#keys.length : end + 1) : stop + 1;
    const from = this.#released ? 0 : stop;
    this.write(this.#keys.subarray(from, passing));
    // A line feed behind a carriage return belongs to it.
    const pair = this.#keys[passing - 1] === RETURN && this.#keys[passing] === LINE_FEED;
    this.#keys = this.#keys.subarray(pair ? passing + 1 : passing);
    if (end >= 0) this.#released = false;
  }
}

/** Maximum milliseconds between two pieces of a pasted text. */
const PASTE_MS = 30;

/** Completions of a line: the words that fit, and the part of the line that they replace. */
export type Completer = (line: string) => [string[], string];

const HISTORY = 1000;

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
  readonly #held: HeldKeys;
  #ended = false;
  #waiting: ((typed: Typed) => void) | null = null;

  constructor({ stdin, screen, maxBytes, complete: completer, interrupt: signal, onInterrupt }: KeyboardInit) {
    this.#screen = screen;
    this.#maxBytes = maxBytes;
    this.#held = new HeldKeys(stdin);
    const keys = createInterface({ input: this.#held, output: screen, terminal: true, completer, historySize: HISTORY, signal });
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
    if (this.#ended) return Promise.resolve('end');
    return new Promise((resolve) => {
      this.#waiting = (typed) => resolve(this.#checked(typed));
      // The prompt may be a program's question with several lines.
      const cut = prompt.lastIndexOf('\n') + 1;
      for (const above of prompt.slice(0, cut).split('\n').slice(0, -1)) this.#screen.write(`${printable(above)}\n`);
      this.#keys.setPrompt(printable(prompt.slice(cut)));
      this.#keys.prompt();
      this.#held.release();
    });
  }

  async more(): Promise<boolean> {
    if (this.#held.empty) await wait(PASTE_MS);
    return !this.#held.empty;
  }

  forget(): void {
    this.#held.forget();
  }

  [Symbol.dispose](): void {
    this.#keys.close();
    this.#held.stop();
  }

  #settle(typed: Typed): void {
    this.#waiting?.(typed);
    this.#waiting = null;
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

/** Completes the word at the end of a line: commands of the prompt, or keywords, variables, procedures and tools in any letter
 * case. */
export function complete(
  line: string,
  { variables, definitions }: Pick<Session, 'variables' | 'definitions'>,
  tools: readonly string[],
): [string[], string] {
  if (isCommand(line)) {
    const name = line.trimStart();
    return [COMMAND_NAMES.filter((command) => command.startsWith(name)), name];
  }
  const word = lastWord(line);
  if (word === '') return [[], word];
  const names = variables.map(({ name }) => name);
  const procedures = definitions.flatMap(({ file }) => file.procedures);
  const all = new Set([...names, ...procedures, ...RESERVED, ...tools]);
  const start = word.toLowerCase();
  return [[...all].filter((known) => known.toLowerCase().startsWith(start)).sort(), word];
}

/** The name at the end of a line; it begins with a letter or an underscore. */
function lastWord(line: string): string {
  let from = line.length;
  while (from > 0 && /[\w.]/.test(line.charAt(from - 1))) from -= 1;
  return line.slice(from).replace(/^[\d.]+/, '');
}

/** Answers `promptuser`: every question takes exactly one line. */
export class Questions implements AsyncIterable<string> {
  readonly #terminal: Terminal;
  #lines: Lines | null = null;
  #cancel: () => void = () => {};
  #question = '';

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Sets the source of lines; `cancel` ends the run when Ctrl-C answers its question. */
  answerWith(lines: Lines, cancel: () => void): void {
    this.#lines = lines;
    this.#cancel = cancel;
  }

  /** Takes a question. A terminal shows it as the prompt; otherwise it goes to standard error, as with `run`. */
  ask(text: string): void {
    if (this.#lines?.interactive === true) this.#question += text;
    else this.#terminal.err.text(printableLines(text));
  }

  /** Not a generator, because a generator ends after the first unreadable line. */
  [Symbol.asyncIterator](): AsyncIterator<string> {
    return { next: () => this.#next() };
  }

  async #next(): Promise<IteratorResult<string>> {
    const question = this.#question;
    this.#question = '';
    const typed = (await this.#lines?.next(question)) ?? 'end';
    if (typed === 'end') return { done: true, value: undefined };
    if (typed === 'interrupted' || typed === 'cleared') {
      this.#cancel();
      throw new Error('the answer was given up');
    }
    if ('trouble' in typed) throw new Error(typed.trouble);
    return { done: false, value: `${typed.text}\n` };
  }
}
