import { printableLines } from '../../report/index.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Lines } from './lines.ts';

/** Answers `promptuser`: every question takes the next line, and not one more. */
export class Questions implements AsyncIterable<string> {
  readonly #terminal: Terminal;
  #lines: Lines | null = null;
  #cancel: () => void = () => {};
  #question = '';

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Says where the lines come from; `cancel` ends the run whose question is answered with Ctrl-C. */
  answerWith(lines: Lines, cancel: () => void): void {
    this.#lines = lines;
    this.#cancel = cancel;
  }

  /** Takes what a program asks. A person sees it as the prompt, everybody else on standard error, as with `run`. */
  ask(text: string): void {
    if (this.#lines?.interactive === true) this.#question += text;
    else this.#terminal.err.text(printableLines(text));
  }

  /** Not a generator: that would be over after the first line that cannot be read. */
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
