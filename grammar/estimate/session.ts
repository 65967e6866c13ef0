/** The state that all estimates of one program share: the prices, the procedures, and the work still allowed. */
import type { Procedure, SourceFile } from '../syntax/ast.ts';
import type { Span } from '../syntax/position.ts';
import type { FuelCosts } from './costs.ts';
import type { Cost, State } from './state.ts';
import type { Abstract } from './values.ts';

/** Why there is no upper bound, and at which place. */
export interface Cause extends Span {
  readonly file: SourceFile;
  readonly message: string;
}

/** Thrown when a unit is too large to follow. */
export class TooLarge extends Error {}

/** Steps up to which the estimator follows calls, and loops pass by pass. */
const EXACT_STEPS = 20_000;
/** Steps after which the estimator gives up on a unit, and on all units together. */
const MOST_STEPS = 200_000;
const MOST_STEPS_IN_ALL = 2_000_000;

/** Levels of expressions and blocks, across calls, that fit a stack of the usual size. Nesting 200 levels takes fewer. */
const MOST_LEVELS = 1200;
/** Levels up to which the estimator does so. They leave room for a procedure of the deepest nesting. */
const EXACT_LEVELS = 400;
/** Levels that a block takes. */
export const BLOCK_LEVELS = 4;

/** Follows a call of a procedure. Returns its value and its cost. */
export type Call = (session: Session, procedure: Defined, args: readonly Abstract[], at: Span) => { value: Abstract; cost: Cost };

/** A procedure and its file. */
export interface Defined {
  readonly procedure: Procedure;
  readonly file: SourceFile;
}

/** The estimates of one program. */
export class Session {
  readonly costs: FuelCosts;
  readonly procedures: ReadonlyMap<string, Defined>;
  /** The globals at the start of every fork. */
  readonly globals: State;
  readonly globalNames: ReadonlySet<string>;
  /** The tools that run inside the isolate, by canonical name. */
  readonly pure: ReadonlySet<string>;
  readonly call: Call;
  /** The most bytes that all frames take together. */
  readonly frameBytes: number;
  /** The procedures being followed, innermost last. */
  readonly stack: Procedure[] = [];
  /** The file of the current place. */
  file: SourceFile;
  /** The first cause of a missing upper bound in this unit. */
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

  /** Enters a number of levels, until {@link leave}. Throws {@link TooLarge}. */
  enter(levels: number): void {
    this.#depth += levels;
    if (this.#depth > MOST_LEVELS) throw new TooLarge();
  }

  leave(levels: number): void {
    this.#depth -= levels;
  }

  /** Whether the estimator still follows calls, and loops pass by pass. */
  get exact(): boolean {
    return this.#steps < EXACT_STEPS && this.#depth < EXACT_LEVELS;
  }

  /** Records that there is no upper bound, keeping the first cause. Returns infinity. */
  unbounded(message: string, { s, e }: Span): number {
    this.cause ??= { file: this.file, message, s, e };
    return Number.POSITIVE_INFINITY;
  }

  /** Most frames on the stack: without recursion, one of each procedure and the outermost one. */
  get mostFrames(): number {
    return this.procedures.size + 1;
  }

  /** Most fuel that raising an error takes. */
  get raise(): number {
    return this.costs.steps.raise.amount + this.mostFrames;
  }
}
