/** Checks `together` blocks, which contain only calls of tools that do not need each other's results. */

import { MAGIC_TOOL } from '../vocabulary/names.ts';
import type { Block, Stmt } from './ast.ts';
import type { Expr, LastExpr, NameExpr, ToolCallExpr } from './astexpressions.ts';
import { problemAt, type SyntaxProblem } from './problem.ts';
import { allIn, setBy } from './walk.ts';

/** The call of a statement that is allowed in a `together` block; undefined for any other statement. */
function callOf(stmt: Stmt): ToolCallExpr | undefined {
  if (stmt.k === 'call' && stmt.call.k === 'tool') return stmt.call;
  return stmt.k === 'set' && stmt.value.k === 'tool' ? stmt.value : undefined;
}

/** The problems of the body of a `together` block, or of a `for each … together` with these variables. */
export function togetherProblems({ stmts, onError }: Block, loop: boolean): readonly SyntaxProblem[] {
  const problems: SyntaxProblem[] = [];
  // Results of a loop would reach the next pass. Results of a block reach only later statements.
  const written = new Set(loop ? stmts.flatMap(setBy) : []);
  for (const stmt of stmts) {
    if (stmt.k === 'on_error') continue;
    const found = problemOf(stmt, written, loop || stmt !== stmts[0]);
    if (found !== undefined) problems.push(found);
    for (const name of setBy(stmt)) written.add(name);
  }
  if (onError !== undefined)
    problems.push(
      problemAt(onError.s, onError.s + 'on error do'.length, 'no handler can stand among calls that run together', HANDLER),
    );
  return problems;
}

const HANDLER = 'put it into the block around: it gets the first error once all the calls have ended';
const ONLY = 'write `set x = tool.group.name(…)` or `call tool.group.name(…)`; do everything else before the block, or after it';
const LOOP = 'put the word into the head: `for each x in xs together`, calls of tools, `endfor`, without a block around it';

function problemOf(stmt: Stmt, written: ReadonlySet<string>, after: boolean): SyntaxProblem | undefined {
  const call = callOf(stmt);
  if (call === undefined)
    return problemAt(stmt.s, stmt.e, 'only calls of tools can run together', stmt.k === 'for' ? LOOP : ONLY);
  if (call.name === MAGIC_TOOL)
    return problemAt(call.s, call.e, `\`${call.written}\` cannot run together with other calls`, 'call it after the block');
  for (const arg of call.args) {
    const read = readOf(arg, written, after);
    if (read !== undefined)
      return problemAt(
        read.s,
        read.e,
        `\`${read.k === 'name' ? read.name : 'last'}\` has its value only when all the calls have ended`,
        'make the call that needs it after the block',
      );
  }
  return undefined;
}

/** The first part of an argument that reads the result of another call. */
function readOf(arg: Expr, written: ReadonlySet<string>, after: boolean): NameExpr | LastExpr | undefined {
  return allIn(arg).find(
    (part): part is NameExpr | LastExpr => (part.k === 'name' && written.has(part.name)) || (part.k === 'last' && after),
  );
}
