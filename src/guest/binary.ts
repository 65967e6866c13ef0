import type { BinaryExpr, BinaryOp } from '../../grammar/index.ts';
import { textBytes } from '../wire/costs.ts';
import type { Context } from './context.ts';
import type { Eval } from './frame.ts';
import type { Machine } from './machine.ts';
import { listBytes } from './memory.ts';
import { numberLiteral, textLiteral, variableSlot } from './operands.ts';
import { concat, fuzzyLogic, OPERATORS } from './operators.ts';
import { variableWithNumber } from './superinstructions.ts';
import { toText } from './text.ts';
import { Fuzzy, List, truthy, type Value } from './values.ts';

/** Chains up to this length become nested closures. Longer ones become a loop, so that 10,000 terms need no stack. */
export const NESTED_TERMS = 4;

/** A left-associative chain of one precedence level. */
export function compileBinary(context: Context, expr: BinaryExpr): Eval {
  const { machine } = context;
  context.spend(expr.rest.length);
  if (expr.rest.length > NESTED_TERMS) return compileChain(context, expr);
  return context.deeper(expr.rest.length - 1, () => {
    let left: Eval = context.expr(expr.first);
    let begins = true;
    for (const { op, at, right } of expr.rest) {
      const constant = numberLiteral(right);
      const slot = begins ? variableSlot(context, expr.first) : undefined;
      const word = begins && op === '+' ? textLiteral(machine, expr.first) : undefined;
      begins = false;
      if (op === 'and' || op === 'or') left = logic(machine, op, left, context.expr(right), at);
      else if (word !== undefined) left = appended(machine, word, context.expr(right), at);
      else if (constant === undefined) left = plain(machine, op, left, context.expr(right), at);
      else
        left =
          (slot === undefined ? undefined : variableWithNumber(machine, op, slot, left, constant, at)) ??
          plain(machine, op, left, () => constant, at);
    }
    return left;
  });
}

type Eager = Exclude<BinaryOp, 'and' | 'or'>;

/** `"k" + i`, which is a text whatever the right side is. */
function appended(machine: Machine, word: string, right: Eval, at: number): Eval {
  return (frame) => {
    const value = right(frame);
    machine.at = at;
    return concat(machine, word, toText(machine, value));
  };
}

/** Nearly always both sides are numbers. The closure handles that case itself and leaves all others to the operator's full rule. */
function plain(machine: Machine, op: Eager, left: Eval, right: Eval, at: number): Eval {
  const slow = OPERATORS[op];
  const full = (a: Value, b: Value): Value => {
    machine.at = at;
    return slow(machine, a, b);
  };
  switch (op) {
    case '+':
      return (frame) => {
        const a = left(frame);
        const b = right(frame);
        return typeof a === 'number' && typeof b === 'number' ? a + b : full(a, b);
      };
    case '-':
      return (frame) => {
        const a = left(frame);
        const b = right(frame);
        return typeof a === 'number' && typeof b === 'number' ? a - b : full(a, b);
      };
    case '*':
      return (frame) => {
        const a = left(frame);
        const b = right(frame);
        return typeof a === 'number' && typeof b === 'number' ? a * b : full(a, b);
      };
    case '/':
      return (frame) => {
        const a = left(frame);
        const b = right(frame);
        return typeof a === 'number' && typeof b === 'number' && b !== 0 ? a / b : full(a, b);
      };
    case '<':
      return (frame) => {
        const a = left(frame);
        const b = right(frame);
        return typeof a === 'number' && typeof b === 'number' ? a < b : full(a, b);
      };
    case '>':
      return (frame) => {
        const a = left(frame);
        const b = right(frame);
        return typeof a === 'number' && typeof b === 'number' ? a > b : full(a, b);
      };
    case '<=':
      return (frame) => {
        const a = left(frame);
        const b = right(frame);
        return typeof a === 'number' && typeof b === 'number' ? a <= b : full(a, b);
      };
    case '>=':
      return (frame) => {
        const a = left(frame);
        const b = right(frame);
        return typeof a === 'number' && typeof b === 'number' ? a >= b : full(a, b);
      };
    case '==':
      return (frame) => {
        const a = left(frame);
        const b = right(frame);
        return typeof a === 'number' && typeof b === 'number' ? a === b : full(a, b);
      };
    case '!=':
      return (frame) => {
        const a = left(frame);
        const b = right(frame);
        return typeof a === 'number' && typeof b === 'number' ? a !== b : full(a, b);
      };
    default:
      return (frame) => full(left(frame), right(frame));
  }
}

function logic(machine: Machine, op: 'and' | 'or', left: Eval, right: Eval, at: number): Eval {
  return (frame) => {
    const a = left(frame);
    if (decided(op, a)) return op === 'or';
    return combined(machine, op, a, right(frame), at);
  };
}

/** Whether the left side decides alone. A fuzzy one never does (P1). */
export function decided(op: 'and' | 'or', left: Value): boolean {
  return !(left instanceof Fuzzy) && truthy(left) === (op === 'or');
}

export function combined(machine: Machine, op: 'and' | 'or', left: Value, right: Value, at: number): Value {
  if (!(left instanceof Fuzzy) && !(right instanceof Fuzzy)) return truthy(right);
  machine.at = at;
  return fuzzyLogic(machine, op, left, right);
}

/** A long chain as a loop over its terms. An intermediate result is garbage at once, so its bytes are released. */
function compileChain(context: Context, expr: BinaryExpr): Eval {
  const { machine } = context;
  const first = context.expr(expr.first);
  const terms = expr.rest.map(({ op, at, right }) => ({ op, at, right: context.expr(right) }));
  return (frame) => {
    let left = first(frame);
    let made = false;
    for (const { op, at, right } of terms) {
      if (op === 'and' || op === 'or') {
        left = decided(op, left) ? op === 'or' : combined(machine, op, left, right(frame), at);
        continue;
      }
      const operand = right(frame);
      machine.at = at;
      const result = OPERATORS[op](machine, left, operand);
      if (made) discard(machine, left);
      made = true;
      left = result;
    }
    return left;
  };
}

/** Releases the bytes of an intermediate text or list. */
function discard(machine: Machine, value: Value): void {
  if (typeof value === 'string') machine.release(textBytes(value.length));
  else if (value instanceof List) machine.release(listBytes(value.items.length));
}
