import type { AccessExpr, Expr, ListExpr, NameExpr, TemplateExpr, UnaryExpr } from '../../grammar/index.ts';
import { element, missing } from './access.ts';
import { compileBinary } from './binary.ts';
import { compileCall, compileToolCall } from './calls.ts';
import type { Context } from './context.ts';
import { InternalError } from './errors.ts';
import { evalText } from './evaltext.ts';
import type { Eval, Frame } from './frame.ts';
import type { Machine } from './machine.ts';
import { compileMap } from './maps.ts';
import { newList } from './measure.ts';
import { listBytes } from './memory.ts';
import { SHORT_KEY } from './meter.ts';
import { OPERATORS, unary } from './operators.ts';
import { toText } from './text.ts';
import { Dict, List, truthy, type Value } from './values.ts';
import { WORK } from './work.ts';

/** Compiles one expression; its parts through `context`. */
export function compileExpr(context: Context, expr: Expr): Eval {
  const { machine } = context;
  switch (expr.k) {
    case 'num':
    case 'bool': {
      const { v } = expr;
      return () => v;
    }
    case 'str': {
      const { v, s: at } = expr;
      if (machine.admitsText(v.length)) return () => v;
      return () => {
        machine.at = at;
        machine.checkText(v.length);
        return v;
      };
    }
    case 'nil':
      return () => null;
    case 'name':
      return compileName(context, expr);
    case 'last':
      context.sawLast = true;
      return (frame) => frame.last;
    case 'list':
      return compileList(context, expr);
    case 'map':
      return compileMap(context, expr);
    case 'template':
      return compileTemplate(context, expr);
    case 'text': {
      context.spend();
      const of = context.expr(expr.of);
      const at = expr.s;
      return (frame) => {
        const value = of(frame);
        machine.at = at;
        return toText(machine, value);
      };
    }
    case 'eval': {
      context.spend();
      const of = context.expr(expr.of);
      const at = expr.s;
      return (frame) => {
        const value = of(frame);
        machine.at = at;
        return evalText(machine, frame, value);
      };
    }
    // Brackets vanish when compiled, so they add no level of depth.
    case 'group':
      return compileExpr(context, expr.of);
    case 'unary':
      return compileUnary(context, expr);
    case 'power': {
      context.spend();
      const base = context.expr(expr.base);
      const exponent = context.expr(expr.exponent);
      const { at } = expr;
      return (frame) => {
        const left = base(frame);
        const right = exponent(frame);
        machine.at = at;
        return OPERATORS['**'](machine, left, right);
      };
    }
    case 'binary':
      return compileBinary(context, expr);
    case 'access':
      return compileAccess(context, expr);
    case 'call':
      return compileCall(context, expr);
    case 'tool':
      return compileToolCall(context, expr);
    default:
      return unknown(expr);
  }
}

function unknown(expr: never): never {
  throw new InternalError(`unknown expression ${JSON.stringify(expr).slice(0, 100)}`);
}

function compileName(context: Context, { name }: NameExpr): Eval {
  const { machine } = context;
  const slot = context.scope.slot(name);
  const global = machine.globals.get(name);
  if (global !== undefined) {
    return (frame) => {
      const value = frame.slots[slot];
      return value === undefined ? global : value;
    };
  }
  const { constants } = machine;
  return (frame) => {
    const value = frame.slots[slot];
    return value === undefined ? (constants.get(name) ?? null) : value;
  };
}

function compileUnary(context: Context, { op, of, s: at }: UnaryExpr): Eval {
  const { machine } = context;
  context.spend();
  if (op === '-' && of.k === 'num') {
    const negative = -of.v;
    return () => negative;
  }
  // Whether a list or map is empty, and what type a value has, says nothing of its parts.
  const operand = op === '-' || op === '~' ? context.expr(of) : context.kept(of);
  if (op === 'no') return (frame) => !truthy(operand(frame));
  if (op === 'some') return (frame) => truthy(operand(frame));
  return (frame) => {
    const value = operand(frame);
    if (op === 'not' && typeof value === 'boolean') return !value;
    machine.at = at;
    return unary(machine, op, value);
  };
}

function compileList(context: Context, expr: ListExpr): Eval {
  const { machine } = context;
  context.spend(1 + expr.items.length);
  const items = gathered(expr.items.map((item) => context.stored(item)));
  const bytes = listBytes(expr.items.length);
  const at = expr.s;
  return (frame) => {
    const values = items(frame);
    machine.at = at;
    machine.allocate(bytes);
    return newList(machine, values);
  };
}

/** Evaluates in order into an array of exactly that size. An array that grows by pushing takes several times the room. */
function gathered(evals: readonly Eval[]): (frame: Frame) => Value[] {
  const [first, second, third] = evals;
  if (first === undefined) return () => [];
  if (second === undefined) return (frame) => [first(frame)];
  if (third === undefined) return (frame) => [first(frame), second(frame)];
  if (evals.length === 3) return (frame) => [first(frame), second(frame), third(frame)];
  return (frame) => {
    const values = new Array<Value>(evals.length);
    for (const [index, item] of evals.entries()) values[index] = item(frame);
    return values;
  };
}

function compileTemplate(context: Context, expr: TemplateExpr): Eval {
  const { machine } = context;
  context.spend(1 + expr.parts.length);
  const parts = expr.parts.map((part) => (typeof part === 'string' ? { text: part } : { value: context.expr(part), at: part.s }));
  return (frame) => {
    const texts: string[] = [];
    let units = 0;
    for (const part of parts) {
      const text = part.value === undefined ? part.text : partText(machine, part.value(frame), part.at);
      texts.push(text);
      units += text.length;
    }
    machine.at = expr.s;
    machine.allocateText(units);
    machine.pay(WORK.concat, units);
    return texts.join('');
  };
}

function partText(machine: Machine, value: Value, at: number): string {
  machine.at = at;
  return toText(machine, value);
}

function compileAccess(context: Context, expr: AccessExpr): Eval {
  const { machine } = context;
  context.spend(expr.steps.length);
  const base = context.expr(expr.base);
  const steps = expr.steps.map((step) => {
    const { s: at } = step;
    if (step.k === 'index') return { at, key: context.expr(step.index), isWritten: step.index.k === 'str' };
    const { name } = step;
    return { at, key: (): Value => name, isWritten: true };
  });
  const [only] = steps;
  const [first] = expr.steps;
  if (only !== undefined && steps.length === 1) {
    const name = first?.k === 'field' ? first.name : first?.index.k === 'str' ? first.index.v : undefined;
    if (name !== undefined && name.length <= SHORT_KEY) return named(machine, base, name, only.at);
    return single(machine, base, only.key, only.at);
  }
  return (frame) => {
    let value = base(frame);
    for (const { key, at, isWritten } of steps) {
      const keyValue = key(frame);
      machine.at = at;
      const found = element(machine, value, keyValue);
      value = found === null && isWritten ? missing(machine, value, keyValue) : found;
    }
    return value;
  };
}

function single(machine: Machine, base: Eval, key: Eval, at: number): Eval {
  return (frame) => {
    const value = base(frame);
    const index = key(frame);
    if (value instanceof List && typeof index === 'number') {
      const item = value.items[index];
      if (item !== undefined) return item;
    }
    machine.at = at;
    return element(machine, value, index);
  };
}

/** `base["name"]` and `base.name`. */
function named(machine: Machine, base: Eval, name: string, at: number): Eval {
  return (frame) => {
    const value = base(frame);
    if (value instanceof Dict) return value.entries.get(name) ?? missing(machine, value, name);
    machine.at = at;
    return element(machine, value, name);
  };
}
