import type { Eval, Frame } from '../frame.ts';
import type { Machine } from '../machine.ts';
import type { List, Value } from '../values.ts';
import type { Flow } from './flow.ts';
import { deepOf, mark } from './held.ts';
import type { Label } from './origins.ts';

/** Evaluates in order. `labels` gets the label of each value, without those of its parts. */
export function evaluated(flow: Flow, frame: Frame, evals: readonly Eval[], labels: Label[]): Value[] {
  const values = new Array<Value>(evals.length);
  // What was read before may have failed, and then nothing of this would happen.
  flow.risk |= flow.acc;
  for (let index = 0; index < evals.length; index++) {
    flow.acc = 0;
    values[index] = evals[index]?.(frame) ?? null;
    labels[index] = flow.acc;
    flow.risk |= flow.acc;
  }
  return values;
}

/** Labels the items of a new list. */
export function markAll(machine: Machine, flow: Flow, list: List, labels: readonly Label[]): void {
  for (const [index, item] of list.items.entries()) mark(list, index, labels[index] ?? 0, deepOf(item));
  if (list.held !== undefined) flow.memory.hold(machine, list.held.parts.size);
}
