import type { ErrorHandler } from '../../grammar/index.ts';
import { ERROR_TEXT_VARIABLE, ERROR_VARIABLE } from '../../grammar/vocabulary/builtins.ts';
import { nsCodeName } from '../wire/codes.ts';
import { textBytes, VALUE_BYTES } from '../wire/costs.ts';
import type { ErrorInfo, StackFrame } from '../wire/errors.ts';
import { Failure } from './errors.ts';
import { BREAK, CONTINUE, type Completion, type Exec, FAR_BREAK, FAR_CONTINUE, type Frame, NORMAL, rareOf } from './frame.ts';
import type { Machine } from './machine.ts';
import { measuredList, measuredMap } from './measure.ts';
import { entryBytes, listBytes } from './memory.ts';
import type { Spot } from './probe.ts';
import { Dict, type Value } from './values.ts';
import { defineByName } from './variables.ts';
import { WORK } from './work.ts';

/** Bytes of the map of a frame, without those of its texts. */
const FRAME_BYTES = ['name', 'source', 'line', 'column'].reduce<number>(
  (sum, key) => sum + entryBytes(key),
  VALUE_BYTES.map.amount,
);

/** Name of a command block in a stack. */
export const COMMAND_FRAME = 'Command Block';

/** An `on error` handler. Its body is compiled after the block that it guards. */
export class Guard {
  readonly handler: ErrorHandler;
  body: Exec | null = null;
  /** Its place, in a measured run. */
  spot: Spot | null = null;

  constructor(handler: ErrorHandler) {
    this.handler = handler;
  }
}

/**
 * Handles what a statement of a guarded block threw. `nearest` is the handler that guards this place, `own` the one in this block, if
 * any. Returns the completion of the statement if the handler cleared the error or left by `break` or `continue`; else throws the error.
 *
 * The nearest handler gets an error where it arises, so that execution continues after the innermost failing statement, even if the
 * handler stands in a block outside. Every further handler gets the error in its own block.
 */
export function recover(machine: Machine, frame: Frame, thrown: unknown, nearest: Guard, own: Guard | null): Completion {
  if (!(thrown instanceof Failure)) throw thrown;
  machine.unwind(frame);
  if (thrown.frame !== frame) {
    thrown.frame = frame;
    thrown.offered = null;
  }
  const guard = thrown.offered === null ? nearest : own;
  if (guard === null || guard === thrown.offered) throw thrown;
  thrown.offered = guard;
  const { probe } = machine;
  if (probe === null || guard.spot === null) return handle(machine, frame, thrown, guard, guard === own);
  // Written out: handlers within each other take much of the stack.
  const { node, line } = probe;
  probe.reach(guard.spot);
  try {
    return handle(machine, frame, thrown, guard, guard === own);
  } finally {
    probe.back(node, line);
  }
}

function handle(machine: Machine, frame: Frame, failure: Failure, guard: Guard, isOwn: boolean): Completion {
  const rare = rareOf(frame);
  const { cleared: outer } = rare;
  rare.cleared = false;
  let completion: Completion;
  try {
    machine.at = guard.handler.s;
    publish(machine, frame, failure);
    completion = bodyOf(guard)(frame);
  } catch (thrown) {
    rare.cleared = outer;
    if (!(thrown instanceof Failure)) throw thrown;
    // An error inside a handler replaces the original one. It goes to the next handler outside.
    machine.unwind(frame);
    thrown.frame = frame;
    thrown.offered = guard;
    throw thrown;
  }
  const { cleared } = rare;
  rare.cleared = outer;
  if (completion !== NORMAL) return leave(completion, isOwn);
  if (cleared) return NORMAL;
  throw failure;
}

/** `break` and `continue` in a handler mean the loop around the handler, not one around the failing statement. */
function leave(completion: Completion, isOwn: boolean): Completion {
  if (isOwn || (completion !== BREAK && completion !== CONTINUE)) return completion;
  return completion === BREAK ? FAR_BREAK : FAR_CONTINUE;
}

/**
 * Turns a handler's `break` or `continue` into an ordinary one in the block of the handler. Only that block has a handler of its own
 * between here and the failing statement: another one would have been nearer.
 */
export function arrive(completion: Completion, own: Guard | null): Completion {
  if (completion < FAR_BREAK || own === null) return completion;
  return completion === FAR_BREAK ? BREAK : CONTINUE;
}

function bodyOf(guard: Guard): Exec {
  if (guard.body === null) throw new RangeError('a handler was not compiled');
  return guard.body;
}

/** Sets `system_error_message` and `system_error` (P17). */
function publish(machine: Machine, frame: Frame, failure: Failure): void {
  const { message, line, column, stack } = failure.info();
  machine.pay(WORK.handle, stack.length);
  machine.allocate(listBytes(stack.length));
  const frames = stack.map((at) => frameRecord(machine, at));
  const error = record(machine, [
    ['code', failure.code],
    ['name', nsCodeName(failure.code)],
    ['message', message],
    ['line', line],
    ['column', column],
    ['stack', measuredList(frames)],
  ]);
  defineByName(frame, ERROR_VARIABLE, error);
  failure.text ??= errorText(failure.info());
  machine.allocate(textBytes(failure.text.length));
  defineByName(frame, ERROR_TEXT_VARIABLE, failure.text);
}

function errorText({ message, source, line, column, stack }: ErrorInfo): string {
  return [
    message,
    ...(source === null ? [] : [`  at ${source}:${line}:${column}`]),
    'Stack Trace:',
    ...stack.map(frameText),
  ].join('\n');
}

/** The line of a frame in the text of an error. */
function frameText({ name, source, line, column }: StackFrame): string {
  return `  ${name} (${name === COMMAND_FRAME ? '' : 'defined '}at ${source}:${line}:${column})`;
}

/** As {@link record}, written out: each of many handlers gets a map for every frame of the stack. */
function frameRecord(machine: Machine, { name, source, line, column }: StackFrame): Dict {
  machine.allocate(FRAME_BYTES);
  const entries = new Map<string, Value>();
  entries.set('name', name).set('source', source).set('line', line).set('column', column);
  const map = new Dict(entries);
  map.bytes = FRAME_BYTES + textBytes(name.length) + textBytes(source.length);
  return map;
}

function record(machine: Machine, entries: readonly (readonly [string, Value])[]): Dict {
  machine.allocate(VALUE_BYTES.map.amount);
  for (const [key] of entries) machine.allocate(entryBytes(key));
  return measuredMap(entries);
}
