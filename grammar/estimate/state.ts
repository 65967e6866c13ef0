/** What is known of the variables at a place, and what it has cost to get there. */
import { type Abstract, join, NOTHING, UNKNOWN } from './values.ts';

/** The variables of a fork. Immutable. */
export class State {
  readonly #names: ReadonlyMap<string, Abstract>;
  /** What a variable is that was not mentioned. */
  readonly #others: Abstract;

  constructor(names: ReadonlyMap<string, Abstract>, others: Abstract = NOTHING) {
    this.#names = names;
    this.#others = others;
  }

  /** Variables that are known. */
  get size(): number {
    return this.#names.size;
  }

  get(name: string): Abstract {
    return this.#names.get(name) ?? this.#others;
  }

  with(name: string, value: Abstract): State {
    return new State(new Map(this.#names).set(name, value), this.#others);
  }

  /** After something that may have changed these variables. */
  without(names: Iterable<string>): State {
    const next = new Map(this.#names);
    for (const name of names) next.set(name, UNKNOWN);
    return new State(next, this.#others);
  }

  /** After something that may have changed any variable: a tool can. */
  static readonly any = new State(new Map(), UNKNOWN);

  join(other: State): State {
    if (this === other) return this;
    const next = new Map<string, Abstract>();
    for (const name of new Set([...this.#names.keys(), ...other.#names.keys()]))
      next.set(name, join(this.get(name), other.get(name)));
    return new State(next, join(this.#others, other.#others));
  }
}

/** Fuel spent so far, at least and at most, and the bytes that values made on the way count at most. */
export interface Cost {
  readonly least: number;
  readonly most: number;
  readonly bytes: number;
}

export const FREE: Cost = { least: 0, most: 0, bytes: 0 };

/** A place in the program: what is known there, and what it costs to come there. */
export interface Point extends Cost {
  readonly state: State;
}

/** Later by so much. */
export function plus(point: Point, { least, most, bytes }: Cost): Point {
  return { state: point.state, least: point.least + least, most: point.most + most, bytes: point.bytes + bytes };
}

/** Either of two ways to the same place. */
export function either(a: Point | undefined, b: Point): Point {
  if (a === undefined) return b;
  return {
    state: a.state.join(b.state),
    least: Math.min(a.least, b.least),
    most: Math.max(a.most, b.most),
    bytes: Math.max(a.bytes, b.bytes),
  };
}

/**
 * How a statement or block can end, and where one is then. `error`: no handler has seen it yet. `offered`: an error that
 * handler `guard` has let pass. `stopped`: a limit ended the run in a loop that may never end by itself. `far`: a `break` or `continue` of handler `guard`, on its way to that handler's block.
 */
export type Ending =
  | 'normal'
  | 'break'
  | 'continue'
  | 'return'
  | 'error'
  | 'stopped'
  | `offered ${number}`
  | `far ${'break' | 'continue'} ${number}`;

export class Endings {
  readonly #points = new Map<Ending, Point>();

  add(ending: Ending, point: Point): void {
    this.#points.set(ending, either(this.#points.get(ending), point));
  }

  get(ending: Ending): Point | undefined {
    return this.#points.get(ending);
  }

  all(): Iterable<readonly [Ending, Point]> {
    return this.#points;
  }
}
