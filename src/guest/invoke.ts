import { grouped } from '../wire/text/grouped.ts';
import { codeOf, Failure } from './errors.ts';
import { Frame } from './frame.ts';
import type { Machine } from './machine.ts';
import { keepAlive } from './memory.ts';
import type { Callee } from './procedure.ts';
import type { Value } from './values.ts';

/** Evaluation depth from a call to the expressions in the statements of the callee. */
const ENTRY_DEPTH = 3;

/** Hint of an evaluation that is too deep. */
const FLATTER = 'nest calls, blocks and brackets less deeply';

/** How many frames of ended calls a run keeps for the next ones: enough for most recursions. They count no memory, so they are few. */
const MOST_SPARE = 256;
/** Frames with more variables are not kept. */
const MOST_SLOTS = 16;

/** A frame for a call, in whose first slots the caller puts the arguments. */
export function newFrame(machine: Machine, callee: Callee): Frame {
  const frame = callee.spare;
  if (frame === null) return new Frame(null, callee.procedure.place, callee, callee.blank.slice(), 0, 0);
  callee.spare = frame.parent;
  machine.spareFrames--;
  return frame;
}

/** Keeps the frame of an ended call for the next one. It becomes as good as new, and holds no value. */
function keepFrame(machine: Machine, callee: Callee, frame: Frame): void {
  const { slots } = frame;
  if (machine.spareFrames === MOST_SPARE || slots.length > MOST_SLOTS) return;
  const { blank } = callee;
  for (let slot = 0; slot < blank.length; slot++) slots[slot] = blank[slot];
  frame.last = null;
  frame.out = null;
  frame.keep = null;
  frame.held = 0;
  frame.rare = null;
  frame.parent = callee.spare;
  callee.spare = frame;
  machine.spareFrames++;
}

/**
 * Runs a procedure in a fork of its own. `fresh` is its new frame with the arguments; `at` is the place of the call and `depth` the
 * evaluation depth there. Too many frames or too deep an evaluation is code 37.
 */
export function invoke(machine: Machine, callee: Callee, fresh: Frame, at: number, depth: number): Value {
  const caller = machine.frame;
  machine.step(callee.entryFuel, at);
  const level = caller === null ? 1 : caller.level + 1;
  const base = caller === null ? depth : caller.depth + depth + ENTRY_DEPTH;
  let frame = fresh;
  let code = callee;
  if (level > machine.callDepth || base + code.deepest > machine.evalDepth) {
    const { procedure } = callee;
    machine.at = at;
    checkDepth(machine, procedure.name, level, base);
    code = procedure.checked;
    frame = new Frame(null, procedure.place, code, fresh.slots, 0, 0);
  }
  frame.parent = caller;
  frame.level = level;
  frame.depth = base;
  machine.enter(frame, at);
  code.body(frame);
  machine.leave(frame);
  const value = frame.out;
  if (code === callee) keepFrame(machine, callee, frame);
  if (caller !== null && (typeof value === 'object' || typeof value === 'string')) keepAlive(machine, caller, value);
  return value;
}

/** Raises code 37 when the next frame would be one too many or too deep. */
export function checkDepth(machine: Machine, name: string, level: number, depth: number): void {
  const { callDepth } = machine.limits;
  if (level > callDepth)
    machine.fail(
      'ResourceExhaustion',
      `maximum call depth of ${grouped(callDepth)} exceeded by calling '${name}'`,
      'check where the recursion ends',
    );
  checkEvalDepth(machine, depth);
}

/** Raises code 37 when an evaluation would be too deep. */
export function checkEvalDepth(machine: Machine, depth: number): void {
  const { evalDepth } = machine.limits;
  if (depth > evalDepth)
    machine.fail('ResourceExhaustion', `maximum evaluation depth of ${grouped(evalDepth)} exceeded`, FLATTER);
}

/**
 * The end of a run for which V8 had no stack left: code 37 where it happened. The worker's stack holds the greatest evaluation depth,
 * so this is a second wall. No handler gets the error, because the operation may have been half done.
 */
export function stackOverflow(machine: Machine): Failure {
  const message = 'the evaluation is too deep for the stack of the interpreter';
  return new Failure(codeOf('ResourceExhaustion'), message, FLATTER, machine.place(), machine.stack());
}
