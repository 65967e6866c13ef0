import type { CallExpr, ToolCallExpr } from '../../../grammar/index.ts';
import { builtin } from '../builtins.ts';
import { compileCall, compileToolCall, linkedProcedure } from '../calls.ts';
import type { Context } from '../context.ts';
import type { Eval } from '../frame.ts';
import { callTool } from '../hostcalls.ts';
import { invoke, newFrame } from '../invoke.ts';
import type { Procedure } from '../procedure.ts';
import type { Value } from '../values.ts';
import { evaluated } from './evaluated.ts';
import { argumentLabel, type Flow } from './flow.ts';
import { deepOf } from './held.ts';
import type { Label } from './origins.ts';

/**
 * A call by name. A procedure's parameters have the labels of the arguments, each those of its own. Without any it runs in the form that keeps
 * no labels, if there is one.
 */
export function compileFlowCall(context: Context, flow: Flow, expr: CallExpr): Eval {
  const { machine, depth } = context;
  const { unlabelled } = context.linkage;
  const { name } = expr.name;
  if (builtin(name) !== undefined) return compileCall(context, expr);
  context.spend();
  flow.effects.call();
  const at = expr.s;
  const args = expr.args.map((arg) => context.stored(arg));
  let procedure: Procedure | undefined;
  return (frame) => {
    const { acc } = flow;
    const labels: Label[] = [];
    const values = evaluated(flow, frame, args, labels);
    procedure ??= linkedProcedure(context, name, values.length, at);
    const form = flow.isClear && carriesNone(values, labels) ? unlabelled?.of(procedure) : null;
    const { code } = form ?? procedure;
    const called = newFrame(machine, code);
    for (let slot = 0; slot < values.length; slot++) called.slots[slot] = values[slot];
    if (form) flow.acc = flow.result = 0;
    else flow.enter(called, labels);
    const value = invoke(machine, code, called, at, depth);
    flow.acc = acc | flow.result;
    return value;
  };
}

function carriesNone(values: readonly Value[], labels: readonly Label[]): boolean {
  for (let index = 0; index < values.length; index++)
    if (labels[index] !== 0 || deepOf(values[index] ?? null) !== 0) return false;
  return true;
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
