import type { TokenClock, TokenIds } from '../../aeiou/index.ts';
import type { Clock, Ids } from '../ports.ts';

/** Gives a turn its clock of tokens and its token ids, and keeps what it gave: replay gives the same again (AMB-14). */
export class Recorder implements TokenClock, TokenIds {
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #readings: number[];
  readonly #jtis: string[];

  /** `earlier` is what it gave in an earlier execution of the turn, which this one goes on with. */
  constructor(clock: Clock, ids: Ids, earlier?: { readonly clock: readonly number[]; readonly jtis: readonly string[] }) {
    this.#clock = clock;
    this.#ids = ids;
    this.#readings = [...(earlier?.clock ?? [])];
    this.#jtis = [...(earlier?.jtis ?? [])];
  }

  /** Milliseconds since the Unix epoch. */
  now(): number {
    const reading = this.#clock.now();
    this.#readings.push(reading);
    return reading;
  }

  /** The id of a token of this turn. */
  jti(sid: string, turn: number, mint: number): string {
    const jti = this.#ids.jti(sid, turn, mint);
    this.#jtis.push(jti);
    return jti;
  }

  /** Every reading that was given, in order. */
  get readings(): readonly number[] {
    return [...this.#readings];
  }

  /** Every id that was given, in order. */
  get jtis(): readonly string[] {
    return [...this.#jtis];
  }
}
