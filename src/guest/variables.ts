import { type Frame, rareOf } from './frame.ts';
import type { Machine } from './machine.ts';
import { keepAlive } from './memory.ts';
import { share, type Value } from './values.ts';

/** The value of a name in a frame: its variable, else a global, else a constant; undefined when it was never set (language.md 5.5). */
export function lookup(machine: Machine, frame: Frame, name: string): Value | undefined {
  const slot = frame.layout.scope.find(name);
  const local = slot === undefined ? frame.rare?.extra?.get(name) : frame.slots[slot];
  if (local !== undefined) return local;
  const global = machine.globals.get(name);
  return global === undefined ? machine.constants.get(name) : global;
}

/** Sets a variable by its name, for a tool that is being called; gives the reason when it cannot be set (code 43). */
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
  // The statement in progress may still be using the old value.
  if (local !== undefined) keepAlive(machine, frame, local);
  frame.slots[slot] = value;
  return null;
}

/** Writes a variable whatever global has its name: `system_error` and its text (P7). */
export function defineByName(frame: Frame, name: string, value: Value): void {
  const slot = frame.layout.scope.find(name);
  if (slot !== undefined) frame.slots[slot] = value;
}

/** Code 43's message. */
export function globalMessage(name: string): string {
  return `'${name}' is a global: it can be read here but not set`;
}

/** Code 43's hint. */
export const GLOBAL_HINT = 'set a variable of another name, or take the value as a parameter and return the new one';

/** Defines a global; its value may be seen from any number of forks. */
export function defineGlobal(machine: Machine, name: string, value: Value): void {
  machine.globals.set(name, share(value));
  machine.constants.reserve(name, 'global');
}

/** Defines a constant of the run's input; its name must not be a global's too (code 42). */
export function defineConstant(machine: Machine, name: string, value: Value): void {
  const refused = machine.constants.define(name, value, false);
  if (refused !== null) machine.fail('Duplicate', `the constant '${name}' cannot be defined: ${refused}`);
}
