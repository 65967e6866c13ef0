import { clip, printable } from '../../report/index.ts';
import type { Terminal } from './terminal.ts';

/** Milliseconds after which a command says what it does. */
const PATIENCE_MS = 2000;
/** Milliseconds between two redraws; rare, so that a measurement does not notice. */
const EVERY_MS = 500;

/** The parts of a terminal that a status line uses. */
type Screen = Pick<Terminal, 'err' | 'paintErr' | 'interrupt' | 'statusColumns'>;

/** When a status line appears, and how often it changes. */
interface Pace {
  readonly afterMs: number;
  readonly everyMs: number;
}

/**
 * One line at the end of a terminal that says what a command does. Where {@link Terminal.statusColumns} is 0, it prints nothing. An
 * interrupt removes it, so that nothing of it is left when the process ends.
 */
export class StatusLine implements Disposable {
  readonly #terminal: Screen;
  readonly #text: () => string;
  readonly #pace: Pace;
  readonly #begun = performance.now();
  readonly #timer: NodeJS.Timeout | null;
  #drawn = 0;
  #shown = false;
  #ended = false;
  readonly #end = (): void => this[Symbol.dispose]();

  constructor(terminal: Screen, text: () => string, pace: Pace = { afterMs: PATIENCE_MS, everyMs: EVERY_MS }) {
    this.#terminal = terminal;
    this.#text = text;
    this.#pace = pace;
    const shows = terminal.statusColumns > 0;
    this.#timer = shows ? setInterval(() => this.refresh(), pace.everyMs).unref() : null;
    if (shows) terminal.interrupt.addEventListener('abort', this.#end, { once: true });
    this.#ended = !shows;
  }

  /** Milliseconds since the beginning. */
  get elapsedMs(): number {
    return performance.now() - this.#begun;
  }

  /** Draws the line if it is time to: for work during which no timer runs. */
  refresh(): void {
    const now = performance.now();
    if (this.#ended || this.elapsedMs < this.#pace.afterMs || now - this.#drawn < this.#pace.everyMs / 2) return;
    this.#drawn = now;
    this.#shown = true;
    const text = clip(printable(this.#text()), this.#terminal.statusColumns);
    this.#terminal.err.text(`\r\u001b[K${this.#terminal.paintErr.dim(text)}`);
  }

  /** Removes the line, so that other output can follow. */
  clear(): void {
    if (this.#shown) this.#terminal.err.text('\r\u001b[K');
    this.#shown = false;
  }

  [Symbol.dispose](): void {
    this.#ended = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#terminal.interrupt.removeEventListener('abort', this.#end);
    this.clear();
  }
}

/** The status line of work in known steps: how much is done, and an estimate of how long the rest takes. */
export class Steps extends StatusLine {
  readonly #what: string;
  #done = 0;
  #total = 0;

  /** `what` says what happens, such as `replay`. */
  constructor(terminal: Terminal, what: string) {
    super(terminal, () => this.text);
    this.#what = what;
  }

  /** Takes how much of how much is done, in any unit. */
  reached(done: number, total: number): void {
    this.#done = done;
    this.#total = total;
    this.refresh();
  }

  get text(): string {
    const ms = this.elapsedMs;
    const share = this.#total === 0 ? 0 : Math.min(1, this.#done / this.#total);
    const parts = [this.#what, ...(this.#total === 0 ? [] : [`${Math.floor(share * 100)} %`]), duration(ms)];
    // Less than this says nothing about the rest.
    return [...parts, ...(share < 0.01 ? [] : [`about ${duration((ms * (1 - share)) / share)} left`])].join(' · ');
  }
}

/** A time in whole seconds or minutes. */
function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 100 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}

/** Columns for a status line on `stream`; 0 where a program or a log reads it, or where the terminal cannot redraw a line. */
export function statusColumns(
  stream: { readonly isTTY?: boolean; readonly columns?: number },
  env: Readonly<Record<string, string | undefined>>,
): number {
  const unwanted = ['NO_COLOR', 'CI'].some((name) => (env[name] ?? '') !== '') || env['TERM'] === 'dumb';
  // The last column stays free: some terminals begin a new line after it.
  return stream.isTTY === true && !unwanted ? Math.min(120, stream.columns || 80) - 1 : 0;
}
