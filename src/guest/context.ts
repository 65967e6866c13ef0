import type { Block, Expr, ForStmt, SetStmt, Stmt, Target, TogetherStmt } from '../../grammar/index.ts';
import { STEP_FUEL } from '../wire/costs.ts';
import type { GuestBlock } from '../wire/protocol.ts';
import type { Eval, Exec, Frame } from './frame.ts';
import type { LoadedFile } from './loadedfile.ts';
import type { Machine } from './machine.ts';
import type { Guard } from './onerror.ts';
import type { Procedure } from './procedure.ts';
import { Scope } from './scope.ts';
import { share, type Value } from './values.ts';
import { WORK } from './work.ts';

/** Writes a value to a target. If something else holds a container, it must have been shared before. */
export type Store = (frame: Frame, value: Value) => void;

/**
 * The parts of the compiler that call each other. They are passed in, so that no two files import each other, and because a run under flow
 * rules has other ones.
 */
export interface Compilers {
  /** An expression whose value is looked into. */
  expr(context: Context, expr: Expr): Eval;
  /** An expression whose value goes on as it is. */
  kept(context: Context, expr: Expr): Eval;
  stmt(context: Context, stmt: Stmt): Exec;
  block(context: Context, block: Block): Exec;
  /** The block of a procedure, a handler or a command block. */
  body(context: Context, block: GuestBlock): Exec;
  targets(context: Context, stmt: SetStmt): Store;
  target(context: Context, target: Target): Store;
  /** Whether compiled code may read the slot of a variable itself. */
  readonly direct: boolean;
  /** For programs whose calls run together; null when that part of the interpreter is not loaded. */
  readonly together: TogetherCompilers | null;
}

/** The compilers of blocks and loops whose calls run together. */
export interface TogetherCompilers {
  compileTogether(context: Context, stmt: TogetherStmt): Exec;
  compileForTogether(context: Context, stmt: ForStmt): Exec;
}

/** What compiled code finds at run time: procedures by name, and the events' handlers. */
export interface Linkage {
  procedure(name: string): Procedure | undefined;
  /** A procedure's name that differs in case only, for a hint. */
  similar(name: string): string | undefined;
  clearEvent(name: string): void;
  clearNamed(handler: string): void;
  /** The form of the program that keeps no labels; null where it is the only form. */
  readonly unlabelled: Unlabelled | null;
}

/** The program as a run without flow rules compiles it. It does the same for the same fuel. */
export interface Unlabelled {
  /** Whether no label can come up in code, as long as its variables carry none. */
  isQuiet(block: Block): boolean;
  /** A procedure or event handler in this form; null if labels may come up in it. */
  of(procedure: Procedure): Procedure | null;
  /** The variables of code that stands at a place of a labelled form: those that it reads or sets. */
  slotsOf(context: Context, block: Block): readonly number[];
  /** Compiles, at the first call, this form of code that is paid for at that place. `hidden`: its slots without a name. */
  within<T>(context: Context, hidden: readonly number[], compile: (context: Context) => T): () => T;
}

export type UnitKind = 'procedure' | 'command' | 'event';

/** Expressions whose compilation is paid for at once: to pay for each makes small programs a tenth slower. */
const TOGETHER = 64;

const OPERATION = STEP_FUEL.operation.amount;

/** Evaluation depth that a nested block adds: the block statement and the statement within. */
const BLOCK_DEPTH = 2;

/** What the compiler knows of the procedure, handler or command block, and of the place in it. */
export class Context {
  readonly machine: Machine;
  readonly linkage: Linkage;
  readonly compilers: Compilers;
  readonly file: LoadedFile;
  readonly kind: UnitKind;
  readonly scope: Scope;
  /** Whether values are kept for `last`. */
  keepsLast: boolean;
  sawLast = false;
  /** Whether every statement checks the evaluation depth: only for a frame in which the limit may be reached. */
  readonly checked: boolean;

  /** Fuel of the operations compiled since {@link separately} began. */
  cost = 0;
  /** Whether the next block is the body of a procedure or handler. The call pays for its first statement. */
  entering: boolean;
  /** Fuel of that first statement. */
  entryFuel = 0;
  /** Static evaluation depth here, and the greatest since the start of the statement and of the whole. */
  depth = 0;
  statementDepth = 0;
  deepest = 0;

  loops = 0;
  /** Whether this is the top level of a procedure, where the value of a statement may become the procedure's. */
  top: boolean;
  /** Whether this is within an `on error` handler. */
  inHandler = false;
  /** The nearest handler that guards this place. */
  guard: Guard | null = null;

  constructor(
    machine: Machine,
    linkage: Linkage,
    compilers: Compilers,
    file: LoadedFile,
    unit: { readonly kind: UnitKind; readonly scope?: Scope; readonly keepsLast: boolean; readonly checked: boolean },
  ) {
    this.machine = machine;
    this.linkage = linkage;
    this.compilers = compilers;
    this.file = file;
    this.kind = unit.kind;
    this.scope = unit.scope ?? new Scope();
    this.keepsLast = unit.keepsLast;
    this.checked = unit.checked;
    this.top = unit.kind === 'procedure';
    this.entering = unit.kind !== 'command';
  }

  /** Compiles an expression one level deeper. */
  expr(expr: Expr): Eval {
    return this.#below(expr, this.compilers.expr);
  }

  /** As {@link expr}, for a value that goes on as it is, or of which only the length or the type is asked. */
  kept(expr: Expr): Eval {
    return this.#below(expr, this.compilers.kept);
  }

  #below(expr: Expr, compile: (context: Context, expr: Expr) => Eval): Eval {
    if (++this.machine.compiled % TOGETHER === 0) this.machine.pay(WORK.compile, TOGETHER);
    this.#descend(1);
    const compiled = compile(this, expr);
    this.depth--;
    return compiled;
  }

  /** As {@link kept}, for a value that is stored: see `share`. */
  stored(expr: Expr): Eval {
    return shared(expr, this.kept(expr));
  }

  /** As {@link expr}, for the value of a statement, which may be stored for `last` or as the procedure's value. */
  statementValue(expr: Expr): Eval {
    const value = this.expr(expr);
    return this.keepsLast || this.top ? shared(expr, value) : value;
  }

  /** Compiles a nested block. None of its values is the procedure's. */
  nested(block: Block): Exec {
    const { statementDepth } = this;
    const compiled = this.within(() => this.compilers.block(this, block));
    this.statementDepth = statementDepth;
    return compiled;
  }

  /** Compiles the inside of a block whose statements the statement around it runs. */
  within<T>(compile: () => T): T {
    const { top } = this;
    this.top = false;
    const compiled = this.deeper(BLOCK_DEPTH, compile);
    this.top = top;
    return compiled;
  }

  deeper<T>(levels: number, compile: () => T): T {
    this.#descend(levels);
    const compiled = compile();
    this.depth -= levels;
    return compiled;
  }

  #descend(levels: number): void {
    this.depth += levels;
    if (this.depth > this.statementDepth) this.statementDepth = this.depth;
    if (this.depth > this.deepest) this.deepest = this.depth;
  }

  /** Adds operations to the fuel of the statement. */
  spend(operations = 1): void {
    this.cost += operations * OPERATION;
  }

  /** Compiles something that is paid for apart, and returns its fuel too. */
  separately<T>(compile: () => T): { readonly compiled: T; readonly cost: number } {
    const outer = this.cost;
    this.cost = 0;
    const compiled = compile();
    const { cost } = this;
    this.cost = outer;
    return { compiled, cost };
  }

  /** Whether a statement at this place may run more than once in a run. */
  get repeats(): boolean {
    return this.loops > 0 || this.kind !== 'command';
  }

  /** Whether a name is a global: a variable of that name cannot be set. */
  isGlobal(name: string): boolean {
    return this.machine.globals.has(name);
  }
}

/** An expression whose value is shared if something else may hold it. */
function shared(expr: Expr, value: Eval): Eval {
  return mayAlias(expr) ? (frame) => share(value(frame)) : value;
}

/** Whether an expression may yield a container that something else holds too. All others make new ones. */
export function mayAlias(expr: Expr): boolean {
  switch (expr.k) {
    case 'name':
    case 'access':
    case 'last':
      return true;
    case 'group':
    case 'eval':
      return mayAlias(expr.of);
    default:
      return false;
  }
}
