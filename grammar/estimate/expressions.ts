/** The value of an expression, and its cost beyond the operations of its statement. */

import type { Target, WhisperStmt } from '../syntax/ast.ts';
import type { AccessStep, BinaryOp, CallExpr, Expr, ToolCallExpr } from '../syntax/astexpressions.ts';
import { acceptsCount } from '../syntax/certainty.ts';
import type { Span } from '../syntax/position.ts';
import { BUILTIN_ARITY, BUILTINS, type BuiltinName, builtinNamed } from '../vocabulary/builtins.ts';
import type { CallNode } from './calls.ts';
import { Charges } from './charges.ts';
import { binary, LONGEST_KNOWN } from './operators.ts';
import type { Session } from './session.ts';
import { type Cost, fuel, State } from './state.ts';
import {
  type Abstract,
  BOOLEAN,
  container,
  elementAt,
  join,
  knownBoolean,
  knownNumber,
  knownText,
  LIST,
  LOGICAL,
  literal,
  MAP,
  may,
  NIL,
  NOTHING,
  NUM,
  NUMBER,
  numberWithin,
  OTHER,
  only,
  origins,
  prefixOf,
  replaced,
  shownAs,
  TEXT,
  text,
  truthOf,
  UNKNOWN,
} from './values.ts';

/** Expressions whose value contains the values of their parts. */
const COMPUTED: ReadonlySet<Expr['k']> = new Set(['template', 'text', 'eval', 'unary', 'power', 'binary', 'access', 'call']);

/** Most bytes that a whisper counts beside its texts. */
const WHISPER_BYTES = 64;

export class Evaluation {
  /** The variables. Only a tool changes them while an expression is evaluated. */
  state: State;
  /** The variables after a failure of the statement; undefined if it may have set some of them. */
  unstored: State | undefined;
  readonly #session: Session;
  readonly #charges: Charges;
  /** The calls whose results are in the evaluated parts of the current expression. */
  #from: Pick<Abstract, 'from'> = {};

  constructor(session: Session, state: State) {
    this.#session = session;
    this.state = state;
    this.#charges = new Charges(session);
  }

  get cost(): Cost {
    return this.#charges.cost;
  }

  value(expr: Expr): Abstract {
    this.#session.step();
    this.#session.enter(1);
    const around = this.#from;
    this.#from = {};
    const value = this.#evaluate(expr);
    const made = this.#from.from !== undefined && COMPUTED.has(expr.k) && value.known === undefined;
    const { from } = made ? origins(value, { ...value, ...this.#from }) : value;
    this.#from = from === undefined ? around : origins(value, { ...value, from }, { ...value, ...around });
    this.#session.leave(1);
    return made && from !== undefined ? { ...value, from } : value;
  }

  #evaluate(expr: Expr): Abstract {
    switch (expr.k) {
      case 'num':
      case 'str':
      case 'bool':
      case 'nil':
        return literal(expr);
      case 'name':
        return this.state.get(expr.name);
      case 'last':
        return UNKNOWN;
      case 'list':
        return this.list(expr.items.map((item) => this.value(item)));
      case 'map':
        return this.#map(expr.entries);
      case 'template':
        return this.#template(expr.parts, expr);
      case 'text': {
        const of = this.value(expr.of);
        const units = this.#charges.text(of, expr);
        const shown = shownAs(of);
        return shown === undefined ? begins(text(units, of.plain), prefixOf(of)) : knownText(shown);
      }
      case 'eval':
        return this.#evaluated(this.value(expr.of), expr);
      case 'group':
        return this.value(expr.of);
      case 'unary':
        return this.#unary(expr.op, this.value(expr.of), expr);
      case 'power':
        this.#charges.numeric(this.value(expr.base), expr);
        this.#charges.numeric(this.value(expr.exponent), expr);
        return NUMBER;
      case 'binary':
        return this.#chain(expr.first, expr.rest);
      case 'access':
        return this.#access(expr.base, expr.steps);
      case 'call':
        return this.#call(expr);
      case 'tool':
        return this.#tool(expr);
    }
  }

  /** Charges for `emit`. A unit takes three bytes at most, and every line a line feed. */
  emit(value: Abstract, at: Span): void {
    this.#charges.most += this.#session.costs.steps.said.amount;
    this.#charges.output += 4 * this.#said(value, at) + 1;
  }

  whisper(handle: Abstract, value: Abstract, { handle: to, value: at }: WhisperStmt): void {
    this.#charges.most += this.#session.costs.steps.said.amount;
    this.#charges.scratch += 3 * (this.#said(handle, to) + this.#said(value, at)) + WHISPER_BYTES;
  }

  /** Charges for an output value, which is printed, counted in bytes, quoted, and written as JSON. Returns its length as text. */
  #said(value: Abstract, at: Span): number {
    const what = 'the emitted value';
    const units = this.#charges.text(value, at, what);
    this.#charges.spend(units, 'text', what, at);
    this.#charges.spend((value.plain ? units : 6 * units) + 2, 'json', what, at);
    if (!only(value, TEXT)) this.#charges.written(value, 'json', what, at);
    this.#charges.bytes += 200 + 16 * (units + value.size);
    return units;
  }

  /** Charges for a call of the host. Afterwards nothing is known of the variables, unless the call leaves them alone. */
  host(name: string, node: CallNode, args: readonly Abstract[], message: string): Abstract {
    const at = node;
    const charges = this.#charges;
    const calls = this.#session.called(name, node, args);
    charges.add({ ...fuel(this.#session.costs.steps.host.amount), calls, certain: calls });
    for (const value of args) charges.handed(value, 'an argument', at);
    charges.most += this.#session.unbounded(message, at);
    // The answer, which may also be a long message of an error.
    charges.bytes += Number.POSITIVE_INFINITY;
    if (!this.#session.keeping.has(name)) this.state = State.any;
    const place = this.#session.calls.place(node);
    return { ...UNKNOWN, from: [place], answer: { place } };
  }

  /** As {@link value}, for a call that runs together with others, so that it cannot set variables. */
  together(call: ToolCallExpr): Abstract {
    const args = call.args.map((arg) => this.value(arg));
    const { state } = this;
    const value = this.#tool(call, args);
    this.state = state;
    return value;
  }

  /** Stores a value in a variable or an element of it. */
  store({ name, steps }: Target, value: Abstract): void {
    const base = this.state.get(name.name);
    // Each of the many targets that one statement may have copies the state.
    this.#session.step(this.state.size >> 3);
    if (steps.length === 0) {
      this.state = this.state.with(name.name, value);
      return;
    }
    let size = base.size + value.size;
    let nodes = base.nodes + value.nodes;
    let added = 0;
    let known: Partial<Abstract> = {};
    for (const step of steps) {
      const key = step.k === 'field' ? knownText(step.name) : this.value(step.index);
      if (steps.length === 1) known = replaced(base, key, value);
      const units = this.#charges.text(key, step);
      this.#charges.numeric(key, step);
      if (base.nodes === Number.POSITIVE_INFINITY)
        this.#charges.most += this.#session.unbounded(`writing to \`${name.name}\` may copy it, and its size is not known`, step);
      else this.#charges.spend(base.nodes, 'copy', 'the copied value', step);
      const pad =
        step.k === 'field' || !may(key, NUM | TEXT | OTHER) ? 0 : Math.min(this.#session.costs.padding, Math.max(0, key.max)) + 1;
      this.#charges.spend(pad, 'copy', 'the padding', step);
      size += 6 * units + 10 + 5 * pad;
      nodes += 1 + pad;
      added += 1 + pad;
    }
    const { list, map, item, entry } = this.#session.costs.values;
    const [own, each] = [Math.max(list.amount, map.amount), Math.max(item.amount, entry.amount)];
    this.#charges.bytes += own * steps.length + each * nodes + 2 * size;
    const types = only(base, LIST) ? LIST : only(base, MAP) ? MAP : LIST | MAP;
    const made = container(types, { size, nodes, least: base.least, most: base.most + added });
    this.state = this.state.with(name.name, { ...made, ...origins(base, value), ...known });
  }

  /** Charges for turning a value into text. */
  shown(value: Abstract, at: Span): void {
    this.#charges.text(value, at);
  }

  list(items: readonly Abstract[]): Abstract {
    let size = 2;
    let nodes = items.length;
    for (const item of items) {
      size += item.size + 2;
      nodes += item.nodes;
    }
    const { list, item } = this.#session.costs.values;
    this.#charges.bytes += list.amount + item.amount * items.length;
    const made = { ...container(LIST, { size, nodes, least: items.length, most: items.length }), items };
    return items.length === 0 ? made : { ...made, item: items.reduce(join), ...origins(...items) };
  }

  #map(entries: readonly (readonly [Expr, Expr])[]): Abstract {
    const { map, entry } = this.#session.costs.values;
    this.#charges.bytes += map.amount;
    let size = 2;
    let nodes = entries.length;
    const fields = new Map<string, Abstract>();
    for (const [key, expr] of entries) {
      const name = this.value(key);
      const units = this.#charges.text(name, key);
      const value = this.value(expr);
      if (typeof name.known === 'string') fields.set(name.known, value);
      size += 6 * units + 7 + value.size;
      nodes += value.nodes;
      this.#charges.bytes += entry.amount + 2 * units;
    }
    const certain = fields.size === entries.length;
    const made = container(MAP, {
      size,
      nodes,
      least: certain ? fields.size : Math.min(1, entries.length),
      most: entries.length,
    });
    return { ...made, ...origins(...fields.values()), ...(certain ? { fields } : {}) };
  }

  #template(parts: readonly (string | Expr)[], at: Span): Abstract {
    let units = 0;
    let plain = true;
    let prefix = '';
    let certain = true;
    for (const part of parts) {
      const value = typeof part === 'string' ? knownText(part) : this.value(part);
      const shown = shownAs(value);
      if (certain) prefix += shown ?? prefixOf(value);
      certain &&= shown !== undefined && prefix.length < LONGEST_KNOWN;
      units += this.#charges.text(value, typeof part === 'string' ? at : part);
      plain &&= value.plain;
    }
    this.#charges.spend(units, 'concat', 'the text', at);
    const made = this.#charges.made(units, plain);
    return certain ? knownText(prefix) : begins(made, prefix);
  }

  #evaluated(value: Abstract, at: Span): Abstract {
    if (!may(value, TEXT)) return value;
    this.#charges.scan(value, 1, at);
    if (typeof value.known === 'string' && !value.known.includes('{{')) return value;
    this.#charges.most += this.#session.unbounded('the text that `eval` fills in may have any size', at);
    return UNKNOWN;
  }

  #unary(op: string, value: Abstract, at: Span): Abstract {
    const truth = truthOf(value);
    switch (op) {
      case '-':
        this.#charges.numeric(value, at);
        return only(value, NUM) && typeof value.known === 'number' ? knownNumber(-value.known) : NUMBER;
      case '~':
        this.#charges.numeric(value, at);
        return NUMBER;
      case 'typeof':
        return text(8, true);
      case 'some':
        return truth === undefined ? BOOLEAN : knownBoolean(truth);
      default:
        return truth === undefined ? LOGICAL : knownBoolean(!truth);
    }
  }

  #chain(first: Expr, rest: readonly { readonly op: BinaryOp; readonly at: number; readonly right: Expr }[]): Abstract {
    let left = this.value(first);
    for (const { op, at, right } of rest) {
      if (op === 'and' || op === 'or') left = this.#logic(op, left, first, right);
      else left = binary(this.#charges, op, left, this.value(right), { s: at, e: at + op.length });
    }
    return left;
  }

  /** `and` and `or`. Once the left operand decides the result, the right operand is not evaluated. */
  #logic(op: 'and' | 'or', left: Abstract, expr: Expr, right: Expr): Abstract {
    const decided = truthOf(left);
    if (decided === (op === 'or') && !may(left, OTHER)) return knownBoolean(decided);
    const { least, certain } = this.#charges;
    const before = this.state;
    const kind = op === 'and' ? 'if' : 'unless';
    const evaluate = (): Abstract => this.value(right);
    const truth = truthOf(decided === undefined ? this.#session.under({ kind, at: expr, expr }, evaluate) : evaluate());
    if (decided === undefined) {
      this.#charges.least = least;
      this.#charges.certain = certain;
      this.state = this.state.join(before);
      return LOGICAL;
    }
    return truth === undefined ? LOGICAL : knownBoolean(truth);
  }

  #access(base: Expr, steps: readonly AccessStep[]): Abstract {
    let value = this.value(base);
    for (const step of steps) {
      const key = step.k === 'field' ? knownText(step.name) : this.value(step.index);
      if (may(value, LIST | TEXT)) this.#charges.numeric(key, step);
      if (may(value, MAP)) this.#charges.text(key, step);
      if (may(value, TEXT)) this.#charges.scan(value, 3, step);
      this.#charges.bytes += 20;
      value = elementAt(value, key);
    }
    return value;
  }

  #call(expr: CallExpr): Abstract {
    const { name } = expr.name;
    const args = expr.args.map((arg) => this.value(arg));
    const [argument] = args;
    const builtin = builtinNamed(name);
    if (builtin !== undefined)
      return argument === undefined || args.length !== BUILTIN_ARITY ? NOTHING : this.#builtin(builtin, argument, expr);
    const defined = this.#session.procedures.get(name);
    if (defined === undefined || !acceptsCount(defined.procedure, args.length)) return NOTHING;
    const { value, cost } = this.#session.call(this.#session, defined, args, expr);
    this.#charges.add(cost);
    return value;
  }

  #builtin(name: BuiltinName, argument: Abstract, at: Span): Abstract {
    const { takes, returns } = BUILTINS[name];
    if (takes === 'number') this.#charges.numeric(argument, at);
    switch (name) {
      case 'len': {
        if (may(argument, TEXT)) this.#charges.scan(argument, 2, at);
        const exact = argument.least === argument.most && only(argument, LIST | MAP | NIL | TEXT);
        if (exact) return knownNumber(argument.most);
        return numberWithin(only(argument, LIST | MAP | TEXT) ? argument.least : 0, Math.max(1, argument.most));
      }
      case 'typeof':
        return text(8, true);
      case 'char':
        return this.#charges.made(2, false);
      default:
        return returns === 'boolean' ? BOOLEAN : NUMBER;
    }
  }

  #tool(expr: ToolCallExpr, args = expr.args.map((arg) => this.value(arg))): Abstract {
    if (this.#session.pure.has(expr.name)) {
      const { amount } = this.#session.costs.steps.pure;
      this.#charges.least += amount;
      this.#charges.most += amount + this.#session.unbounded(`the cost of \`${expr.written}\` depends on its arguments`, expr);
      this.#charges.bytes += Number.POSITIVE_INFINITY;
      return { ...UNKNOWN, ...origins(...args) };
    }
    return this.host(expr.name, expr, args, `the result of \`${expr.written}\` may have any size`);
  }
}

/** A text with a known prefix. */
function begins(made: Abstract, prefix: string): Abstract {
  return prefix === '' ? made : { ...made, prefix };
}
