/** Handlers that clear an error although the rest of their block must not run after it. */
import type { Block, ErrorHandler, Stmt } from '../syntax/ast.ts';
import { blocksOf, bodiesOf } from '../syntax/walk.ts';
import { type CheckedFile, lint, type RawEdit, type RawFinding, type Report } from './finding.ts';

/** Checks the handlers of a file. Returns those that have a finding. */
export function checkHandlers(file: CheckedFile, report: Report): ReadonlySet<ErrorHandler> {
  const found = new Set<ErrorHandler>();
  const note = (handler: ErrorHandler, one: RawFinding): void => {
    found.add(handler);
    report(file, one);
  };
  for (const body of bodiesOf(file.file)) checkBlock(file, body, false, note);
  return found;
}

type Note = (handler: ErrorHandler, found: RawFinding) => void;

function checkBlock(file: CheckedFile, block: Block, inLoop: boolean, report: Note): void {
  const { onError } = block;
  if (onError !== undefined && goesOn(onError)) {
    const guard = guardIn(block);
    if (guard !== undefined) report(onError, finding(file, guard, onError, inLoop));
  }
  if (onError !== undefined) checkBlock(file, onError.body, false, report);
  for (const stmt of block.stmts)
    for (const inner of blocksOf(stmt)) checkBlock(file, inner, inLoop || stmt.k === 'for' || stmt.k === 'while', report);
}

const LEAVES: ReadonlySet<Stmt['k']> = new Set(['continue', 'break', 'fail', 'return']);

/** Whether a handler clears its error and comes to its end. */
export function goesOn({ body }: ErrorHandler): boolean {
  return body.stmts.some(({ k }) => k === 'clear_error') && !body.stmts.some(({ k }) => LEAVES.has(k));
}

/**
 * The first statement that is there to stop what follows it: a `must`, a `fail`, or a call whose result nobody reads, before another such
 * call. What follows a nested block follows its statements. Blocks with a handler of their own are left out.
 */
function guardIn(block: Block, after: After = { any: false, call: false }): Stmt | undefined {
  let found: Stmt | undefined;
  let { any, call } = after;
  // From the end to the beginning, so that each statement is looked at once.
  for (const stmt of block.stmts.toReversed()) {
    if (stmt.k === 'on_error') continue;
    if (stmt.k === 'call' ? call : (stmt.k === 'must' || stmt.k === 'fail') && any) found = stmt;
    for (const inner of blocksOf(stmt).toReversed())
      if (inner.onError === undefined) found = guardIn(inner, { any, call }) ?? found;
    any = true;
    call ||= stmt.k === 'call';
  }
  return found;
}

/** What follows a block: any statement, and a call whose result nobody reads. */
interface After {
  readonly any: boolean;
  readonly call: boolean;
}

function finding(file: CheckedFile, guard: Stmt, { body }: ErrorHandler, inLoop: boolean) {
  const what = guard.k === 'call' ? 'this call' : `this \`${guard.k}\``;
  const message = `when ${what} fails, what follows it runs nevertheless: the handler of its block clears the error and goes on`;
  const fix = inLoop
    ? 'end the handler with `continue`'
    : 'end the handler with `fail "why"`, or put what must not run into a block of its own';
  return lint('LINT_GOES_ON', guard, message, fix, inLoop ? continuing(file, body) : []);
}

/** `continue` on a line of its own below the last statement of a handler. */
export function continuing({ text }: CheckedFile, { stmts }: Block): readonly RawEdit[] {
  const last = stmts.at(-1);
  if (last === undefined) return [];
  const line = text.lastIndexOf('\n', last.s) + 1;
  const end = text.indexOf('\n', last.e);
  const indent = text.slice(line, last.s).trim() === '' ? text.slice(line, last.s) : '';
  return end < 0 ? [] : [{ s: end, e: end, text: `\n${indent}continue` }];
}
