import type { LoopEvent, LoopProgress, LoopState } from '../../loop/index.ts';
import { printable, printableLines } from '../../report/index.ts';
import { StatusLine } from './status.ts';
import type { Terminal } from './terminal.ts';

/** A session shows at once what it does: people wait for a model. */
const PACE = { afterMs: 0, everyMs: 100 };

const DOING: Readonly<Record<LoopState, string>> = {
  IDLE: 'waiting',
  EXECUTING: 'running',
  VERIFYING: 'verifying',
  DECIDED: 'decided',
  EMIT_NEXT: 'decided',
  FINAL: 'decided',
};

/**
 * A status line of a session on a terminal: the turn, the time, the fuel of earlier turns and the last tool call. Without a
 * terminal on standard error it prints nothing.
 */
export class Progress extends StatusLine {
  #turn = 0;
  #doing = 'starting';
  #fuel = 0;
  #tool = '';
  /** What each open nested session does, in the order of their start. */
  readonly #nested = new Map<string, string>();

  /** `quiet`: something else writes on standard error, so there is no status line. */
  constructor(terminal: Terminal, quiet = false) {
    const { err, paintErr, interrupt, statusColumns } = terminal;
    super({ err, paintErr, interrupt, statusColumns: quiet ? 0 : statusColumns }, () => this.text, PACE);
  }

  show(event: LoopProgress): void {
    if ('turn' in event) this.#turn = event.turn;
    switch (event.type) {
      case 'asked':
        this.#doing = event.attempt === 1 ? 'asking the agent' : `asking the agent again (${event.attempt})`;
        break;
      case 'state':
        this.#doing = DOING[event.to];
        break;
      case 'called':
        this.#tool = event.entry.kind === 'tool' ? event.entry.name : event.entry.kind;
        break;
      case 'decided':
        this.#fuel += event.record.usage.fuel;
        this.#tool = '';
        this.#nested.clear();
        break;
      case 'delta':
      case 'replied':
      case 'unanswered':
      case 'output':
      case 'dropped':
      case 'ended':
        break;
    }
  }

  showNested(event: LoopEvent): void {
    const doing = event.type === 'asked' ? 'asking the agent' : event.type === 'state' ? DOING[event.to] : null;
    if (doing !== null) this.#nested.set(event.sid, `turn ${event.turn} ${doing}`);
    const ended = event.type === 'decided' ? event.record.decision !== 'CONTINUE' : event.type === 'unanswered';
    if (ended) this.#nested.delete(event.sid);
  }

  get text(): string {
    const seconds = (this.elapsedMs / 1000).toFixed(1);
    const tool = this.#tool === '' ? '' : ` · ${this.#tool}`;
    const asked = [...this.#nested.values()].map((doing) => ` › ${doing}`).join('');
    return printable(`turn ${this.#turn} · ${this.#doing} · ${seconds} s · fuel ${this.#fuel}${tool}${asked}`);
  }
}

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
