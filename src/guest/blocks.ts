import type { ErrorHandler, Stmt } from '../../grammar/index.ts';
import { ERROR_VARIABLES } from '../../grammar/vocabulary/builtins.ts';
import { STEP_FUEL } from '../wire/costs.ts';
import type { GuestBlock } from '../wire/protocol.ts';
import type { Context } from './context.ts';
import type { Exec } from './frame.ts';
import { checkEvalDepth } from './invoke.ts';
import type { Machine } from './machine.ts';
import { Guard } from './onerror.ts';
import type { Probe } from './probe.ts';
import { guardedBlock, pair, plainBlock, type Step } from './steps.ts';
import { compileCounting } from './superinstructions.ts';

/** Compiles a block. With a handler in or around it, the block recovers from errors. */
export function compileBlock(context: Context, block: GuestBlock): Exec {
  const { machine, entering } = context;
  context.entering = false;
  const outer = context.guard;
  const own = block.onError === undefined ? null : new Guard(block.onError);
  context.guard = own ?? outer;
  const steps: Step[] = [];
  compileSteps(context, block.stmts, steps);
  if (block.more !== undefined) for (const part of block.more) compileSteps(context, context.file.statements(part), steps);
  const [first] = steps;
  if (entering && first !== undefined) {
    context.entryFuel = first.fuel;
    steps[0] = { ...first, fuel: 0 };
  }
  const nearest = context.guard;
  context.guard = outer;
  if (own !== null) {
    own.body = compileHandler(context, own.handler);
    own.spot = machine.probe?.spot('handler', { name: 'on error', file: context.file, at: own.handler.s }) ?? null;
  }
  const all = machine.probe === null ? steps : probedSteps(machine, machine.probe, steps, entering ? context.entryFuel : 0);
  return nearest === null ? plainBlock(machine, paired(machine, all)) : guardedBlock(machine, all, nearest, own);
}

function compileSteps(context: Context, stmts: readonly Stmt[], steps: Step[]): void {
  for (const stmt of stmts) {
    const step = compileStep(context, stmt);
    if (step !== null) steps.push(step);
  }
}

/** Statements that tell the probe when they begin and end. `prepaid`: fuel of the first one, which the call of its procedure has paid. */
function probedSteps(machine: Machine, probe: Probe, steps: readonly Step[], prepaid: number): readonly Step[] {
  return steps.map(({ run, fuel, at, spot }, index) => {
    if (spot === undefined) return { run, fuel, at };
    const paid = index === 0 ? prepaid : 0;
    const probed: Exec = (frame) => {
      const { node, line } = probe;
      probe.statement(spot, paid);
      try {
        machine.begin(frame, fuel, at);
        return run(frame);
      } finally {
        probe.back(node, line);
      }
    };
    return { run: probed, fuel: 0, at };
  });
}

/** A handler's body. Only a handler within it guards it, because an error in a handler skips that handler (P16). */
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
  // As `separately` does, without a closure for each statement.
  const outerCost = context.cost;
  context.cost = 0;
  const compiled = context.compilers.stmt(context, stmt);
  const fuel = STEP_FUEL.statement.amount + context.cost;
  context.cost = outerCost;
  const counting = context.repeats ? compileCounting(context, stmt) : undefined;
  const depth = context.statementDepth;
  context.statementDepth = outerDepth;
  const run = context.checked ? withDepthCheck(context.machine, compiled, depth, stmt.s) : compiled;
  const spot = context.machine.probe?.spot('statement', { name: stmt.k, file: context.file, at: stmt.s });
  if (counting === undefined && spot === undefined) return { run, fuel, at: stmt.s };
  return { run, fuel, at: stmt.s, ...(counting && { counting }), ...(spot && { spot }) };
}

/** Joins each counting statement with the one after it. */
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
    all.push({ run: pair(machine, first.counting, first, second), fuel: 0, begins: true, at: first.at });
    index++;
  }
  return all;
}

/** Checks the evaluation depth before a statement. Nested blocks check their own statements. */
function withDepthCheck(machine: Machine, run: Exec, depth: number, at: number): Exec {
  return (frame) => {
    machine.at = at;
    checkEvalDepth(machine, frame.depth + depth);
    return run(frame);
  };
}
