import { foreignFunction } from '../../grammar/advice/functions.ts';
import type { CallExpr, ToolCallExpr } from '../../grammar/index.ts';
import { STEP_FUEL } from '../wire/costs.ts';
import { builtin, wrongCount } from './builtins.ts';
import type { Context } from './context.ts';
import type { Eval, Slot } from './frame.ts';
import { callTool } from './hostcalls.ts';
import { invoke, newFrame } from './invoke.ts';
import type { Machine } from './machine.ts';
import type { Callee, Procedure } from './procedure.ts';
import type { PureTool } from './puretool.ts';
import type { Value } from './values.ts';
import { WORK } from './work.ts';

/** A call by name, of a built-in function or a procedure. */
export function compileCall(context: Context, expr: CallExpr): Eval {
  context.spend();
  const known = builtin(expr.name.name);
  return known === undefined ? compileProcedureCall(context, expr) : compileBuiltin(context, expr, known);
}

function compileBuiltin(context: Context, expr: CallExpr, run: (machine: Machine, argument: Value) => Value): Eval {
  const { machine } = context;
  const at = expr.s;
  const outside = looksOutside(expr.name.name);
  const args = expr.args.map((arg) => (outside ? context.kept(arg) : context.expr(arg)));
  const [argument] = args;
  if (argument === undefined || args.length !== 1) {
    return (frame) => {
      for (const arg of args) arg(frame);
      machine.at = at;
      return wrongCount(machine, expr.name.name, args.length);
    };
  }
  return (frame) => {
    const value = argument(frame);
    machine.at = at;
    return run(machine, value);
  };
}

/** Whether the result of a built-in tells the type or the length of a value, and nothing of its parts. */
function looksOutside(name: string): boolean {
  const lower = name.toLowerCase();
  return lower === 'len' || lower === 'typeof' || lower.startsWith('is_');
}

/** Looks the procedure up at the first call, when all files are loaded. Arguments are evaluated before the lookup. */
function compileProcedureCall(context: Context, expr: CallExpr): Eval {
  const { machine, depth } = context;
  const { name } = expr.name;
  const at = expr.s;
  const args = expr.args.map((arg) => context.stored(arg));
  let callee: Callee | undefined;
  const link = (): Callee => {
    callee = linked(context, name, args.length, at);
    return callee;
  };
  const [first, second] = args;
  if (first === undefined)
    return () => {
      const target = callee ?? link();
      return invoke(machine, target, newFrame(machine, target), at, depth);
    };
  if (second === undefined)
    return (frame) => {
      const a = first(frame);
      const target = callee ?? link();
      const called = newFrame(machine, target);
      called.slots[0] = a;
      return invoke(machine, target, called, at, depth);
    };
  if (args.length === 2)
    return (frame) => {
      const a = first(frame);
      const b = second(frame);
      const target = callee ?? link();
      const called = newFrame(machine, target);
      called.slots[0] = a;
      called.slots[1] = b;
      return invoke(machine, target, called, at, depth);
    };
  return (frame) => {
    const values: Slot[] = [];
    for (const arg of args) values.push(arg(frame));
    const target = callee ?? link();
    const called = newFrame(machine, target);
    for (let slot = 0; slot < values.length; slot++) called.slots[slot] = values[slot];
    return invoke(machine, target, called, at, depth);
  };
}

function linked(context: Context, name: string, given: number, at: number): Callee {
  return linkedProcedure(context, name, given, at).code;
}

/** The procedure of a name. Fails when there is none, or when it does not take so many arguments. */
export function linkedProcedure({ machine, linkage }: Context, name: string, given: number, at: number): Procedure {
  machine.at = at;
  const procedure = linkage.procedure(name);
  if (procedure === undefined) {
    const similar = linkage.similar(name);
    const hint =
      similar === undefined
        ? (foreignFunction(name) ?? `define it with 'func ${name}(…) means', or call a tool as tool.group.name(…)`)
        : `did you mean '${similar}'? Names are case-sensitive`;
    return machine.fail('ProcNotFound', `procedure '${name}' not found`, hint);
  }
  if (!procedure.accepts(given)) machine.fail('ArgMismatch', procedure.countMessage(given));
  return procedure;
}

/** `tool.group.name(…)`, which calls the host, or the tool itself if it is a pure one. */
export function compileToolCall(context: Context, expr: ToolCallExpr): Eval {
  const { machine } = context;
  context.spend();
  const args = expr.args.map((arg) => context.expr(arg));
  const { name, s: at } = expr;
  const pure = machine.pure.get(name);
  if (pure !== undefined) return compilePureCall(machine, args, probedTool(machine, name, pure), at);
  return (frame) => {
    const values: Value[] = [];
    for (const arg of args) values.push(arg(frame));
    machine.at = at;
    return callTool(machine, frame, name, values);
  };
}

const PURE = STEP_FUEL.pure.amount;

function compilePureCall(machine: Machine, args: readonly Eval[], tool: PureTool, at: number): Eval {
  return (frame) => {
    const values = new Array<Value>(args.length);
    for (let index = 0; index < args.length; index++) values[index] = args[index]?.(frame) ?? null;
    return callPure(machine, tool, values, at);
  };
}

/** Pays for a call of a pure tool, and makes it. */
export function callPure(machine: Machine, tool: PureTool, values: Value[], at: number): Value {
  machine.at = at;
  machine.step(PURE, at);
  machine.hasten(WORK.pureCall);
  return tool(machine, values);
}

/** A pure tool that a measured run counts by itself. */
export function probedTool({ probe }: Machine, name: string, tool: PureTool): PureTool {
  return probe === null ? tool : (meter, values) => probe.call('tool', name, () => tool(meter, values));
}
