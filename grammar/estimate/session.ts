/** What all estimates of one program share: the cost tables, the procedures, and how much work may still be done. */
import type { Procedure, SourceFile, Span } from '../syntax/ast.ts';
import type { FuelCosts } from './costs.ts';
import type { Cost, State } from './state.ts';
import type { Abstract } from './values.ts';

/** Why there is no upper bound, and where. */
export interface Cause extends Span {
  readonly file: SourceFile;
  readonly message: string;
}

/** Thrown when a unit is too large to be followed at all. */
export class TooLarge extends Error {}

/** Steps after which loops and calls of a unit are no longer followed one by one. */
const PATIENCE = 20_000;
/** Steps after which a unit, and all units together, are given up. */
const MOST_STEPS = 200_000;
const MOST_STEPS_IN_ALL = 2_000_000;

/**
 * Levels of expressions and blocks, across calls: what a stack of the usual size holds. A program that nests 200 levels
 * stays below; calls are followed as long as there is room for one such procedure.
 */
const MOST_LEVELS = 1200;
const DEEP = 400;
/** Levels that a block or a call counts. */
export const BLOCK_LEVELS = 4;

/** Calls a procedure: what it gives, what it costs. */
export type Call = (session: Session, procedure: Defined, args: readonly Abstract[], at: Span) => { value: Abstract; cost: Cost };

/** A procedure and its file. */
export interface Defined {
  readonly procedure: Procedure;
  readonly file: SourceFile;
}

export class Session {
  readonly costs: FuelCosts;
  readonly procedures: ReadonlyMap<string, Defined>;
  /** What the globals hold at the start of every fork. */
  readonly globals: State;
  readonly globalNames: ReadonlySet<string>;
  /** The tools that run inside the isolate, by canonical name. */
  readonly pure: ReadonlySet<string>;
  readonly call: Call;
  /** Bytes that all frames count together, at most. */
  readonly frameBytes: number;
  /** The procedures that are being followed, innermost last. */
  readonly stack: Procedure[] = [];
  /** Where one is. */
  file: SourceFile;
  cause: Cause | undefined;
  /** Levels of expressions and blocks, across calls. */
  #depth = 0;
  #steps = 0;
  #stepsInAll = 0;

  constructor(init: Pick<Session, 'costs' | 'procedures' | 'globals' | 'globalNames' | 'pure' | 'call' | 'file' | 'frameBytes'>) {
    this.costs = init.costs;
    this.procedures = init.procedures;
    this.globals = init.globals;
    this.globalNames = init.globalNames;
    this.pure = init.pure;
    this.call = init.call;
    this.file = init.file;
    this.frameBytes = init.frameBytes;
  }

  /** Begins a unit. */
  begin(file: SourceFile): void {
    this.file = file;
    this.cause = undefined;
    this.stack.length = 0;
    this.#depth = 0;
    this.#steps = 0;
  }

  /** Counts steps of work. Throws {@link TooLarge}. */
  step(steps = 1): void {
    this.#stepsInAll += steps;
    this.#steps += steps;
    if (this.#steps > MOST_STEPS || this.#stepsInAll > MOST_STEPS_IN_ALL) throw new TooLarge();
  }

  /** Goes so many levels deeper, until {@link leave}. Throws {@link TooLarge}. */
  enter(levels: number): void {
    this.#depth += levels;
    if (this.#depth > MOST_LEVELS) throw new TooLarge();
  }

  leave(levels: number): void {
    this.#depth -= levels;
  }

  /** Whether loops and calls are still followed one by one. */
  get patient(): boolean {
    return this.#steps < PATIENCE && this.#depth < DEEP;
  }

  /** There is no upper bound; the first cause is kept. Gives that bound. */
  unbounded(message: string, { s, e }: Span): number {
    this.cause ??= { file: this.file, message, s, e };
    return Number.POSITIVE_INFINITY;
  }

  /** Most frames that can be on the stack: without recursion, each procedure once, and the outermost one. */
  get mostFrames(): number {
    return this.procedures.size + 1;
  }

  /** Most fuel for raising an error. */
  get raise(): number {
    return this.costs.steps.raise.amount + this.mostFrames;
  }
}
