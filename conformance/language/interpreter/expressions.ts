/** Expressions: each becomes a value, or an error with its place. */
import type { AccessStep, CallExpr, Expr, SourceFile, Target, ToolCallExpr } from '../../../grammar/index.ts';
import { BUILTINS } from './builtins.ts';
import { read, type Step } from './elements.ts';
import { type Machine, placeIn, shared } from './machine.ts';
import type { Place } from './meter.ts';
import { binary, logic, unary } from './operators.ts';
import type { Labels } from './parts.ts';
import { placeholders } from './placeholders.ts';
import type { ToolCall, Tools } from './tools.ts';
import { Dict, List, type Value } from './values.ts';

/** What an expression needs of the procedure, event handler or commands around it. */
export interface Scope {
  readonly file: SourceFile;
  /** Reads a variable, a global or a constant. */
  lookup(name: string): Value;
  /** The value of the latest statement that has one. */
  readonly last: Value;
  /** Calls a procedure. `level` counts the expressions around the call. */
  call(expr: CallExpr, args: readonly Value[], labels: readonly Labels[], level: number, at: Place): Value;
  readonly tools: Tools;
}

/** Evaluates expressions in a scope. */
export class Evaluator {
  readonly #machine: Machine;
  readonly #scope: Scope;

  constructor(machine: Machine, scope: Scope) {
    this.#machine = machine;
    this.#scope = scope;
  }

  /** The value of an expression that goes to a place of its own: a variable, an item, an argument, the output. */
  take(expr: Expr, level = 1): Value {
    const value = this.look(expr, level);
    return isKept(expr) ? shared(value) : value;
  }

  /** The value of an expression that is only looked at: an operand, a base of an access, an argument of a built-in. */
  look(expr: Expr, level = 1): Value {
    return this.#machine.origin.of(expr, () => this.#look(expr, level));
  }

  #look(expr: Expr, level: number): Value {
    const at = this.#place(expr.s);
    switch (expr.k) {
      case 'num':
      case 'bool':
        return expr.v;
      case 'str':
        this.#machine.meter.bound('textLength', expr.v.length, at);
        return expr.v;
      case 'nil':
        return null;
      case 'name':
        return this.#scope.lookup(expr.name);
      case 'last':
        return this.#scope.last;
      case 'group':
        return this.look(expr.of, level);
      case 'list': {
        const items = expr.items.map((item) => this.take(item, level + 1));
        this.#machine.meter.bound('listLength', items.length, at);
        return new List(items);
      }
      case 'map':
        return this.#map(expr.entries, level);
      case 'template':
        return this.#template(expr.parts, level, at);
      case 'text':
        return this.#machine.text(this.look(expr.of, level + 1), at);
      case 'eval':
        return this.#filled(this.look(expr.of, level + 1), at);
      case 'unary':
        return unary(this.#machine, expr.op, this.look(expr.of, level + 1), at);
      case 'power': {
        const base = this.look(expr.base, level + 1);
        return binary(this.#machine, '**', base, this.look(expr.exponent, level + 1), this.#place(expr.at));
      }
      case 'binary': {
        const inner = level + levelsWithin(expr);
        let left = this.look(expr.first, inner);
        for (const { op, at: operator, right } of expr.rest) {
          if (op === 'and' || op === 'or') {
            const { origin } = this.#machine;
            const lefts = origin.lefts();
            left = logic(op, left, () => origin.right(lefts, () => this.look(right, inner)));
            origin.sided(right, lefts);
          } else left = binary(this.#machine, op, left, this.look(right, inner), this.#place(operator));
        }
        return left;
      }
      case 'access': {
        let value = this.look(expr.base, level + 1);
        for (const step of expr.steps) value = read(this.#machine, value, this.#step(step, level + 1));
        return value;
      }
      case 'call':
        return this.#call(expr, level, at);
      case 'tool':
        return this.#scope.tools.call(this.toolCall(expr, level));
    }
  }

  /** The evaluated steps of a target. */
  steps({ steps }: Target): readonly Step[] {
    return steps.map((step) => this.#step(step, 1));
  }

  /** A call of a tool with its evaluated arguments. */
  toolCall(expr: ToolCallExpr, level: number): ToolCall {
    return { name: expr.name, ...this.labelled(expr.args, (arg) => this.look(arg, level + 1)), at: this.#place(expr.s) };
  }

  #step(step: AccessStep, level: number): Step {
    const at = this.#place(step.s);
    if (step.k === 'field') return { key: step.name, field: true, at };
    const key = this.look(step.index, level);
    const { origin } = this.#machine;
    return { key, field: false, at, label: origin.parts.deep(key, origin.latest) };
  }

  #map(entries: readonly (readonly [Expr, Expr])[], level: number): Dict {
    const map = new Dict();
    for (const [key, value] of entries) {
      const at = this.#place(key.s);
      const name = this.#machine.text(this.look(key, level + 1), at);
      const item = this.take(value, level + 1);
      if (!map.entries.has(name)) this.#machine.meter.bound('mapLength', map.entries.size + 1, at);
      map.entries.set(name, item);
    }
    return map;
  }

  #template(parts: readonly (string | Expr)[], level: number, at: Place): string {
    let text = '';
    for (const part of parts)
      text += typeof part === 'string' ? part : this.#machine.text(this.look(part, level + 1), this.#place(part.s));
    this.#machine.meter.bound('textLength', text.length, at);
    this.#machine.meter.spendFor(text.length, 'concat', at);
    return text;
  }

  #filled(value: Value, at: Place): Value {
    return typeof value === 'string' ? placeholders(this.#machine, value, (name) => this.#scope.lookup(name), at) : value;
  }

  #call(expr: CallExpr, level: number, at: Place): Value {
    const builtin = BUILTINS.get(expr.name.name.toLowerCase());
    if (builtin === undefined) {
      const { args, labels } = this.labelled(expr.args, (arg) => this.take(arg, level + 1));
      return this.#scope.call(expr, args, labels, level, at);
    }
    const args = expr.args.map((arg) => this.look(arg, level + 1));
    if (args.length !== 1) throw this.#machine.failure(4, `'${expr.name.name}' takes 1 argument, got ${args.length}`, at);
    return builtin(this.#machine, args[0] ?? null, at);
  }

  /** Values with their labels. */
  labelled(exprs: readonly Expr[], evaluate: (expr: Expr) => Value): { readonly args: Value[]; readonly labels: Labels[] } {
    const labels: Labels[] = [];
    const args = exprs.map((expr) => {
      const value = evaluate(expr);
      labels.push(this.#machine.origin.latest);
      return value;
    });
    return { args, labels };
  }

  #place(offset: number): Place {
    return placeIn(this.#scope.file, offset);
  }
}

/** Whether the value of an expression stays where it came from: in a variable or in a list or map. */
function isKept(expr: Expr): boolean {
  if (expr.k === 'group' || expr.k === 'eval') return isKept(expr.of);
  return expr.k === 'name' || expr.k === 'last' || expr.k === 'access';
}

/** Fuel of the operations of an expression and of all its parts, which is charged before its statement starts. */
export function operationsIn(expr: Expr): number {
  return own(expr) + childrenOf(expr).reduce((sum, child) => sum + operationsIn(child), 0);
}

/** Levels of nested expressions. Names, literals and parentheses add none. */
export function levelsOf(expr: Expr): number {
  if (expr.k === 'group') return levelsOf(expr.of);
  if (expr.k === 'unary' && expr.op === '-' && expr.of.k === 'num') return 1;
  return levelsWithin(expr) + childrenOf(expr).reduce((most, child) => Math.max(most, levelsOf(child)), 0);
}

/** Levels that an expression puts around its parts: a chain of operators has one for each operator. */
function levelsWithin(expr: Expr): number {
  return expr.k === 'binary' ? expr.rest.length : 1;
}

function own(expr: Expr): number {
  switch (expr.k) {
    case 'num':
    case 'str':
    case 'bool':
    case 'nil':
    case 'name':
    case 'last':
    case 'group':
      return 0;
    case 'list':
      return 1 + expr.items.length;
    case 'map':
      return 1 + expr.entries.length;
    case 'template':
      return 1 + expr.parts.length;
    case 'binary':
      return expr.rest.length;
    case 'access':
      return expr.steps.length;
    default:
      return 1;
  }
}

export function childrenOf(expr: Expr): readonly Expr[] {
  switch (expr.k) {
    case 'list':
      return expr.items;
    case 'map':
      return expr.entries.flat();
    case 'template':
      return expr.parts.filter((part) => typeof part !== 'string');
    case 'text':
    case 'eval':
    case 'group':
    case 'unary':
      return [expr.of];
    case 'power':
      return [expr.base, expr.exponent];
    case 'binary':
      return [expr.first, ...expr.rest.map(({ right }) => right)];
    case 'access':
      return [expr.base, ...expr.steps.flatMap((step) => (step.k === 'index' ? [step.index] : []))];
    case 'call':
    case 'tool':
      return expr.args;
    default:
      return [];
  }
}
