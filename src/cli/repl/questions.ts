import { printableLines } from '../../report/index.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Lines } from './lines.ts';

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
