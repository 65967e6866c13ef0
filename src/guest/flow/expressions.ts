import type { AccessExpr, BinaryExpr, BinaryOp, EvalExpr, Expr, ListExpr, MapExpr, NameExpr } from '../../../grammar/index.ts';
import { VALUE_BYTES } from '../../wire/costs.ts';
import { element } from '../access.ts';
import { putEntry } from '../assign.ts';
import { combined, decided, NESTED_TERMS } from '../binary.ts';
import type { Context } from '../context.ts';
import { evalText, readField } from '../evaltext.ts';
import { compileExpr } from '../expressions.ts';
import type { Eval, Frame } from '../frame.ts';
import type { Machine } from '../machine.ts';
import { checkValue, newList } from '../measure.ts';
import { listBytes } from '../memory.ts';
import { toText } from '../text.ts';
import { Dict, type Value } from '../values.ts';
import { lookup } from '../variables.ts';
import { compileFlowCall, compileFlowTool } from './calls.ts';
import { evaluated, markAll } from './evaluated.ts';
import { FIRST, type Flow, LAST, spread } from './flow.ts';
import { deepOf, partOf, replaceMark } from './held.ts';
import type { Label } from './origins.ts';
import { flowOf } from './run.ts';

/** Compiles an expression whose value goes on as it is. Evaluating it adds the labels of the value itself, but not those of its parts. */
export function flowKept(context: Context, expr: Expr): Eval {
  const flow = flowOf(context);
  switch (expr.k) {
    case 'name':
      return compileName(context, flow, expr);
    case 'last': {
      const last = compileExpr(context, expr);
      return (frame) => {
        flow.acc |= frame.labels[LAST] ?? 0;
        return last(frame);
      };
    }
    case 'group':
      return flowKept(context, expr.of);
    case 'list':
      return compileList(context, flow, expr);
    case 'map':
      return compileMap(context, flow, expr);
    case 'access':
      return compileAccess(context, flow, expr);
    case 'eval':
      return compileEval(context, flow, expr);
    case 'binary':
      return isLogic(expr.rest[0]?.op) ? compileLogic(context, flow, expr) : compileExpr(context, expr);
    case 'call':
      return compileFlowCall(context, flow, expr);
    case 'tool':
      return compileFlowTool(context, flow, expr);
    default:
      return compileExpr(context, expr);
  }
}

/** Compiles an expression whose value is looked into: evaluating it adds the labels of its parts, too. */
export function flowExpr(context: Context, expr: Expr): Eval {
  const value = flowKept(context, expr);
  if (!mayHold(expr)) return value;
  const flow = flowOf(context);
  return (frame) => {
    const made = value(frame);
    if (typeof made === 'object' && made !== null) flow.acc |= deepOf(made);
    return made;
  };
}

/** Whether the value may have parts with labels that were not read when it was made. */
function mayHold(expr: Expr): boolean {
  switch (expr.k) {
    case 'name':
    case 'last':
    case 'access':
    case 'list':
    case 'map':
    case 'call':
    case 'tool':
      return true;
    case 'group':
    case 'eval':
      return mayHold(expr.of);
    default:
      return false;
  }
}

function compileName(context: Context, flow: Flow, expr: NameExpr): Eval {
  const { name } = expr;
  const value = compileExpr(context, expr);
  const slot = context.scope.slot(name);
  const place = FIRST + slot;
  const { globals, constants } = context.machine;
  const { globals: given, constants: defined } = flow;
  if (globals.has(name)) {
    const label = given.get(name) ?? 0;
    return (frame) => {
      flow.acc |= frame.labels[place] ?? 0;
      if (frame.slots[slot] === undefined) flow.acc |= label;
      return value(frame);
    };
  }
  return (frame) => {
    flow.acc |= frame.labels[place] ?? 0;
    const local = frame.slots[slot];
    if (local !== undefined) return local;
    if (defined.size > 0) flow.acc |= defined.get(name) ?? 0;
    return constants.get(name) ?? null;
  };
}

function compileList(context: Context, flow: Flow, expr: ListExpr): Eval {
  const { machine } = context;
  context.spend(1 + expr.items.length);
  const items = expr.items.map((item) => context.stored(item));
  const bytes = listBytes(items.length);
  return (frame) => {
    const { acc } = flow;
    const labels = new Array<Label>(items.length);
    const values = evaluated(flow, frame, items, labels);
    flow.acc = acc;
    machine.at = expr.s;
    machine.allocate(bytes);
    const list = newList(machine, values);
    markAll(machine, flow, list, labels);
    return list;
  };
}

function compileMap(context: Context, flow: Flow, expr: MapExpr): Eval {
  const { machine } = context;
  context.spend(1 + expr.entries.length);
  const entries = expr.entries.map(([key, value]) => ({ key: context.expr(key), at: key.s, value: context.stored(value) }));
  return (frame) => {
    machine.at = expr.s;
    machine.allocate(VALUE_BYTES.map.amount);
    const map = new Dict(new Map());
    for (const { key, at, value } of entries) {
      // The label of a key stays in `acc`: it decides which entries the map has, and so counts for all of them.
      const keyValue = key(frame);
      machine.at = at;
      const name = toText(machine, keyValue);
      const { acc } = flow;
      flow.risk |= acc;
      flow.acc = 0;
      const item = value(frame);
      const label = flow.acc;
      flow.risk |= label;
      flow.acc = acc;
      machine.at = at;
      putEntry(machine, map, name, item);
      replaceMark(map, name, label, deepOf(item));
    }
    machine.at = expr.s;
    checkValue(machine, map);
    if (map.held !== undefined) flow.memory.hold(machine, map.held.parts.size);
    return map;
  };
}

function compileAccess(context: Context, flow: Flow, expr: AccessExpr): Eval {
  const { machine } = context;
  context.spend(expr.steps.length);
  const base = context.kept(expr.base);
  const steps = expr.steps.map((step) => {
    const { s: at } = step;
    if (step.k === 'index') return { at, key: context.expr(step.index) };
    const { name } = step;
    return { at, key: (): Value => name };
  });
  return (frame) => {
    let value = base(frame);
    for (const { key, at } of steps) {
      const keyValue = key(frame);
      machine.at = at;
      flow.acc |= partOf(value, keyValue);
      value = element(machine, value, keyValue);
    }
    return value;
  };
}

/** `eval` reads the variables that its text names. */
function compileEval(context: Context, flow: Flow, expr: EvalExpr): Eval {
  const { machine } = context;
  context.spend();
  const of = context.kept(expr.of);
  const reading: typeof readField = (run, frame, path) => {
    flow.acc |= labelOf(run, flow, frame, path[0] ?? '');
    return readField(run, frame, path);
  };
  return (frame) => {
    const value = of(frame);
    machine.at = expr.s;
    return evalText(machine, frame, value, reading);
  };
}

function isLogic(op: BinaryOp | undefined): boolean {
  return op === 'and' || op === 'or';
}

/** A chain of `and` or `or`: what stands on the left decides whether the right side is evaluated, and what procedures in it say. */
function compileLogic(context: Context, flow: Flow, expr: BinaryExpr): Eval {
  const { machine } = context;
  context.spend(expr.rest.length);
  const compile = () => ({
    first: context.kept(expr.first),
    rest: flow.collect(() =>
      expr.rest.map(({ op, at, right }) => ({ op: op === 'and' ? op : ('or' as const), at, right: context.kept(right) })),
    ),
  });
  const { first, rest } = expr.rest.length > NESTED_TERMS ? compile() : context.deeper(expr.rest.length - 1, compile);
  const { compiled: terms, effects } = rest;
  return (frame) => {
    const { pc } = flow;
    let left = first(frame);
    for (const { op, at, right } of terms) {
      flow.pc |= flow.acc;
      left = decided(op, left) ? op === 'or' : combined(machine, op, left, right(frame), at);
    }
    if (flow.pc !== 0) spread(flow, frame, effects, flow.pc);
    flow.pc = pc;
    return left;
  };
}

/** The label of all that a name means in a frame: of its variable, else of the global or constant. */
function labelOf(machine: Machine, flow: Flow, frame: Frame, name: string): Label {
  return flow.named(frame, name, lookup(machine, frame, name));
}
