/** Generic walks over a tree. Children come in the order of evaluation. */

import type { Block, ForStmt, SourceFile, Stmt, Target } from './ast.ts';
import type { AccessStep, Expr } from './astexpressions.ts';

/** The parts of an expression that are expressions themselves. */
export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.k) {
    case 'list':
      return expr.items;
    case 'map':
      return expr.entries.flat();
    case 'template':
      return expr.parts.filter((part) => typeof part !== 'string');
    case 'text':
    case 'eval':
    case 'group':
    case 'unary':
      return [expr.of];
    case 'power':
      return [expr.base, expr.exponent];
    case 'binary':
      return [expr.first, ...expr.rest.map(({ right }) => right)];
    case 'access':
      return [expr.base, ...indicesOf(expr.steps)];
    case 'call':
    case 'tool':
      return expr.args;
    default:
      return [];
  }
}

/** Whether an expression is a literal, a variable or `last`. Such an expression has no parts and cannot fail. */
export function isAtom({ k }: Expr): boolean {
  return k === 'num' || k === 'str' || k === 'bool' || k === 'nil' || k === 'name' || k === 'last';
}

function indicesOf(steps: readonly AccessStep[]): readonly Expr[] {
  return steps.flatMap((step) => (step.k === 'index' ? [step.index] : []));
}

/** The expressions that a statement itself evaluates, without those of nested blocks. */
export function expressionsOf(stmt: Stmt): readonly Expr[] {
  return [...valuesOf(stmt), ...targetsOf(stmt).flatMap(({ steps }) => indicesOf(steps))];
}

function valuesOf(stmt: Stmt): readonly Expr[] {
  switch (stmt.k) {
    case 'set':
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
    case 'fail':
      return stmt.value === undefined ? [] : [stmt.value];
    case 'clear_event':
      return stmt.event === undefined ? [] : [stmt.event];
    case 'ask':
      return stmt.with === undefined ? [stmt.model, stmt.prompt] : [stmt.model, stmt.prompt, stmt.with];
    case 'promptuser':
      return [stmt.prompt];
    case 'for':
      return [stmt.over];
    default:
      return [];
  }
}

/** The targets that a statement writes to by `set` or `into`. */
export function targetsOf(stmt: Stmt): readonly Target[] {
  if (stmt.k === 'set') return stmt.targets;
  if (stmt.k === 'promptuser') return [stmt.into];
  return stmt.k === 'ask' && stmt.into !== undefined ? [stmt.into] : [];
}

/** The blocks inside a statement. The body of a nested `on event` is not one of them: it has variables of its own. */
export function blocksOf(stmt: Stmt): readonly Block[] {
  switch (stmt.k) {
    case 'if':
      return stmt.else === undefined ? [stmt.then] : [stmt.then, stmt.else];
    case 'while':
    case 'for':
    case 'together':
      return [stmt.body];
    default:
      return [];
  }
}

export function bodiesOf({ procedures, events, commands }: SourceFile): readonly Block[] {
  return [...procedures, ...events, ...commands].map(({ body }) => body);
}

export function loopNames({ item, key }: ForStmt): readonly string[] {
  return key === undefined ? [item.name] : [item.name, key.name];
}

/** Visits an expression and everything in it, outer expressions first. */
export function eachExpression(expr: Expr, visit: (expr: Expr) => void): void {
  visit(expr);
  for (const child of childrenOf(expr)) eachExpression(child, visit);
}

/** An expression and everything in it, outer expressions first. */
export function allIn(expr: Expr): readonly Expr[] {
  const all: Expr[] = [];
  eachExpression(expr, (each) => all.push(each));
  return all;
}

/** Every expression that a statement itself evaluates, and everything in them. */
export function allOf(stmt: Stmt): readonly Expr[] {
  return expressionsOf(stmt).flatMap(allIn);
}

/** The names of the variables in some expressions, each of which {@link allIn} lists. */
export function namesIn(all: readonly Expr[]): Set<string> {
  return new Set(all.flatMap((expr) => (expr.k === 'name' ? [expr.name] : [])));
}

/** The names of the variables that a statement itself sets. */
export function setBy(stmt: Stmt): readonly string[] {
  return stmt.k === 'for' ? loopNames(stmt) : targetsOf(stmt).map(({ name }) => name.name);
}

/** Visits every statement of a block, including nested blocks and handlers. */
export function eachStatement(block: Block, visit: (stmt: Stmt) => void): void {
  for (const stmt of block.stmts) {
    visit(stmt);
    for (const inner of blocksOf(stmt)) eachStatement(inner, visit);
  }
  if (block.onError !== undefined) eachStatement(block.onError.body, visit);
}

/** Visits a block, all blocks nested in it, and their handlers. */
export function eachBlock(block: Block, visit: (block: Block) => void): void {
  visit(block);
  for (const stmt of block.stmts) for (const inner of blocksOf(stmt)) eachBlock(inner, visit);
  if (block.onError !== undefined) eachBlock(block.onError.body, visit);
}
