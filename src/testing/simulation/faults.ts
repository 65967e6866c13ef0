import { mixed } from './random.ts';

/** What can go wrong between a process and the rest of its world. */
export type Fault =
  /** A request has no effect and fails: a busy store, a full disk, an agent that is away. */
  | 'refused'
  /** A request has its effect, and its answer is lost: the process sees a failure. */
  | 'lost'
  /** A request arrives twice, as after a driver's own repetition. The process sees the second answer. */
  | 'twice'
  /** Request or answer takes longer than a lease. */
  | 'slow'
  /** The process dies before the request leaves it. */
  | 'dies-before'
  /** The process dies when the request has had its effect, before it sees the answer. */
  | 'dies-after'
  /** The process dies within a write to its disk, of which a part remains. */
  | 'torn'
  /** The process stands still for longer than a lease, and then goes on. */
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

/** All faults. */
export const FAULTS: readonly Fault[] = [
  ...(['refused', 'lost', 'twice', 'slow', 'dies-before', 'dies-after', 'torn'] as const),
  ...(['stops', 'cut-off', 'jumps', 'full', 'dies', 'drains', 'cancels'] as const),
];

/** Shares of the requests at which something goes wrong; a seed has one of them. */
const SHARES = [0, 0.01, 0.02, 0.05, 0.1];

/**
 * Says what goes wrong, and where. Every place has a name, such as `a.commit.3`: the third commit of process `a`. A seed decides for each
 * place by itself, so that one fault less leaves the others where they are, as long as the same places come up.
 */
export class Faults {
  /** What went wrong, as `PLACE=FAULT`. */
  readonly happened: string[] = [];
  readonly #seed: number;
  readonly #share: number;
  readonly #kinds: ReadonlySet<Fault>;
  readonly #only: ReadonlySet<string> | null;
  #over = false;

  /** `kinds` are those that may happen at all; `only`, unless null, names all faults that happen. */
  constructor(seed: number, kinds: readonly Fault[], only: readonly string[] | null) {
    this.#seed = seed;
    this.#share = SHARES[mixed(seed, 'share') % SHARES.length] ?? 0;
    // A world in which not everything goes wrong gets further with what does.
    this.#kinds = new Set(kinds.filter((kind) => mixed(seed, `kind ${kind}`) % 3 > 0));
    this.#only = only === null ? null : new Set(only);
  }

  /** From now on nothing goes wrong any more. */
  end(): void {
    this.#over = true;
  }

  /** What goes wrong at a place, of what can; null for nothing. `share` is that of the places of this kind. */
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

  /** A number from 0 and below 1 that belongs to a place. */
  share(place: string): number {
    return mixed(this.#seed, place) / 2 ** 32;
  }

  /** How long something takes at a place, in milliseconds: mostly little. */
  delay(place: string, most: number): number {
    return most * this.share(place) ** 3;
  }
}
