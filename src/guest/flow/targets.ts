import type { SetStmt, Target } from '../../../grammar/index.ts';
import { assignElement, type TargetStep } from '../assign.ts';
import type { Context, Store } from '../context.ts';
import type { Frame } from '../frame.ts';
import { baseOf, compileStep, itemsFor, refuseGlobal } from '../targets.ts';
import { isContainer, share, type Value } from '../values.ts';
import { elementAt, FIRST } from './flow.ts';
import { deepOf, mark, partOf, placeOf, replaceMark } from './held.ts';
import type { Held, Label } from './origins.ts';
import { flowOf } from './run.ts';

/** The target of `set` and `into`. The label of the value is in `acc`. */
export function flowTarget(context: Context, target: Target): Store {
  const flow = flowOf(context);
  const { machine } = context;
  const { name } = target.name;
  const slot = context.scope.slot(name);
  const place = FIRST + slot;
  const at = target.s;
  const global = context.isGlobal(name);
  flow.effects.places.add(place);
  if (target.steps.length === 0) {
    return (frame, value) => {
      if (global && frame.slots[slot] === undefined) refuseGlobal(machine, name, at);
      frame.slots[slot] = value;
      frame.labels[place] = flow.acc | flow.pc;
    };
  }
  context.spend(target.steps.length);
  const steps = target.steps.map((step) => compileStep(context, step));
  return (frame, value) => {
    if (global && frame.slots[slot] === undefined) refuseGlobal(machine, name, at);
    const label = flow.acc | flow.pc;
    const evaluated: TargetStep[] = [];
    flow.acc = 0;
    for (const step of steps) evaluated.push(step(frame));
    const keys = flow.acc;
    const base = baseOf(machine, frame, slot, name);
    // What the variable holds decides whether it has an element to write.
    flow.risk |= keys | (frame.labels[place] ?? 0) | deepOf(base);
    const known = frame.slots[slot] === undefined ? (flow.constants.get(name) ?? 0) : 0;
    const before = held(base, evaluated);
    frame.slots[slot] = assignElement(machine, frame, base, evaluated, value, at);
    const parts = writeLabels(frame, place, { before, steps: evaluated, value, label, more: keys | known | flow.pc });
    flow.acc = label | keys;
    if (parts > 0) flow.memory.hold(machine, parts);
  };
}

interface Written {
  /** The labels of the containers on the way, before the write. */
  readonly before: readonly (Held | undefined)[];
  readonly steps: readonly TargetStep[];
  readonly value: Value;
  readonly label: Label;
  /** Labels that count for the whole variable: those that decided which element is written. */
  readonly more: Label;
}

/** Labels the written element, and gives copies of containers the labels of their originals. Returns how many labels this takes. */
function writeLabels(frame: Frame, place: number, { before, steps, value, label, more }: Written): number {
  const deep = deepOf(value);
  let whole = more;
  let parts = label === 0 ? 0 : 1;
  let container: Value = frame.slots[place - FIRST] ?? null;
  for (const [depth, { key }] of steps.entries()) {
    if (!isContainer(container)) break;
    const original = before[depth];
    if (original !== undefined && container.held === undefined) {
      container.held = { parts: new Map(original.parts), deep: original.deep };
      parts += original.parts.size;
    }
    const at = placeOf(container, key);
    if (at === undefined) {
      whole |= label | deep;
      break;
    }
    const isLast = depth === steps.length - 1;
    if (isLast) replaceMark(container, at, label, deep);
    else mark(container, at, 0, label | deep);
    container = elementAt(container, at) ?? null;
  }
  frame.labels[place] = (frame.labels[place] ?? 0) | whole;
  return parts;
}

function held(base: Value, steps: readonly TargetStep[]): readonly (Held | undefined)[] {
  const all: (Held | undefined)[] = [];
  let value = base;
  for (const { key } of steps) {
    if (!isContainer(value)) break;
    all.push(value.held);
    const place = placeOf(value, key);
    if (place === undefined) break;
    value = elementAt(value, place) ?? null;
  }
  return all;
}

/** The targets of `set`. Of several, each gets the labels of its item. */
export function flowTargets(context: Context, { targets, s: at }: SetStmt): Store {
  const flow = flowOf(context);
  const { machine } = context;
  const stores = targets.map((target) => flowTarget(context, target));
  const [only] = stores;
  if (only !== undefined && stores.length === 1) return only;
  return (frame, value) => {
    const label = flow.acc;
    machine.at = at;
    const items = itemsFor(machine, value, stores.length);
    for (const [index, store] of stores.entries()) {
      flow.acc = label | partOf(value, index);
      store(frame, share(items[index] ?? null));
    }
  };
}
