/** Control flow: statements that are never executed, handlers that never run, statements at the wrong place. */
import type { Block, Stmt } from '../syntax/ast.ts';
import type { Expr } from '../syntax/astexpressions.ts';
import { blockCanFail, canFail, clearing, constantTruth } from '../syntax/certainty.ts';
import { blocksOf, bodiesOf } from '../syntax/walk.ts';
import { type CheckedFile, lint, type Report } from './finding.ts';

export function checkFlow(file: CheckedFile, globals: ReadonlySet<string>, report: Report): void {
  const checker = new FlowChecker(file, globals, report);
  for (const body of bodiesOf(file.file)) checker.block(body, { resumes: false, inHandler: false });
}

interface Place {
  /** Whether a handler may clear an error. Execution then continues after the failing statement. */
  readonly resumes: boolean;
  readonly inHandler: boolean;
}

class FlowChecker {
  readonly #file: CheckedFile;
  readonly #globals: ReadonlySet<string>;
  readonly #report: Report;

  constructor(file: CheckedFile, globals: ReadonlySet<string>, report: Report) {
    this.#file = file;
    this.#globals = globals;
    this.#report = report;
  }

  /** Checks a block. Returns whether execution never reaches its end. */
  block(block: Block, around: Place): boolean {
    const { onError } = block;
    const place = { ...around, resumes: around.resumes || (onError !== undefined && clearing(onError) !== 'never') };
    let ended: Stmt | undefined;
    for (const stmt of block.stmts) {
      if (ended !== undefined) {
        if (stmt.k === 'on_error' || stmt.k === 'on_event') continue;
        this.#unreachable(block, ended, stmt);
        break;
      }
      if (this.#statement(stmt, place)) ended = stmt;
    }
    this.#handler(block);
    // If an outer handler clears an error that this block's own handler did not clear, execution continues after the block.
    return ended !== undefined && !(around.resumes && onError !== undefined);
  }

  #unreachable(block: Block, after: Stmt, first: Stmt): void {
    const last = block.stmts.at(-1) ?? first;
    const message = `this is never executed: the \`${WORDS[after.k] ?? after.k}\` before it ends the block`;
    this.#report(
      this.#file,
      lint('LINT_UNREACHABLE', { s: first.s, e: last.e }, message, 'delete it, or move it before that statement'),
    );
  }

  #handler({ stmts, onError }: Block): void {
    if (onError === undefined) return;
    if (!blockCanFail({ stmts }, this.#globals)) {
      const head = { s: onError.s, e: onError.s + 'on error do'.length };
      const message = 'this handler never runs: nothing in its block can fail';
      this.#report(
        this.#file,
        lint('LINT_HANDLER_NEVER_RUNS', head, message, 'delete it, or move it into the block that it should guard'),
      );
    }
    // An outer handler clears an error in a handler, but execution then continues outside this handler.
    this.block(onError.body, { resumes: false, inHandler: true });
  }

  /** Checks a statement. Returns whether execution never continues after it. */
  #statement(stmt: Stmt, place: Place): boolean {
    switch (stmt.k) {
      case 'return':
        return this.#return(stmt, stmt.values, place);
      case 'fail':
        return !place.resumes;
      case 'must':
        return !place.resumes && constantTruth(stmt.cond) === false;
      case 'break':
      case 'continue':
        return true;
      case 'clear_error':
        if (!place.inHandler) {
          const message = '`clear_error` works only in an `on error` block';
          const fix = 'move it into a handler, or delete it';
          this.#report(this.#file, lint('LINT_CLEAR_ERROR_OUTSIDE', stmt, message, fix));
        }
        return false;
      case 'if':
        return this.#choice(stmt.cond, stmt.then, stmt.else, place);
      case 'while':
        return this.#loop(stmt.cond, stmt.body, place);
      default:
        for (const inner of blocksOf(stmt)) this.block(inner, place);
        return false;
    }
  }

  #return(stmt: Stmt, values: readonly Expr[], place: Place): boolean {
    if (!place.inHandler) return !place.resumes || !values.some(canFail);
    const message = '`return` cannot leave an `on error` block';
    const fix = 'write `clear_error` here, and `return` after the statement that may fail';
    this.#report(this.#file, lint('LINT_RETURN_IN_HANDLER', stmt, message, fix));
    return !place.resumes;
  }

  #choice(cond: Expr, then: Block, otherwise: Block | undefined, place: Place): boolean {
    const truth = constantTruth(cond);
    if (truth === false) this.#dead(then, 'its condition is never true');
    if (truth === true && otherwise !== undefined) this.#dead(otherwise, 'its condition is always true');
    const thenEnds = truth !== false && this.block(then, place);
    const elseEnds = truth !== true && otherwise !== undefined && this.block(otherwise, place);
    if (truth === true) return thenEnds;
    return truth === false ? elseEnds : thenEnds && elseEnds;
  }

  #loop(cond: Expr, body: Block, place: Place): boolean {
    const truth = constantTruth(cond);
    if (truth === false) this.#dead(body, 'its condition is never true');
    else this.block(body, place);
    return truth === true && !breaks(body) && !place.resumes;
  }

  #dead({ stmts }: Block, why: string): void {
    const [first] = stmts;
    const last = stmts.at(-1);
    if (first === undefined || last === undefined) return;
    const fix = 'delete it, or correct the condition';
    this.#report(this.#file, lint('LINT_UNREACHABLE', { s: first.s, e: last.e }, `this is never executed: ${why}`, fix));
  }
}

const WORDS: Readonly<Partial<Record<Stmt['k'], string>>> = { if: 'if … else', while: 'while' };

/** Whether a `break` in the body of a loop leaves that loop. */
function breaks(body: Block): boolean {
  const handler = body.onError !== undefined && breaks(body.onError.body);
  return handler || body.stmts.some((stmt) => stmt.k === 'break' || (stmt.k === 'if' && blocksOf(stmt).some(breaks)));
}
