/** Knowledge about the variables at a place of the program, and the cost of reaching it. */

import type { Block, ErrorHandler } from '../syntax/ast.ts';
import { Tally } from './tally.ts';
import { type Abstract, join, NOTHING, UNKNOWN } from './values.ts';

/** The variables of a fork. Immutable. */
export class State {
  readonly #names: ReadonlyMap<string, Abstract>;
  /** The value of every variable that `names` lacks. */
  readonly #others: Abstract;

  constructor(names: ReadonlyMap<string, Abstract>, others: Abstract = NOTHING) {
    this.#names = names;
    this.#others = others;
  }

  get size(): number {
    return this.#names.size;
  }

  get(name: string): Abstract {
    return this.#names.get(name) ?? this.#others;
  }

  with(name: string, value: Abstract): State {
    if (this.#names.get(name) === value) return this;
    return new State(new Map(this.#names).set(name, value), this.#others);
  }

  /** The state after something that may have changed these variables. */
  without(names: Iterable<string>): State {
    let next: Map<string, Abstract> | undefined;
    for (const name of names) {
      if (this.#names.get(name) === UNKNOWN) continue;
      next ??= new Map(this.#names);
      next.set(name, UNKNOWN);
    }
    return next === undefined ? this : new State(next, this.#others);
  }

  /** The state with new descriptions of these variables. */
  map(names: Iterable<string>, describe: (value: Abstract, name: string) => Abstract): State {
    const next = new Map(this.#names);
    for (const name of names) next.set(name, describe(this.get(name), name));
    return new State(next, this.#others);
  }

  /** The state after something that may have changed any variable, such as a tool. */
  static readonly any = new State(new Map(), UNKNOWN);

  /** The state where two paths meet. */
  join(other: State): State {
    if (this === other) return this;
    if (this === State.any || other === State.any) return State.any;
    const others = join(this.#others, other.#others);
    // Two paths differ in few of many variables: only what differs is written, and nothing is copied when nothing does.
    let next: Map<string, Abstract> | undefined;
    let shared = 0;
    for (const [name, value] of other.#names) {
      const own = this.#names.get(name);
      if (own !== undefined) shared++;
      const both = join(own ?? this.#others, value);
      if (both === own) continue;
      next ??= new Map(this.#names);
      next.set(name, both);
    }
    if (shared < this.#names.size)
      for (const [name, own] of this.#names) {
        if (other.#names.has(name)) continue;
        const both = join(own, other.#others);
        if (both === own) continue;
        next ??= new Map(this.#names);
        next.set(name, both);
      }
    return next === undefined && others === this.#others ? this : new State(next ?? this.#names, others);
  }
}

export interface Cost {
  /** Fuel, at least and at most. */
  readonly least: number;
  readonly most: number;
  /** Most bytes that the values made so far take. */
  readonly bytes: number;
  /** Most bytes emitted, and most bytes whispered. */
  readonly output: number;
  readonly scratch: number;
  /** Calls of the host, at most, and at least. */
  readonly calls: Tally;
  readonly certain: Tally;
}

export const FREE: Cost = { least: 0, most: 0, bytes: 0, output: 0, scratch: 0, calls: Tally.none, certain: Tally.none };

export function fuel(amount: number): Cost {
  return { ...FREE, least: amount, most: amount };
}

/** The highest of both costs; the lowest fuel and the fewest calls that are certain. */
export function worse(a: Cost, b: Cost): Cost {
  return {
    least: Math.min(a.least, b.least),
    most: Math.max(a.most, b.most),
    bytes: Math.max(a.bytes, b.bytes),
    output: Math.max(a.output, b.output),
    scratch: Math.max(a.scratch, b.scratch),
    calls: a.calls.or(b.calls),
    certain: a.certain.both(b.certain),
  };
}

/** A place in the program, with the state and the cost of reaching it. */
export interface Point extends Cost {
  readonly state: State;
}

export function plus(point: Point, cost: Cost): Point {
  return { ...sum(point, cost), state: point.state };
}

export function sum(a: Cost, b: Cost): Cost {
  return {
    least: a.least + b.least,
    most: a.most + b.most,
    bytes: a.bytes + b.bytes,
    output: a.output + b.output,
    scratch: a.scratch + b.scratch,
    calls: a.calls.plus(b.calls),
    certain: a.certain.plus(b.certain),
  };
}

/** The highest cost of something that happens at most `times` times. */
export function repeated(cost: Cost, count: number): Cost {
  return {
    least: 0,
    most: times(cost.most, count),
    bytes: times(cost.bytes, count),
    output: times(cost.output, count),
    scratch: times(cost.scratch, count),
    calls: cost.calls.times(count),
    certain: Tally.none,
  };
}

/** A product in which 0 times infinity is 0. */
export function times(amount: number, count: number): number {
  return amount === 0 || count === 0 ? 0 : amount * count;
}

/** The point where two paths meet; with one path, its own point. */
export function either(a: Point | undefined, b: Point): Point {
  return a === undefined ? b : { ...worse(a, b), state: a.state.join(b.state) };
}

/**
 * The ways in which a statement or block can end. `error`: no handler has run for the error. `offered`: the handler of this number did
 * not clear the error. `stopped`: a limit ended the run in a loop that may not end by itself. `far`: a `break` or `continue` of the
 * handler of this number has not yet reached the block of that handler.
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

/** The possible ends of a statement or block, each with its point. */
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

/** The surroundings of a block that is followed. */
/** An `on error` block that guards a place. */
export interface Guard {
  readonly id: number;
  readonly handler: ErrorHandler;
}

export interface Surroundings {
  /** The handler that runs first on an error. */
  readonly guard: Guard | undefined;
  readonly inHandler: boolean;
  /** Whether this is the top level of a procedure, whose last value may become the result. */
  readonly top: boolean;
  /** The block whose calls run together. No result is stored before all of them were made. */
  readonly together?: Block;
}
