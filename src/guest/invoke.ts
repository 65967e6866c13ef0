import { codeOf, Failure } from './errors.ts';
import { Frame, type Slot } from './frame.ts';
import type { Machine } from './machine.ts';
import { keepAlive } from './memory.ts';
import type { Callee } from './procedure.ts';
import type { Value } from './values.ts';

/** Evaluation depth from a call to the expressions in the statements of the callee. */
const ENTRY_DEPTH = 3;

/** Hint of an evaluation that is too deep. */
const FLATTER = 'nest calls, blocks and brackets less deeply';

/**
 * Runs a procedure in a fork of its own. `slots` begins with the arguments; `at` is the place of the call and `depth` the evaluation depth
 * there. Too many frames or too deep an evaluation is code 37.
 */
export function invoke(machine: Machine, callee: Callee, slots: Slot[], at: number, depth: number): Value {
  const caller = machine.frame;
  machine.step(callee.entryFuel, at);
  const level = caller === null ? 1 : caller.level + 1;
  const base = caller === null ? depth : caller.depth + depth + ENTRY_DEPTH;
  let code = callee;
  const { procedure } = callee;
  if (level > machine.callDepth || base + code.deepest > machine.evalDepth) {
    machine.at = at;
    checkDepth(machine, procedure.name, level, base);
    code = procedure.checked;
  }
  const frame = new Frame(caller, procedure.place, code, slots, level, base);
  machine.enter(frame, at);
  code.body(frame);
  machine.leave(frame);
  const value = frame.out;
  if (caller !== null && (typeof value === 'object' || typeof value === 'string')) keepAlive(machine, caller, value);
  return value;
}

/** Raises code 37 when the next frame would be one too many or too deep. */
export function checkDepth(machine: Machine, name: string, level: number, depth: number): void {
  const { callDepth } = machine.limits;
  if (level > callDepth)
    machine.fail(
      'ResourceExhaustion',
      `maximum call depth of ${callDepth} exceeded by calling '${name}'`,
      'check where the recursion ends',
    );
  checkEvalDepth(machine, depth);
}

/** Raises code 37 when an evaluation would be too deep. */
export function checkEvalDepth(machine: Machine, depth: number): void {
  const { evalDepth } = machine.limits;
  if (depth > evalDepth) machine.fail('ResourceExhaustion', `maximum evaluation depth of ${evalDepth} exceeded`, FLATTER);
}

/**
 * The end of a run for which V8 had no stack left: code 37 where it happened. The worker's stack holds the greatest evaluation depth,
 * so this is a second wall. No handler gets the error, because the operation may have been half done.
 */
export function stackOverflow(machine: Machine): Failure {
  const message = 'the evaluation is too deep for the stack of the interpreter';
  return new Failure(codeOf('ResourceExhaustion'), message, FLATTER, machine.place(), machine.stack());
}
