import { type Frame, rareOf } from './frame.ts';
import type { Machine } from './machine.ts';
import { keepAlive } from './memory.ts';
import { share, type Value } from './values.ts';

/** The value of a name in a frame: its variable, else a global, else a constant; undefined when it has none. */
export function lookup(machine: Machine, frame: Frame, name: string): Value | undefined {
  const slot = frame.layout.scope.find(name);
  const local = slot === undefined ? frame.rare?.extra?.get(name) : frame.slots[slot];
  if (local !== undefined) return local;
  const global = machine.globals.get(name);
  return global === undefined ? machine.constants.get(name) : global;
}

/** Sets a variable by its name, for a running tool. Returns the reason if it cannot be set (code 43), else null. */
export function assignByName(machine: Machine, frame: Frame, name: string, value: Value): string | null {
  const slot = frame.layout.scope.find(name);
  const local = slot === undefined ? undefined : frame.slots[slot];
  if (local === undefined && machine.globals.has(name)) return globalMessage(name);
  if (slot === undefined) {
    const rare = rareOf(frame);
    rare.extra ??= new Map();
    rare.extra.set(name, value);
    return null;
  }
  // The running statement may still use the old value.
  if (local !== undefined) keepAlive(machine, frame, local);
  frame.slots[slot] = value;
  return null;
}

/** Sets a variable even if a global has its name: `system_error` and its text. */
export function defineByName(frame: Frame, name: string, value: Value): void {
  const slot = frame.layout.scope.find(name);
  if (slot !== undefined) frame.slots[slot] = value;
}

/** Message of code 43. */
export function globalMessage(name: string): string {
  return `'${name}' is a global: it can be read here but not set`;
}

/** Hint of code 43. */
export const GLOBAL_HINT = 'set a variable of another name, or take the value as a parameter and return the new one';

/** Defines a global. Any number of forks may hold its value. */
export function defineGlobal(machine: Machine, name: string, value: Value): void {
  machine.globals.set(name, share(value));
  machine.constants.reserve(name, 'global');
}

/** Defines a constant of the run's input. Raises code 42 if a global has its name. */
export function defineConstant(machine: Machine, name: string, value: Value): void {
  const refused = machine.constants.define(name, value, false);
  if (refused !== null) machine.fail('Duplicate', `the constant '${name}' cannot be defined: ${refused}`);
}
