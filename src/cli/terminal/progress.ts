import type { LoopEvent, LoopProgress, LoopState } from '../../loop/index.ts';
import { clip, printable } from '../../report/index.ts';
import type { Terminal } from './terminal.ts';

/** Milliseconds between two redraws. */
const EVERY_MS = 100;
const WIDTH = 78;

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
export class Progress implements Disposable {
  readonly #terminal: Terminal;
  readonly #begun = performance.now();
  readonly #timer: NodeJS.Timeout | null;
  #turn = 0;
  #doing = 'starting';
  #fuel = 0;
  #tool = '';
  /** What each open nested session does, in the order of their start. */
  readonly #nested = new Map<string, string>();
  #shown = false;

  /** `quiet`: something else writes on standard error, so there is no status line. */
  constructor(terminal: Terminal, quiet = false) {
    this.#terminal = terminal;
    this.#timer = terminal.errIsTTY && !quiet ? setInterval(() => this.#draw(), EVERY_MS).unref() : null;
  }

  /** Takes an event. */
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

  /** Takes an event of a nested session. */
  showNested(event: LoopEvent): void {
    const doing = event.type === 'asked' ? 'asking the agent' : event.type === 'state' ? DOING[event.to] : null;
    if (doing !== null) this.#nested.set(event.sid, `turn ${event.turn} ${doing}`);
    const ended = event.type === 'decided' ? event.record.decision !== 'CONTINUE' : event.type === 'unanswered';
    if (ended) this.#nested.delete(event.sid);
  }

  /** The text of the line. */
  get text(): string {
    const seconds = ((performance.now() - this.#begun) / 1000).toFixed(1);
    const tool = this.#tool === '' ? '' : ` · ${this.#tool}`;
    const asked = [...this.#nested.values()].map((doing) => ` › ${doing}`).join('');
    return clip(printable(`turn ${this.#turn} · ${this.#doing} · ${seconds} s · fuel ${this.#fuel}${tool}${asked}`), WIDTH);
  }

  /** Removes the line, so that other output can follow. */
  clear(): void {
    if (this.#shown) this.#terminal.err.text('\r\u001b[K');
    this.#shown = false;
  }

  [Symbol.dispose](): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.clear();
  }

  #draw(): void {
    this.#terminal.err.text(`\r\u001b[K${this.#terminal.paintErr.dim(this.text)}`);
    this.#shown = true;
  }
}
