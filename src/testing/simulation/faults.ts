import { mixed } from './random.ts';

/** The kinds of faults. */
export type Fault =
  /** A request has no effect and fails: a busy store, a full disk, an absent agent. */
  | 'refused'
  /** A request has its effect, and its answer is lost: the process sees a failure. */
  | 'lost'
  /** A request arrives twice, as after a retry by a driver. The process sees the second answer. */
  | 'twice'
  /** Request or answer takes longer than a lease. */
  | 'slow'
  /** The process dies before the request leaves it. */
  | 'dies-before'
  /** The process dies when the request has had its effect, before it sees the answer. */
  | 'dies-after'
  /** The process dies within a write to its disk, of which a part remains. */
  | 'torn'
  /** The worker process of a program is killed, for instance by the system. Calls under way come to their end. */
  | 'killed'
  /** The process stops for longer than a lease, and then continues. */
  | 'stops'
  /** The process cannot reach the store for a time. */
  | 'cut-off'
  /** The wall clock of the process jumps, forwards or back. */
  | 'jumps'
  /** The disks are full for a time: no store and no log can be written, or only a part of what is written. */
  | 'full'
  /** The process dies. */
  | 'dies'
  /** The process hands its sessions over and ends; another one starts. */
  | 'drains'
  /** Somebody cancels a session. */
  | 'cancels';

export const FAULTS: readonly Fault[] = [
  ...(['refused', 'lost', 'twice', 'slow', 'dies-before', 'dies-after', 'torn', 'killed'] as const),
  ...(['stops', 'cut-off', 'jumps', 'full', 'dies', 'drains', 'cancels'] as const),
];

/** Possible shares of requests with a fault; a seed selects one. */
const SHARES = [0, 0.01, 0.02, 0.05, 0.1];

/**
 * Decides the faults of a schedule. Every place has a name, such as `a.commit.3`: the third commit of process `a`. A seed decides for
 * each place separately, so that removing one fault does not move the others, as long as the same places come up.
 */
export class Faults {
  /** The faults so far, as `PLACE=FAULT`. */
  readonly happened: string[] = [];
  readonly #seed: number;
  readonly #share: number;
  readonly #kinds: ReadonlySet<Fault>;
  readonly #only: ReadonlySet<string> | null;
  #over = false;

  /** `kinds` are the possible kinds of faults; `only`, unless null, lists all faults. */
  constructor(seed: number, kinds: readonly Fault[], only: readonly string[] | null) {
    this.#seed = seed;
    this.#share = SHARES[mixed(seed, 'share') % SHARES.length] ?? 0;
    // A world with fewer kinds of faults gets further.
    this.#kinds = new Set(kinds.filter((kind) => mixed(seed, `kind ${kind}`) % 3 > 0));
    this.#only = only === null ? null : new Set(only);
  }

  end(): void {
    this.#over = true;
  }

  /** The fault at a place, out of the possible ones; null for none. `share` is the share of faulty places of this kind. */
  at(place: string, possible: readonly Fault[], share: number = this.#share): Fault | null {
    if (this.#over) return null;
    const fault = this.#only === null ? this.#drawn(place, possible, share) : this.#named(place, possible);
    if (fault !== null) this.happened.push(`${place}=${fault}`);
    return fault;
  }

  #drawn(place: string, possible: readonly Fault[], share: number): Fault | null {
    if (this.share(place) >= share) return null;
    const kinds = possible.filter((kind) => this.#kinds.has(kind));
    return kinds[mixed(this.#seed, `${place}?`) % Math.max(1, kinds.length)] ?? null;
  }

  #named(place: string, possible: readonly Fault[]): Fault | null {
    return possible.find((kind) => this.#only?.has(`${place}=${kind}`)) ?? null;
  }

  /** A number from 0 and below 1, fixed for a place. */
  share(place: string): number {
    return mixed(this.#seed, place) / 2 ** 32;
  }

  /** The duration of something at a place, in milliseconds: mostly short. */
  delay(place: string, most: number): number {
    return most * this.share(place) ** 3;
  }
}
