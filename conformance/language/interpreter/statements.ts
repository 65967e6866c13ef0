/** What a statement consists of, and what it costs. */
import type { Block, Expr, Stmt, Target, ToolCallExpr } from '../../../grammar/index.ts';
import { operationsIn } from './expressions.ts';
import { PRICE } from './meter.ts';

/** Fuel that a statement takes before it starts. */
export function costOf(stmt: Stmt, inHandler = false): number {
  if (stmt.k === 'while' || (stmt.k === 'return' && inHandler)) return PRICE.statement;
  const several = stmt.k === 'return' && stmt.values.length > 1 ? stmt.values.length : 0;
  const steps = targetsOf(stmt).reduce((sum, target) => sum + target.steps.length, 0);
  return PRICE.statement + several + steps + expressionsOf(stmt).reduce((sum, expr) => sum + operationsIn(expr), 0);
}

/** Whether a statement is only the place of a handler. */
function isPlace(stmt: Stmt): boolean {
  return stmt.k === 'on_error' || stmt.k === 'on_event';
}

/** The calls of a block that run together, each with the targets of its result. */
export function callsOf(block: Block): readonly { readonly call: ToolCallExpr; readonly stmt: Stmt; readonly cost: number }[] {
  return stepsOf(block).flatMap((stmt) => {
    const call = stmt.k === 'call' ? stmt.call : stmt.k === 'set' ? stmt.value : undefined;
    return call?.k === 'tool' ? [{ call, stmt, cost: costOf(stmt) }] : [];
  });
}

/** The statements of a block that are executed. */
export function stepsOf(block: Block): readonly Stmt[] {
  return block.stmts.filter((stmt) => !isPlace(stmt));
}

/** The targets that a statement writes to. */
export function targetsOf(stmt: Stmt): readonly Target[] {
  if (stmt.k === 'set') return stmt.targets;
  return stmt.k === 'promptuser' ? [stmt.into] : [];
}

/** The expressions that a statement evaluates itself. */
export function expressionsOf(stmt: Stmt): readonly Expr[] {
  const keys = targetsOf(stmt).flatMap(({ steps }) => steps.flatMap((step) => (step.k === 'index' ? [step.index] : [])));
  switch (stmt.k) {
    case 'set':
      return [stmt.value, ...keys];
    case 'promptuser':
      return [stmt.prompt, ...keys];
    case 'emit':
      return [stmt.value];
    case 'call':
      return [stmt.call];
    case 'return':
      return stmt.values;
    case 'whisper':
      return [stmt.handle, stmt.value];
    case 'must':
    case 'if':
    case 'while':
      return [stmt.cond];
    case 'for':
      return [stmt.over];
    case 'fail':
      return stmt.value === undefined ? [] : [stmt.value];
    case 'clear_event':
      return stmt.event === undefined ? [] : [stmt.event];
    default:
      return [];
  }
}
