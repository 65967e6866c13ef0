/** The state that all estimates of one program share: the prices, the procedures, and the work still allowed. */
import type { Procedure, SourceFile } from '../syntax/ast.ts';
import type { Span } from '../syntax/position.ts';
import { type CallNode, CallTable, type Condition, type Path } from './calls.ts';
import type { FuelCosts } from './costs.ts';
import { signature } from './describe.ts';
import { Changes } from './lookahead.ts';
import { type Defined, Reach } from './reach.ts';
import type { Cost, State } from './state.ts';
import { Tally } from './tally.ts';
import type { Abstract } from './values.ts';

/** Why there is no upper bound, and at which place. */
export interface Cause extends Span {
  readonly file: SourceFile;
  readonly message: string;
}

/** Thrown when a unit is too large to follow. */
export class TooLarge extends Error {}

/** Bounds of the estimator's work. */
export interface Effort {
  /** Steps up to which the estimator follows each call, and loops pass by pass. */
  readonly exact: number;
  /** Steps after which the estimator gives up on a unit. */
  readonly unit: number;
  /** Steps after which the estimator gives up on all further units. */
  readonly all: number;
}

export const USUAL_EFFORT: Effort = { exact: 20_000, unit: 200_000, all: 2_000_000 };

/** Levels of expressions and blocks, across calls, that fit a stack of the usual size. Nesting 200 levels takes fewer. */
const MOST_LEVELS = 1200;
/** Levels up to which the estimator follows calls. They leave room for a procedure of the deepest nesting. */
const EXACT_LEVELS = 400;
/** Units whose calls and loops the estimator follows to the end of their exact steps; fewer steps of more units. */
const EXACT_UNITS = 15;
/** Branches of tallies that the step of a statement covers. A tally with the calls of few places makes fewer. */
const FREE_BRANCHES = 64;
/** Levels that a block takes. */
export const BLOCK_LEVELS = 4;

/** The result and the cost of a call of a procedure. */
export interface Called {
  readonly value: Abstract;
  readonly cost: Cost;
}

/** As {@link Called}, with the reason if there is no upper bound. */
export interface Summary extends Called {
  readonly cause: Cause | undefined;
}

/** The last call of a procedure that was followed. */
export interface LastCall extends Summary {
  readonly path: Path | null;
  readonly args: readonly Abstract[];
}

/** Follows a call of a procedure. */
export type Call = (session: Session, procedure: Defined, args: readonly Abstract[], at: Span) => Called;

export class Session {
  readonly costs: FuelCosts;
  readonly procedures: ReadonlyMap<string, Defined>;
  /** The globals at the start of every fork. */
  readonly globals: State;
  readonly globalNames: ReadonlySet<string>;
  /** The tools that run inside the isolate, by canonical name. */
  readonly pure: ReadonlySet<string>;
  /** The tools that set no variables, by canonical name. */
  readonly keeping: ReadonlySet<string>;
  readonly call: Call;
  readonly effort: Effort;
  /** The most bytes that all frames take together. */
  readonly frameBytes: number;
  /** The procedures being followed, innermost last. */
  readonly stack: Procedure[] = [];
  /** The results of procedures that were followed once for all arguments. */
  readonly summaries = new Map<Procedure, Summary>();
  /** The last call of each procedure in this unit that was followed. */
  readonly last = new Map<Procedure, LastCall>();
  readonly calls = new CallTable(signature);
  readonly reach: Reach;
  readonly changes: Changes;
  /** The conditions of the current place. */
  path: Path | null = null;
  file: SourceFile;
  /** The first cause of a missing upper bound in this unit. */
  cause: Cause | undefined;
  /** Levels of expressions and blocks, across calls. */
  #depth = 0;
  #steps = 0;
  #stepsInAll = 0;
  #branches = Tally.made;

  constructor(
    files: readonly SourceFile[],
    init: Pick<
      Session,
      'costs' | 'procedures' | 'globals' | 'globalNames' | 'pure' | 'keeping' | 'call' | 'effort' | 'file' | 'frameBytes'
    >,
  ) {
    this.costs = init.costs;
    this.procedures = init.procedures;
    this.globals = init.globals;
    this.globalNames = init.globalNames;
    this.pure = init.pure;
    this.keeping = init.keeping;
    this.call = init.call;
    this.effort = init.effort;
    this.file = init.file;
    this.frameBytes = init.frameBytes;
    this.changes = new Changes(this.pure, this.keeping);
    this.reach = new Reach(files, this.procedures, this.pure, this.calls);
  }

  /** Begins a unit. */
  begin(file: SourceFile): void {
    this.file = file;
    this.cause = undefined;
    this.stack.length = 0;
    this.last.clear();
    this.path = null;
    this.#depth = 0;
    this.#steps = 0;
  }

  /** Counts steps of work, and the work on tallies since the last step. Throws {@link TooLarge}. */
  step(steps = 1): void {
    const branches = Math.max(0, Tally.made - this.#branches - FREE_BRANCHES);
    this.#branches = Tally.made;
    const all = steps + (branches >> 2);
    this.#stepsInAll += all;
    this.#steps += all;
    if (this.#steps > this.effort.unit || this.#stepsInAll > this.effort.all) throw new TooLarge();
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
    const { exact } = this.effort;
    return this.#steps < exact && this.#stepsInAll < EXACT_UNITS * exact && this.#depth < EXACT_LEVELS;
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

  /** Runs `work` with a further condition. */
  under<Result>(condition: Omit<Condition, 'file'>, act: () => Result): Result {
    const { path } = this;
    this.assume(condition);
    const result = act();
    this.path = path;
    return result;
  }

  /** Adds a condition that holds from here on. */
  assume(condition: Omit<Condition, 'file'>): void {
    this.path = { condition: { ...condition, file: this.file }, outer: this.path };
  }

  called(name: string, node: CallNode, args: readonly Abstract[] | null): Tally {
    return Tally.of(this.calls.row({ name, node, file: this.file, args }, this.path), 1);
  }
}
