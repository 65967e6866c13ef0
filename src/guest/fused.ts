import type { BinaryOp } from '../../grammar/index.ts';
import type { Eval, Slot } from './frame.ts';
import type { Machine } from './machine.ts';
import { OPERATORS } from './operators.ts';

/**
 * A variable and a literal number: `i + 1`, `n < 2`. One closure in place of three, because loops and recursions hardly do
 * anything else (a third of `fib`, see `bench interp`). Undefined for operators that gain nothing. A variable that is unset is looked
 * up under its name once more, by `unset`.
 */
export function fused(
  machine: Machine,
  op: Exclude<BinaryOp, 'and' | 'or'>,
  slot: number,
  unset: Eval,
  b: number,
  at: number,
): Eval | undefined {
  const slow = OPERATORS[op];
  const full = (frame: Parameters<Eval>[0], a: Slot) => {
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
