import type { BinaryOp, Stmt } from '../../grammar/index.ts';
import type { Context } from './context.ts';
import type { Eval, Frame, Slot } from './frame.ts';
import type { Machine } from './machine.ts';
import { numberLiteral, variableSlot } from './operands.ts';
import { OPERATORS } from './operators.ts';

// Frequent combinations that run as one closure. Each earns its place in `bench interp`.

/**
 * A variable and a literal number: `i + 1`, `n < 2`. One closure replaces three, which makes `fib(25)` a third faster. Undefined for
 * operators that gain nothing. `unset` evaluates a variable that has no value: it may be a global or a constant.
 */
export function variableWithNumber(
  machine: Machine,
  op: Exclude<BinaryOp, 'and' | 'or'>,
  slot: number,
  unset: Eval,
  b: number,
  at: number,
): Eval | undefined {
  const slow = OPERATORS[op];
  const full = (frame: Frame, a: Slot) => {
    const left = a === undefined ? unset(frame) : a;
    machine.at = at;
    return slow(machine, left, b);
  };
  switch (op) {
    case '+':
      return (frame) => {
        const a = frame.slots[slot];
        return typeof a === 'number' ? a + b : full(frame, a);
      };
    case '-':
      return (frame) => {
        const a = frame.slots[slot];
        return typeof a === 'number' ? a - b : full(frame, a);
      };
    case '*':
      return (frame) => {
        const a = frame.slots[slot];
        return typeof a === 'number' ? a * b : full(frame, a);
      };
    case '%':
      if (b === 0 || b !== (b | 0)) return undefined;
      return (frame) => {
        const a = frame.slots[slot];
        // A 64-bit integer has no negative zero.
        return typeof a === 'number' && a === (a | 0) ? a % b || 0 : full(frame, a);
      };
    case '<':
      return (frame) => {
        const a = frame.slots[slot];
        return typeof a === 'number' ? a < b : full(frame, a);
      };
    case '>':
      return (frame) => {
        const a = frame.slots[slot];
        return typeof a === 'number' ? a > b : full(frame, a);
      };
    case '<=':
      return (frame) => {
        const a = frame.slots[slot];
        return typeof a === 'number' ? a <= b : full(frame, a);
      };
    case '>=':
      return (frame) => {
        const a = frame.slots[slot];
        return typeof a === 'number' ? a >= b : full(frame, a);
      };
    case '==':
      return (frame) => {
        const a = frame.slots[slot];
        return typeof a === 'number' ? a === b : full(frame, a);
      };
    default:
      return undefined;
  }
}

/** Runs a counting statement. False when a value is not a number: then nothing has happened. */
export type Counting = (frame: Frame) => boolean;

/**
 * A counting statement: `set i = i + 1`, `set sum = sum + x`. With numbers it can neither fail, call, nor cost more than its price, so
 * it may run first and be paid together with the statement after it, and no program can tell the difference. In a loop of such
 * statements, paying took a sixth of the time. Undefined for all other statements, and where more than the variable is written.
 */
export function compileCounting(context: Context, stmt: Stmt): Counting | undefined {
  if (stmt.k !== 'set' || context.keepsLast || context.top || context.checked) return undefined;
  const [target] = stmt.targets;
  const { value } = stmt;
  if (target === undefined || stmt.targets.length > 1 || target.steps.length > 0 || context.isGlobal(target.name.name))
    return undefined;
  if (value.k !== 'binary' || value.rest.length !== 1) return undefined;
  const [operation] = value.rest;
  if (operation === undefined) return undefined;
  const { op, right } = operation;
  const first = variableSlot(context, value.first);
  if (first === undefined) return undefined;
  const to = context.scope.slot(target.name.name);
  const number = numberLiteral(right);
  if (number !== undefined) return withNumber(to, op, first, number);
  const second = variableSlot(context, right);
  return second === undefined ? undefined : withVariable(to, op, first, second);
}

function withNumber(to: number, op: BinaryOp, slot: number, b: number): Counting | undefined {
  if (op !== '+' && op !== '-') return undefined;
  const added = op === '+' ? b : -b;
  return ({ slots }) => {
    const a = slots[slot];
    if (typeof a !== 'number') return false;
    slots[to] = a + added;
    return true;
  };
}

function withVariable(to: number, op: BinaryOp, first: number, second: number): Counting | undefined {
  switch (op) {
    case '+':
      return ({ slots }) => {
        const a = slots[first];
        const b = slots[second];
        if (typeof a !== 'number' || typeof b !== 'number') return false;
        slots[to] = a + b;
        return true;
      };
    case '-':
      return ({ slots }) => {
        const a = slots[first];
        const b = slots[second];
        if (typeof a !== 'number' || typeof b !== 'number') return false;
        slots[to] = a - b;
        return true;
      };
    default:
      return undefined;
  }
}
