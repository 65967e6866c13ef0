import type { CallExpr, ToolCallExpr } from '../../../grammar/index.ts';
import { builtin } from '../builtins.ts';
import { compileCall, compileToolCall, linked } from '../calls.ts';
import type { Context } from '../context.ts';
import type { Eval } from '../frame.ts';
import { callTool } from '../hostcalls.ts';
import { invoke, newFrame } from '../invoke.ts';
import type { Callee } from '../procedure.ts';
import type { Value } from '../values.ts';
import { evaluated } from './evaluated.ts';
import { argumentLabel, type Flow } from './flow.ts';
import type { Label } from './origins.ts';

/** A call by name. A procedure's parameters have the labels of the arguments, each those of its own. */
export function compileFlowCall(context: Context, flow: Flow, expr: CallExpr): Eval {
  const { machine, depth } = context;
  const { name } = expr.name;
  if (builtin(name) !== undefined) return compileCall(context, expr);
  context.spend();
  flow.effects.call();
  const at = expr.s;
  const args = expr.args.map((arg) => context.stored(arg));
  let callee: Callee | undefined;
  return (frame) => {
    const { acc } = flow;
    const labels: Label[] = [];
    const values = evaluated(flow, frame, args, labels);
    callee ??= linked(context, name, values.length, at);
    const called = newFrame(machine, callee);
    for (let slot = 0; slot < values.length; slot++) called.slots[slot] = values[slot];
    flow.enter(callee.blank.length, labels);
    const value = invoke(machine, callee, called, at, depth);
    flow.acc = acc | flow.result;
    return value;
  };
}

/** A call of a tool. A pure tool is called as in any run: what it is given is looked into, and so its result carries it. */
export function compileFlowTool(context: Context, flow: Flow, expr: ToolCallExpr): Eval {
  const { machine } = context;
  const { name, s: at } = expr;
  if (machine.pure.has(name)) return compileToolCall(context, expr);
  context.spend();
  const args = expr.args.map((arg) => context.kept(arg));
  return (frame) => {
    const { acc } = flow;
    const values = flowArguments(flow, args, frame);
    machine.at = at;
    flow.acc = acc;
    const value = callTool(machine, frame, name, values);
    flow.acc |= acc;
    return value;
  };
}

/** Evaluates the arguments of a call to the host, and leaves their labels in `args`. */
export function flowArguments(flow: Flow, args: readonly Eval[], frame: Parameters<Eval>[0]): Value[] {
  const labels: Label[] = [];
  const values = evaluated(flow, frame, args, labels);
  flow.args = labels.map((label, index) => argumentLabel(label, values[index] ?? null));
  return values;
}
