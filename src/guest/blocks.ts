import type { Block, ErrorHandler, Stmt } from '../../grammar/index.ts';
import { ERROR_VARIABLES } from '../../grammar/vocabulary/builtins.ts';
import { STEP_FUEL } from '../wire/costs.ts';
import type { Context } from './context.ts';
import { type Completion, type Exec, type Frame, NORMAL } from './frame.ts';
import { type Counting, compileCounting } from './increment.ts';
import { checkEvalDepth } from './invoke.ts';
import type { Machine } from './machine.ts';
import { arrive, Guard, recover } from './onerror.ts';
import { compileStmt } from './statements.ts';

/** A compiled statement with what is charged before it runs. */
interface Step {
  readonly run: Exec;
  /** 0 when the call has paid for it, or it pays for itself. */
  readonly fuel: number;
  readonly at: number;
  /** The whole statement, if it may be done before it is paid. */
  readonly counting?: Counting;
}

/** Compiles a block; with a handler in or around it, one that recovers. */
export function compileBlock(context: Context, block: Block): Exec {
  const { machine, entering } = context;
  context.entering = false;
  const outer = context.guard;
  const own = block.onError === undefined ? null : new Guard(block.onError);
  context.guard = own ?? outer;
  const steps: Step[] = [];
  for (const stmt of block.stmts) {
    const step = compileStep(context, stmt);
    if (step !== null) steps.push(step);
  }
  const [first] = steps;
  if (entering && first !== undefined) {
    context.entryFuel = first.fuel;
    steps[0] = { ...first, fuel: 0 };
  }
  const nearest = context.guard;
  context.guard = outer;
  if (own !== null) own.body = compileHandler(context, own.handler);
  return nearest === null ? plainBlock(machine, paired(machine, steps)) : guardedBlock(machine, steps, nearest, own);
}

/** A handler's body: guarded by what stands in it alone, because an error in it skips the handler it belongs to (P16). */
function compileHandler(context: Context, handler: ErrorHandler): Exec {
  const { inHandler, guard } = context;
  context.inHandler = true;
  context.guard = null;
  for (const name of ERROR_VARIABLES) context.scope.slot(name);
  const body = context.nested(handler.body);
  context.inHandler = inHandler;
  context.guard = guard;
  return body;
}

/** Null for a place marker, which does nothing. */
function compileStep(context: Context, stmt: Stmt): Step | null {
  if (stmt.k === 'on_error' || stmt.k === 'on_event') return null;
  const outerDepth = context.statementDepth;
  context.statementDepth = context.depth;
  const { compiled, cost } = context.separately(() => compileStmt(context, stmt));
  const counting = compileCounting(context, stmt);
  const depth = context.statementDepth;
  context.statementDepth = outerDepth;
  const run = context.checked ? withDepthCheck(context.machine, compiled, depth, stmt.s) : compiled;
  return { run, fuel: STEP_FUEL.statement.amount + cost, at: stmt.s, ...(counting === undefined ? {} : { counting }) };
}

/** The steps of a block, each one that counts made one with the next. */
function paired(machine: Machine, steps: readonly Step[]): readonly Step[] {
  const all: Step[] = [];
  for (let index = 0; index < steps.length; index++) {
    const first = steps[index];
    const second = steps[index + 1];
    if (first === undefined) break;
    if (first.counting === undefined || first.fuel === 0 || second === undefined) {
      all.push(first);
      continue;
    }
    all.push({ run: pair(machine, first.counting, first, second), fuel: 0, at: first.at });
    index++;
  }
  return all;
}

/** Two statements of which the first counts, paid at once. Where that goes wrong in any way they are taken one after the other. */
function pair(machine: Machine, counting: Counting, first: Step, second: Step): Exec {
  const fuel = first.fuel + second.fuel;
  const { run } = second;
  const single = two(machine, first, second);
  return (frame) => {
    const left = machine.untilCheck - fuel;
    if (left < 0 || !counting(frame)) return single(frame);
    machine.untilCheck = left;
    machine.statementBytes = 0;
    frame.keep = null;
    return run(frame);
  };
}

/** Only in the frame in which the evaluation depth may be met: nested blocks check their own statements. */
function withDepthCheck(machine: Machine, run: Exec, depth: number, at: number): Exec {
  return (frame) => {
    machine.at = at;
    checkEvalDepth(machine, frame.depth + depth);
    return run(frame);
  };
}

function plainBlock(machine: Machine, steps: readonly Step[]): Exec {
  const [first, second] = steps;
  if (first !== undefined && steps.length === 1) return one(machine, first);
  if (first !== undefined && second !== undefined && steps.length === 2) return two(machine, first, second);
  return many(machine, steps);
}

function one(machine: Machine, { run, fuel, at }: Step): Exec {
  return (frame) => {
    const left = machine.untilCheck - fuel;
    machine.untilCheck = left;
    if (left < 0) machine.refill(at);
    machine.statementBytes = 0;
    frame.keep = null;
    return run(frame);
  };
}

function two(machine: Machine, first: Step, second: Step): Exec {
  const { run: run1, fuel: fuel1, at: at1 } = first;
  const { run: run2, fuel: fuel2, at: at2 } = second;
  return (frame) => {
    const left1 = machine.untilCheck - fuel1;
    machine.untilCheck = left1;
    if (left1 < 0) machine.refill(at1);
    machine.statementBytes = 0;
    frame.keep = null;
    const completion = run1(frame);
    if (completion !== NORMAL) return completion;
    const left2 = machine.untilCheck - fuel2;
    machine.untilCheck = left2;
    if (left2 < 0) machine.refill(at2);
    machine.statementBytes = 0;
    frame.keep = null;
    return run2(frame);
  };
}

function many(machine: Machine, steps: readonly Step[]): Exec {
  return (frame) => {
    for (let index = 0; index < steps.length; index++) {
      const completion = step(machine, frame, steps, index);
      if (completion !== NORMAL) return completion;
    }
    return NORMAL;
  };
}

function guardedBlock(machine: Machine, steps: readonly Step[], nearest: Guard, own: Guard | null): Exec {
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
