import { ConfigError } from '../wire/errors.ts';

/**
 * A clock that stands still until it is told to go on; `now` for a runtime, and a whole clock for the host loop. Its
 * methods can be passed on alone.
 */
export class FakeClock {
  #millis: number;
  #elapsed = 0;

  /** Starts at this Unix time in milliseconds; 2025-01-01 when absent. Throws {@link ConfigError} for no number. */
  constructor(millis: number = Date.UTC(2025, 0, 1)) {
    this.#millis = finite('the start of a clock', millis);
  }

  /** Unix milliseconds. */
  readonly now = (): number => this.#millis;

  /** Milliseconds since the clock was made: only {@link advance} adds to it. */
  readonly monotonic = (): number => this.#elapsed;

  /** Goes on by so many milliseconds. Timers of the system do not notice. */
  advance(millis: number): void {
    if (finite('a step of a clock', millis) < 0) throw new ConfigError('time does not go back; use set() for another wall clock');
    this.#millis += millis;
    this.#elapsed += millis;
  }

  /** Puts the wall clock, forwards or back, as somebody may do to a real one; {@link monotonic} stays. */
  set(millis: number): void {
    this.#millis = finite('the time of a clock', millis);
  }
}

function finite(what: string, value: number): number {
  if (Number.isFinite(value)) return value;
  throw new ConfigError(`${what} must be a number of milliseconds, got ${String(value)}`);
}
