/** What a statement may do, read from its text: all that depends on whether it runs, and on whether it fails. `docs/origin.md`, "Values decide, too". */
import type { Block, ErrorHandler, Expr, Stmt } from '../../../grammar/index.ts';
import { BUILTINS } from './builtins.ts';
import { childrenOf } from './expressions.ts';
import { expressionsOf, stepsOf, targetsOf } from './statements.ts';

/** Where a statement can go: out of a loop (its body), on behind the statement that a handler guards, or out of the procedure. */
export type Exit = Block | ErrorHandler | 'body';

/** Names that stand for no variable: the latest value, and the result of the body. */
export const LAST = '(last)';
export const RESULT = '(result)';

/** What may happen. */
export class Effects {
  /** Variables that are set. */
  readonly names = new Set<string>();
  readonly says = new Set<'emit' | 'whisper' | 'clear_event'>();
  readonly exits = new Set<Exit>();
  /** Whether it may clear an error. */
  clears = false;

  add(other: Effects): this {
    for (const name of other.names) this.names.add(name);
    for (const said of other.says) this.says.add(said);
    for (const exit of other.exits) this.exits.add(exit);
    this.clears ||= other.clears;
    return this;
  }
}

/** A call of a procedure, which may say anything. */
export const CALL = new Effects();
CALL.says.add('emit').add('whisper').add('clear_event');

/** What a statement does, and what an error in it leads to. */
export interface Known {
  readonly all: Effects;
  /** What its own conditions decide. */
  readonly decided: Effects;
  /** What handlers do; undefined when nothing goes on after them. */
  readonly handled: Effects | undefined;
  /** Whether a handler stands in or around its block, so that the program can go on behind it. */
  readonly inPlace: boolean;
}

interface Around {
  /** The handlers around, the nearest first. */
  readonly guards: readonly { readonly handler: ErrorHandler; readonly effects: Effects }[];
  /** Whether the program goes on behind the very statement that failed: not in a handler, which only those around it guard. */
  readonly inPlace: boolean;
  readonly inHandler: boolean;
  readonly loop: Exit | undefined;
  readonly top: boolean;
}

const KNOWN = new WeakMap<Stmt, Known>();
const BODIES = new WeakMap<Block, Effects>();

/** The effects of the body of a procedure, a command block or a handler of events. */
export function effectsOfBody(body: Block): Effects {
  const known =
    BODIES.get(body) ?? blockEffects(body, { guards: [], inPlace: true, inHandler: false, loop: undefined, top: true });
  BODIES.set(body, known);
  return known;
}

/** The effects of a statement in a body that {@link effectsOfBody} has read. */
export function effectsOf(stmt: Stmt): Known {
  const known = KNOWN.get(stmt);
  if (known === undefined) throw new Error('a statement of a body that was not read');
  return known;
}

function blockEffects(block: Block, around: Around): Effects {
  const { onError: handler } = block;
  let within = around;
  if (handler !== undefined) {
    const outer = { ...around, inPlace: false, inHandler: true, top: false };
    const effects = blockEffects(handler.body, outer);
    effects.names.add('system_error').add('system_error_message');
    within = { ...around, guards: [{ handler, effects }, ...around.guards], inPlace: true };
  }
  const effects = stepsOf(block).reduce((sum, stmt) => sum.add(statementEffects(stmt, within).all), new Effects());
  if (handler !== undefined) effects.exits.delete(handler);
  return effects;
}

function statementEffects(stmt: Stmt, around: Around): Known {
  const all = new Effects();
  const decided = new Effects();
  for (const { name } of targetsOf(stmt)) all.names.add(name.name);
  // A handler that returns fails before it evaluates anything.
  const exprs = stmt.k === 'return' && around.inHandler ? [] : expressionsOf(stmt);
  if (exprs.some(callsProcedure)) all.add(CALL);
  if (stmt.k === 'while' && callsProcedure(stmt.cond)) decided.add(CALL);
  if (stmt.k === 'clear_error') all.clears = true;
  if (stmt.k === 'emit' || stmt.k === 'whisper' || stmt.k === 'clear_event') all.says.add(stmt.k);
  if (VALUED.has(stmt.k)) for (const name of around.top ? [LAST, RESULT] : [LAST]) all.names.add(name);
  if (stmt.k === 'return' && !around.inHandler) {
    all.names.add(RESULT);
    all.exits.add('body');
  }
  if ((stmt.k === 'break' || stmt.k === 'continue') && around.loop !== undefined) all.exits.add(around.loop);
  if (stmt.k === 'for') for (const name of [stmt.key, stmt.item]) if (name !== undefined) decided.names.add(name.name);
  const inner = { ...around, top: false };
  if (stmt.k === 'if')
    for (const block of [stmt.then, stmt.else]) if (block !== undefined) decided.add(blockEffects(block, inner));
  if (stmt.k === 'while' || stmt.k === 'for') {
    decided.add(blockEffects(stmt.body, { ...inner, loop: stmt.body }));
    decided.exits.delete(stmt.body);
  }
  if (stmt.k === 'together') all.add(blockEffects(stmt.body, inner));
  all.add(decided);
  const known = { all, decided, handled: handledBy(around), inPlace: around.inPlace && around.guards.length > 0 };
  KNOWN.set(stmt, known);
  return known;
}

const VALUED = new Set(['set', 'emit', 'whisper', 'call', 'must', 'promptuser']);

/** What the program may do after an error: the nearest handler runs. One around it may clear the error, and go on behind what it guards. */
function handledBy({ guards, inPlace }: Around): Effects | undefined {
  const handled = new Effects();
  for (const [index, { handler, effects }] of guards.entries()) {
    if (index === 0) handled.add(effects);
    if (effects.clears && (index > 0 || !inPlace)) handled.exits.add(handler);
  }
  return handled.clears || handled.exits.size > 0 ? handled : undefined;
}

/** Whether an expression calls a procedure. */
export function callsProcedure(expr: Expr): boolean {
  return (expr.k === 'call' && !BUILTINS.has(expr.name.name.toLowerCase())) || childrenOf(expr).some(callsProcedure);
}
