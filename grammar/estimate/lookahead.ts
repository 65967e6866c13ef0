/** Properties of statements that the estimator needs before it follows them. */

import type { Block, ErrorHandler } from '../syntax/ast.ts';
import type { Expr } from '../syntax/astexpressions.ts';
import { constantTruth } from '../syntax/certainty.ts';
import { allOf, childrenOf, eachStatement, isAtom, setBy } from '../syntax/walk.ts';
import { ERROR_VARIABLES } from '../vocabulary/builtins.ts';

/** The key of a procedure's result among its variables. The blank keeps it distinct from variable names. */
export const RESULT = ' result';

/** Why a loop has no bound. `certain` means that every followed pass certainly had a successor. */
export function whyEndless(cond: Expr, certain: boolean): string {
  if (constantTruth(cond) === true) return 'the condition of this `while` never becomes false';
  return certain ? 'this `while` has too many passes to follow' : 'the number of passes of this `while` is not known';
}

/** The variables that statements may set. */
export interface Changed {
  readonly names: ReadonlySet<string>;
  /** Whether a tool may set any variable. */
  readonly any: boolean;
}

/** The changes that blocks make. Each block is read once. */
export class Changes {
  readonly #pure: ReadonlySet<string>;
  readonly #keeping: ReadonlySet<string>;
  readonly #known = new Map<Block, Changed>();

  /** The tools that run inside the isolate, and those that set no variables. */
  constructor(pure: ReadonlySet<string>, keeping: ReadonlySet<string>) {
    this.#pure = pure;
    this.#keeping = keeping;
  }

  /** The variables that the statements of a block may set, or the handler around it after one of them fails. */
  of(body: Block, handler: ErrorHandler | undefined): Changed {
    const own = this.#in(body);
    if (handler === undefined) return own;
    const handled = this.#in(handler.body);
    return { names: new Set([...own.names, ...handled.names]), any: own.any || handled.any };
  }

  #in(block: Block): Changed {
    let known = this.#known.get(block);
    if (known === undefined) {
      known = this.#read(block);
      this.#known.set(block, known);
    }
    return known;
  }

  #read(block: Block): Changed {
    const names = new Set<string>([RESULT, ...ERROR_VARIABLES]);
    let any = false;
    eachStatement(block, (stmt) => {
      for (const name of setBy(stmt)) names.add(name);
      any ||= allOf(stmt).some((expr) => expr.k === 'tool' && !this.#pure.has(expr.name) && !this.#keeping.has(expr.name));
    });
    return { names, any };
  }
}

/** Whether evaluating an expression raises no error, whatever the size of its values. */
export function isHarmless(expr: Expr): boolean {
  return cannotRaise(expr) && childrenOf(expr).every(isHarmless);
}

/** Whether an expression raises no error after its parts were evaluated. */
function cannotRaise(expr: Expr): boolean {
  switch (expr.k) {
    case 'group':
    case 'list':
      return true;
    case 'map':
      return expr.entries.every(([key]) => key.k === 'str');
    case 'unary':
      return expr.op === 'not' || expr.op === 'no' || expr.op === 'some' || expr.op === 'typeof';
    case 'binary':
      return expr.rest.every(({ op }) => op === 'and' || op === 'or');
    default:
      return isAtom(expr);
  }
}
