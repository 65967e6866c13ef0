import type { AccessStep, IndexStep, SetStmt, Target } from '../../grammar/index.ts';
import { VALUE_BYTES } from '../wire/costs.ts';
import { append, assignElement, isOwned, putEntry, type TargetStep } from './assign.ts';
import type { Context, Store } from './context.ts';
import { counted, describe } from './describe.ts';
import { codeOf, InternalError } from './errors.ts';
import type { Frame } from './frame.ts';
import type { Machine } from './machine.ts';
import { checkValue, replaced } from './measure.ts';
import { Dict, List, share, type Value } from './values.ts';
import { GLOBAL_HINT, globalMessage } from './variables.ts';

/** The target of `set` and `into`. Its keys are evaluated once, from left to right, before anything is written. */
export function compileTarget(context: Context, target: Target): Store {
  const { machine } = context;
  const { name } = target.name;
  const slot = context.scope.slot(name);
  const at = target.s;
  const global = context.isGlobal(name);
  if (target.steps.length === 0) {
    return (frame, value) => {
      if (global && frame.slots[slot] === undefined) refuseGlobal(machine, name, at);
      frame.slots[slot] = value;
    };
  }
  context.spend(target.steps.length);
  const [only] = target.steps;
  if (only?.k === 'index' && target.steps.length === 1 && !global) return compileIndexed(context, slot, name, only, at);
  const steps = target.steps.map((step) => compileStep(context, step));
  return (frame, value) => {
    if (global && frame.slots[slot] === undefined) refuseGlobal(machine, name, at);
    const evaluated: TargetStep[] = [];
    for (const step of steps) evaluated.push(step(frame));
    frame.slots[slot] = assignElement(machine, frame, baseOf(machine, frame, slot, name), evaluated, value, at);
  };
}

/** The targets of `set`. Several take the items of a list, from left to right; a failure leaves earlier ones set. */
export function compileTargets(context: Context, { targets, s: at }: SetStmt): Store {
  const { machine } = context;
  const stores = targets.map((target) => context.compilers.target(context, target));
  const [only] = stores;
  if (only === undefined) throw new InternalError('set without a target');
  const count = stores.length;
  if (count === 1) return only;
  return (frame, value) => {
    machine.at = at;
    const items = itemsFor(machine, value, count);
    for (const [index, store] of stores.entries()) store(frame, share(items[index] ?? null));
  };
}

/** The items for so many targets. Fails for any other value. */
export function itemsFor(machine: Machine, value: Value, count: number): readonly Value[] {
  if (!(value instanceof List))
    return machine.fail('Type', `setting ${count} variables at once needs a list of ${count} items, got ${describe(value)}`);
  if (value.items.length !== count)
    machine.fail(
      'CountMismatch',
      `setting ${count} variables at once needs a list of ${count} items, got ${counted(value.items.length, 'item', 'items')}`,
    );
  return value.items;
}

/** The value whose elements a target writes: the variable's, or the constant of its name if the variable is not set. */
export function baseOf({ constants }: Machine, frame: Frame, slot: number, name: string): Value {
  const base = frame.slots[slot];
  return base === undefined ? (constants.get(name) ?? null) : base;
}

/** `name[i]`. An item or the next item of a list, or an entry of a map, is written directly if nothing else holds the container. */
function compileIndexed(context: Context, slot: number, name: string, step: IndexStep, at: number): Store {
  const { machine } = context;
  const index = context.expr(step.index);
  const { s: stepAt } = step;
  return (frame, value) => {
    const key = index(frame);
    const base = frame.slots[slot];
    if (base instanceof List && typeof key === 'number' && isOwned(frame, base)) {
      const { items } = base;
      if (key >= 0 && key < items.length && Number.isInteger(key)) {
        machine.at = stepAt;
        replaced(base, items[key] ?? null, value);
        checkValue(machine, base);
        items[key] = value;
        return;
      }
      if (key === items.length) {
        machine.at = stepAt;
        machine.allocate(VALUE_BYTES.item.amount);
        machine.checkItems(key + 1);
        base.bytes += VALUE_BYTES.item.amount;
        replaced(base, null, value);
        checkValue(machine, base);
        append(base, value);
        return;
      }
    } else if (base instanceof Dict && typeof key === 'string' && isOwned(frame, base)) {
      machine.at = stepAt;
      putEntry(machine, base, key, value);
      checkValue(machine, base);
      return;
    }
    const steps = [{ key, field: false, at: stepAt }];
    frame.slots[slot] = assignElement(machine, frame, baseOf(machine, frame, slot, name), steps, value, at);
  };
}

export function compileStep(context: Context, step: AccessStep): (frame: Frame) => TargetStep {
  const { s: at } = step;
  if (step.k === 'field') {
    const known = { key: step.name, field: true, at };
    return () => known;
  }
  const index = context.expr(step.index);
  return (frame) => ({ key: index(frame), field: false, at });
}

/** Raises code 43: a global cannot be set. */
export function refuseGlobal(machine: Machine, name: string, at: number): never {
  machine.at = at;
  throw machine.failure(codeOf('WriteViolation'), globalMessage(name), GLOBAL_HINT);
}
