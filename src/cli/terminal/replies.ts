import type { LoopProgress } from '../../loop/index.ts';
import { printableLines } from '../../report/index.ts';
import type { Terminal } from './terminal.ts';

/** Prints the replies of an agent on standard error, as they are written: the reply of an agent that does not stream in one piece. */
export class Replies {
  readonly #terminal: Terminal;
  /** The attempt and the retry whose pieces are on the terminal; null when no reply is under way. */
  #writing: string | null = null;
  /** Whether the cursor stands in a line. */
  #within = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Takes an event. */
  show(event: LoopProgress): void {
    switch (event.type) {
      case 'asked':
        this.#heading(`turn ${event.turn}${event.attempt === 1 ? '' : `, prompt ${event.attempt}`}`);
        break;
      case 'delta': {
        const writing = `${event.attempt}.${event.retry}`;
        if (event.retry > 0 && this.#writing !== writing) this.#heading('the connection failed; the reply begins anew');
        this.#writing = writing;
        this.#text(event.text);
        break;
      }
      case 'replied':
        if (this.#writing === null) this.#text(event.reply);
        this.#end();
        break;
      case 'unanswered':
        this.#end();
        break;
    }
  }

  #heading(text: string): void {
    this.#end();
    this.#terminal.err.prose(this.#terminal.paintErr.dim(`── ${text}`));
  }

  #text(text: string): void {
    if (text === '') return;
    this.#terminal.err.text(printableLines(text));
    this.#within = !text.endsWith('\n');
  }

  #end(): void {
    if (this.#within) this.#terminal.err.prose('');
    this.#within = false;
    this.#writing = null;
  }
}
