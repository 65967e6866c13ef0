import { ConfigError } from '../wire/errors.ts';

/**
 * A clock that changes only when a test changes it. Pass `now` to a runtime, or the whole clock to the host loop. The methods
 * are bound, so they can be passed alone.
 */
export class FakeClock {
  #millis: number;
  #elapsed = 0;

  /** Starts at this Unix time in milliseconds; 2025-01-01 if absent. Throws {@link ConfigError} if it is not a finite number. */
  constructor(millis: number = Date.UTC(2025, 0, 1)) {
    this.#millis = finite('the start of a clock', millis);
  }

  /** Unix milliseconds. */
  readonly now = (): number => this.#millis;

  /** Milliseconds since the clock was made. Only {@link advance} changes it. */
  readonly monotonic = (): number => this.#elapsed;

  /** Advances both clocks by this many milliseconds. Timers of the system are not affected. */
  advance(millis: number): void {
    if (finite('a step of a clock', millis) < 0) throw new ConfigError('time does not go back; use set() for another wall clock');
    this.#millis += millis;
    this.#elapsed += millis;
  }

  /** Sets the wall clock, forwards or back, like a real clock that is adjusted. {@link monotonic} does not change. */
  set(millis: number): void {
    this.#millis = finite('the time of a clock', millis);
  }
}

function finite(what: string, value: number): number {
  if (Number.isFinite(value)) return value;
  throw new ConfigError(`${what} must be a number of milliseconds, got ${String(value)}`);
}
