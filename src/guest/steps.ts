import { BREAK, CONTINUE, type Completion, type Eval, type Exec, type Frame, NORMAL } from './frame.ts';
import type { Machine } from './machine.ts';
import { arrive, type Guard, recover } from './onerror.ts';
import type { Spot } from './probe.ts';
import type { Counting } from './superinstructions.ts';
import { truthy } from './values.ts';

/*
 * How the statements of a block run. Before each one the machine is paid, and lets go of what the statement before held. That is
 * `Machine.begin`, written out where blocks are short and in the head of a loop: calling the method there makes the workload
 * `loop` of `bench interp` 4 to 7 % slower.
 */

/** A compiled statement with what is paid before it runs. */
export interface Step {
  readonly run: Exec;
  /** 0 when the call has paid for it, or when it pays for itself. */
  readonly fuel: number;
  /** Whether it does all that comes before a statement itself. */
  readonly begins?: true;
  readonly at: number;
  /** The whole statement, if it may run before it is paid for. */
  readonly counting?: Counting;
  /** Its place, in a measured run. */
  readonly spot?: Spot;
}

/** A block without a handler in or around it. */
export function plainBlock(machine: Machine, steps: readonly Step[]): Exec {
  const [first, second] = steps;
  if (first !== undefined && steps.length === 1) return first.begins ? first.run : one(machine, first);
  if (first !== undefined && second !== undefined && steps.length === 2) return two(machine, first, second);
  return many(machine, steps);
}

function one(machine: Machine, { run, fuel, at }: Step): Exec {
  return (frame) => {
    const untilCheck = machine.untilCheck - fuel;
    machine.untilCheck = untilCheck;
    if (untilCheck < 0) machine.refill(at);
    machine.statementBytes = 0;
    frame.keep = null;
    return run(frame);
  };
}

function two(machine: Machine, first: Step, second: Step): Exec {
  const { run: run1, fuel: fuel1, at: at1 } = first;
  const { run: run2, fuel: fuel2, at: at2 } = second;
  return (frame) => {
    const untilCheck1 = machine.untilCheck - fuel1;
    machine.untilCheck = untilCheck1;
    if (untilCheck1 < 0) machine.refill(at1);
    machine.statementBytes = 0;
    frame.keep = null;
    const completion = run1(frame);
    if (completion !== NORMAL) return completion;
    const untilCheck2 = machine.untilCheck - fuel2;
    machine.untilCheck = untilCheck2;
    if (untilCheck2 < 0) machine.refill(at2);
    machine.statementBytes = 0;
    frame.keep = null;
    return run2(frame);
  };
}

function many(machine: Machine, steps: readonly Step[]): Exec {
  return (frame) => {
    for (let index = 0; index < steps.length; index++) {
      const next = steps[index];
      if (next === undefined) break;
      const untilCheck = machine.untilCheck - next.fuel;
      machine.untilCheck = untilCheck;
      if (untilCheck < 0) machine.refill(next.at);
      machine.statementBytes = 0;
      frame.keep = null;
      const completion = next.run(frame);
      if (completion !== NORMAL) return completion;
    }
    return NORMAL;
  };
}

/** A block that offers every error to the nearest handler. */
export function guardedBlock(machine: Machine, steps: readonly Step[], nearest: Guard, own: Guard | null): Exec {
  return (frame) => {
    for (let index = 0; index < steps.length; index++) {
      let completion: Completion;
      try {
        completion = step(machine, frame, steps, index);
      } catch (thrown) {
        completion = recover(machine, frame, thrown, nearest, own);
      }
      if (completion !== NORMAL) return arrive(completion, own);
    }
    return NORMAL;
  };
}

function step(machine: Machine, frame: Frame, steps: readonly Step[], index: number): Completion {
  const next = steps[index];
  if (next === undefined) return NORMAL;
  machine.begin(frame, next.fuel, next.at);
  return next.run(frame);
}

/** Two statements, of which the first is a counting one, paid together. If fuel runs short or a value is no number, they run one by one. */
export function pair(machine: Machine, counting: Counting, first: Step, second: Step): Exec {
  const fuel = first.fuel + second.fuel;
  const { run, counting: next } = second;
  const oneByOne = two(machine, first, second);
  if (next !== undefined)
    return (frame) => {
      const untilCheck = machine.untilCheck - fuel;
      if (untilCheck < 0 || !counting(frame)) return oneByOne(frame);
      machine.untilCheck = untilCheck;
      machine.statementBytes = 0;
      frame.keep = null;
      return next(frame) ? NORMAL : run(frame);
    };
  return (frame) => {
    const untilCheck = machine.untilCheck - fuel;
    if (untilCheck < 0 || !counting(frame)) return oneByOne(frame);
    machine.untilCheck = untilCheck;
    machine.statementBytes = 0;
    frame.keep = null;
    return run(frame);
  };
}

/** Runs a body as long as a condition holds. No number of passes is too many: fuel and time bound every run. */
export function whileLoop(machine: Machine, condition: Eval, body: Exec, fuel: number, at: number): Exec {
  return (frame) => {
    for (;;) {
      const untilCheck = machine.untilCheck - fuel;
      machine.untilCheck = untilCheck;
      if (untilCheck < 0) machine.refill(at);
      machine.statementBytes = 0;
      frame.keep = null;
      const holds = condition(frame);
      if (holds !== true && (holds === false || !truthy(holds))) return NORMAL;
      const completion = body(frame);
      if (completion === NORMAL || completion === CONTINUE) continue;
      return completion === BREAK ? NORMAL : completion;
    }
  };
}
