import { printable } from '../../report/index.ts';
import { messageOf } from '../../wire/unknown.ts';
import type { Output } from '../terminal/output.ts';

/** The forms of the lines of a host. */
export const LOG_FORMATS = ['text', 'json'] as const;

/** How a host writes its lines. */
export type LogFormat = (typeof LOG_FORMATS)[number];

/** How much a line matters. */
export type Level = 'info' | 'warn' | 'error';

/** The lines of a host and of its processes for turns, in one form: time, level, message and what it is about. */
export class HostLines {
  readonly #out: Output;
  readonly #format: LogFormat;
  readonly #now: () => number;

  constructor(out: Output, format: LogFormat, now: () => number) {
    this.#out = out;
    this.#format = format;
    this.#now = now;
  }

  /** Writes one line. `sid` is the session that it is about. */
  write(level: Level, message: string, sid: string | null = null): void {
    const time = new Date(this.#now()).toISOString();
    if (this.#format === 'json') this.#out.json({ time, level, message, ...(sid !== null && { sid }) });
    else this.#out.line(`${time} ${level.padEnd(5)} ${sid === null ? '' : `session ${printable(sid)}: `}${printable(message)}`);
  }

  /** Writes what was thrown; `what` begins the line unless a session is named. */
  failed(error: unknown, sid: string | null = null, what: string | null = null): void {
    this.write('error', sid !== null || what === null ? messageOf(error) : `${what}: ${messageOf(error)}`, sid);
  }
}
