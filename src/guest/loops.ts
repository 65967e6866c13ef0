import type { ForStmt, WhileStmt } from '../../grammar/index.ts';
import { STEP_FUEL, textBytes } from '../wire/costs.ts';
import type { Context } from './context.ts';
import { describe } from './describe.ts';
import { BREAK, CONTINUE, type Completion, type Exec, type Frame, NORMAL } from './frame.ts';
import type { Machine } from './machine.ts';
import { whileLoop } from './steps.ts';
import { Dict, List, share, type Value } from './values.ts';

const PASS = STEP_FUEL.pass.amount;

export function compileWhile(context: Context, stmt: WhileStmt): Exec {
  const { compiled: condition, cost } = context.separately(() => context.expr(stmt.cond));
  return whileLoop(context.machine, condition, inLoop(context, stmt), PASS + cost, stmt.cond.s);
}

export function inLoop(context: Context, stmt: ForStmt | WhileStmt): Exec {
  context.loops++;
  const body = context.nested(stmt.body);
  context.loops--;
  return body;
}

export interface Loop {
  readonly machine: Machine;
  readonly item: number;
  readonly key: number | undefined;
  readonly body: Exec;
  readonly at: number;
}

/**
 * `for each` over the items that a value has when the loop starts. The variables of the loop are set even if a global has their name
 *. A hidden variable holds the value: it keeps it alive, and as a second place it keeps writes from changing it.
 */
export function compileFor(context: Context, stmt: ForStmt): Exec {
  const { machine, scope } = context;
  const over = context.stored(stmt.over);
  const hidden = scope.hidden();
  const item = scope.slot(stmt.item.name);
  const key = stmt.key === undefined ? undefined : scope.slot(stmt.key.name);
  const body = inLoop(context, stmt);
  const loop: Loop = { machine, item, key, body, at: stmt.over.s };
  return (frame) => {
    const value = over(frame);
    frame.slots[hidden] = value;
    const completion = iterate(loop, frame, value, stmt.item.name);
    frame.slots[hidden] = undefined;
    return completion;
  };
}

/** Runs the passes of a loop over a value. `name` is that of its variable. */
export function iterate(loop: Loop, frame: Frame, value: Value, name: string): Completion {
  if (value instanceof List) return overItems(loop, frame, value.items);
  if (value instanceof Dict) return overEntries(loop, frame, value.entries);
  if (typeof value === 'string') return overCharacters(loop, frame, value);
  if (value === null) return NORMAL;
  loop.machine.at = loop.at;
  return loop.machine.fail(
    'Type',
    `for each ${name} cannot iterate over ${describe(value)}`,
    'it iterates over lists, maps, strings and nil',
  );
}

function overItems(loop: Loop, frame: Frame, items: readonly Value[]): Completion {
  for (let index = 0; index < items.length; index++) {
    const completion = pass(loop, frame, index, items[index] ?? null);
    if (completion !== NORMAL && completion !== CONTINUE) return completion === BREAK ? NORMAL : completion;
  }
  return NORMAL;
}

function overEntries(loop: Loop, frame: Frame, entries: ReadonlyMap<string, Value>): Completion {
  for (const [key, value] of entries) {
    const completion = pass(loop, frame, key, value);
    if (completion !== NORMAL && completion !== CONTINUE) return completion === BREAK ? NORMAL : completion;
  }
  return NORMAL;
}

function overCharacters(loop: Loop, frame: Frame, text: string): Completion {
  let index = 0;
  for (const character of text) {
    loop.machine.at = loop.at;
    loop.machine.allocate(textBytes(character.length));
    const completion = pass(loop, frame, index++, character);
    if (completion !== NORMAL && completion !== CONTINUE) return completion === BREAK ? NORMAL : completion;
  }
  return NORMAL;
}

function pass({ machine, item, key, body, at }: Loop, frame: Frame, keyValue: Value, value: Value): Completion {
  machine.step(PASS, at);
  frame.slots[item] = share(value);
  if (key !== undefined) frame.slots[key] = keyValue;
  return body(frame);
}
