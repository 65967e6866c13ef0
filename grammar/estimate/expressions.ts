/** What evaluating an expression gives and costs, beyond the operations that its statement was charged for. */
import type { AccessStep, BinaryOp, CallExpr, Expr, Span, Target, ToolCallExpr } from '../ast.ts';
import { isBuiltin } from '../check/names.ts';
import type { Defined, Session } from './session.ts';
import { type Cost, State } from './state.ts';
import {
  type Abstract,
  BOOLEAN,
  container,
  elementOf,
  join,
  knownBoolean,
  knownNumber,
  knownText,
  LIST,
  LOGICAL,
  MAP,
  may,
  NIL,
  NOTHING,
  NUM,
  NUMBER,
  numberUpTo,
  OTHER,
  only,
  TEXT,
  text,
  textUnits,
  truthOf,
  UNKNOWN,
} from './values.ts';

/** Whether two numbers are in some relation, or what they make. */
const ARITHMETIC: Readonly<Partial<Record<BinaryOp | '**', (a: number, b: number) => number | boolean | undefined>>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => (b === 0 ? undefined : a / b),
  '%': (a, b) => (b === 0 || !Number.isSafeInteger(a) || !Number.isSafeInteger(b) ? undefined : a % b || 0),
  '<': (a, b) => a < b,
  '>': (a, b) => a > b,
  '<=': (a, b) => a <= b,
  '>=': (a, b) => a >= b,
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
};

/** Evaluates the expressions of one statement, one after the other. */
export class Evaluation {
  /** Variables: only a tool can change them while an expression is evaluated. */
  state: State;
  private readonly session: Session;
  private least = 0;
  private most = 0;
  private bytes = 0;

  constructor(session: Session, state: State) {
    this.session = session;
    this.state = state;
  }

  /** What all of it costs so far. */
  get cost(): Cost {
    return { least: this.least, most: this.most, bytes: this.bytes };
  }

  value(expr: Expr): Abstract {
    this.session.step();
    this.session.enter(1);
    const value = this.evaluate(expr);
    this.session.leave(1);
    return value;
  }

  private evaluate(expr: Expr): Abstract {
    switch (expr.k) {
      case 'num':
        return knownNumber(expr.v);
      case 'str':
        return knownText(expr.v);
      case 'bool':
        return knownBoolean(expr.v);
      case 'nil':
        return NOTHING;
      case 'name':
        return this.state.get(expr.name);
      case 'last':
        return UNKNOWN;
      case 'list':
        return this.list(expr.items.map((item) => this.value(item)));
      case 'map':
        return this.map(expr.entries);
      case 'template':
        return this.template(expr.parts, expr);
      case 'text': {
        const of = this.value(expr.of);
        return text(this.text(of, expr), of.plain);
      }
      case 'eval':
        return this.evaluated(this.value(expr.of), expr);
      case 'group':
        return this.value(expr.of);
      case 'unary':
        return this.unary(expr.op, this.value(expr.of), expr);
      case 'power':
        this.numeric(this.value(expr.base), expr);
        this.numeric(this.value(expr.exponent), expr);
        return NUMBER;
      case 'binary':
        return this.chain(expr.first, expr.rest);
      case 'access':
        return this.access(expr.base, expr.steps);
      case 'call':
        return this.call(expr);
      case 'tool':
        return this.tool(expr);
    }
  }

  /** A value that goes to the output: printed, its bytes counted, quoted, and as JSON. */
  emitted(value: Abstract, at: Span): void {
    const what = 'what is emitted';
    const units = this.text(value, at, what);
    this.spend(units, 'text', what, at);
    this.spend((value.plain ? units : 6 * units) + 2, 'json', what, at);
    if (!only(value, TEXT)) this.written(value, 'json', what, at);
    this.bytes += 200 + 16 * (units + value.size);
  }

  /** Work on the way to the host and back; nothing is known afterwards. */
  host(values: readonly Abstract[], at: Span, message: string): Abstract {
    const price = this.session.costs.steps.host.amount;
    this.least += price;
    this.most += price;
    for (const value of values) {
      this.written(value, 'json', 'an argument', at);
      this.bytes += 16 * value.size;
    }
    this.most += this.session.unbounded(message, at);
    this.state = State.any;
    return UNKNOWN;
  }

  /** Stores a value in a variable or an element of it. */
  store({ name, steps }: Target, value: Abstract): void {
    const base = this.state.get(name.name);
    if (steps.length === 0) {
      this.state = this.state.with(name.name, value);
      return;
    }
    let size = base.size + value.size;
    let nodes = base.nodes + value.nodes;
    let added = 0;
    for (const step of steps) {
      const key = step.k === 'field' ? knownText(step.name) : this.value(step.index);
      const units = this.text(key, step);
      this.numeric(key, step);
      if (base.nodes === Number.POSITIVE_INFINITY)
        this.most += this.session.unbounded(`writing to \`${name.name}\` may copy it, and its size is not known`, step);
      else this.spend(base.nodes, 'copy', 'what is copied', step);
      const pad =
        step.k === 'field' || !may(key, NUM | TEXT | OTHER) ? 0 : Math.min(this.session.costs.padding, Math.max(0, key.max)) + 1;
      this.spend(pad, 'copy', 'what is padded', step);
      size += 6 * units + 10 + 5 * pad;
      nodes += 1 + pad;
      added += 1 + pad;
    }
    const { list, map, item, entry } = this.session.costs.values;
    const [own, each] = [Math.max(list.amount, map.amount), Math.max(item.amount, entry.amount)];
    this.bytes += own * steps.length + each * nodes + 2 * size;
    const types = only(base, LIST) ? LIST : only(base, MAP) ? MAP : LIST | MAP;
    this.state = this.state.with(name.name, container(types, { size, nodes, least: base.least, most: base.most + added }));
  }

  /** Makes a list. */
  list(items: readonly Abstract[]): Abstract {
    let size = 2;
    let nodes = items.length;
    for (const item of items) {
      size += item.size + 2;
      nodes += item.nodes;
    }
    const { list, item } = this.session.costs.values;
    this.bytes += list.amount + item.amount * items.length;
    const made = container(LIST, { size, nodes, least: items.length, most: items.length });
    return items.length === 0 ? made : { ...made, item: items.reduce(join), items };
  }

  private map(entries: readonly (readonly [Expr, Expr])[]): Abstract {
    const { map, entry } = this.session.costs.values;
    this.bytes += map.amount;
    let size = 2;
    let nodes = entries.length;
    const names = new Set<string>();
    for (const [key, expr] of entries) {
      const name = this.value(key);
      const units = this.text(name, key);
      const value = this.value(expr);
      if (typeof name.known === 'string') names.add(name.known);
      size += 6 * units + 7 + value.size;
      nodes += value.nodes;
      this.bytes += entry.amount + 2 * units;
    }
    const least = names.size === entries.length ? entries.length : Math.min(1, entries.length);
    return container(MAP, { size, nodes, least, most: entries.length });
  }

  private template(parts: readonly (string | Expr)[], at: Span): Abstract {
    let units = 0;
    let plain = true;
    for (const part of parts) {
      const value = typeof part === 'string' ? knownText(part) : this.value(part);
      units += this.text(value, typeof part === 'string' ? at : part);
      plain &&= value.plain;
    }
    this.spend(units, 'concat', 'the text', at);
    return this.made(units, plain);
  }

  private evaluated(value: Abstract, at: Span): Abstract {
    if (!may(value, TEXT)) return value;
    this.scan(value, 1, at);
    if (typeof value.known === 'string' && !value.known.includes('{{')) return value;
    this.most += this.session.unbounded('what `eval` fills in may be of any size', at);
    return UNKNOWN;
  }

  private unary(op: string, value: Abstract, at: Span): Abstract {
    const truth = truthOf(value);
    switch (op) {
      case '-':
        this.numeric(value, at);
        return only(value, NUM) && typeof value.known === 'number' ? knownNumber(-value.known) : NUMBER;
      case '~':
        this.numeric(value, at);
        return NUMBER;
      case 'typeof':
        return text(8, true);
      case 'some':
        return truth === undefined ? BOOLEAN : knownBoolean(truth);
      default:
        return truth === undefined ? LOGICAL : knownBoolean(!truth);
    }
  }

  private chain(first: Expr, rest: readonly { readonly op: BinaryOp; readonly at: number; readonly right: Expr }[]): Abstract {
    let left = this.value(first);
    for (const { op, at, right } of rest) {
      if (op === 'and' || op === 'or') left = this.logic(op, left, right);
      else left = this.binary(op, left, this.value(right), { s: at, e: at + op.length });
    }
    return left;
  }

  /** The right side of what is decided already costs nothing more (P1). */
  private logic(op: 'and' | 'or', left: Abstract, right: Expr): Abstract {
    const decided = truthOf(left);
    if (decided === (op === 'or') && !may(left, OTHER)) return knownBoolean(decided);
    const { least } = this;
    const before = this.state;
    const truth = truthOf(this.value(right));
    if (decided === undefined) {
      this.least = least;
      this.state = this.state.join(before);
      return LOGICAL;
    }
    return truth === undefined ? LOGICAL : knownBoolean(truth);
  }

  private binary(op: BinaryOp, left: Abstract, right: Abstract, at: Span): Abstract {
    if (only(left, NUM) && only(right, NUM)) return arithmetic(op, left, right);
    switch (op) {
      case '==':
      case '!=':
        this.compare(left, right, at);
        return BOOLEAN;
      case '<':
      case '>':
      case '<=':
      case '>=':
        this.numeric(left, at);
        this.numeric(right, at);
        if (may(left, TEXT) && may(right, TEXT)) this.spend(Math.min(left.units, right.units), 'compare', 'what is compared', at);
        return BOOLEAN;
      case '+':
        return this.add(left, right, at);
      case '*':
        return this.multiply(left, right, at);
      default:
        this.numeric(left, at);
        this.numeric(right, at);
        return NUMBER;
    }
  }

  private add(left: Abstract, right: Abstract, at: Span): Abstract {
    this.numeric(left, at);
    this.numeric(right, at);
    const numeric = NUM | TEXT | OTHER;
    const words = isWord(left) || isWord(right);
    if (words && typeof left.known === 'string' && typeof right.known === 'string') {
      const both = left.known + right.known;
      this.spend(both.length, 'concat', 'what is added', at);
      this.made(both.length, true);
      if (both.length <= LONGEST_KNOWN) return knownText(both);
    }
    let made: Abstract | undefined = !words && may(left, numeric) && may(right, numeric) ? NUMBER : undefined;
    if (may(left, TEXT) || may(right, TEXT)) {
      const units = this.text(left, at, 'what is added') + this.text(right, at, 'what is added');
      this.spend(units, 'concat', 'what is added', at);
      const joined = this.made(units, left.plain && right.plain);
      made = made === undefined ? joined : join(made, joined);
    }
    if (may(left, LIST) && may(right, LIST)) {
      this.spend(left.nodes + right.nodes, 'copy', 'what is added', at);
      const [size, nodes] = [left.size + right.size, left.nodes + right.nodes];
      const { list: own, item } = this.session.costs.values;
      this.bytes += own.amount + item.amount * nodes;
      const least = only(left, LIST) && only(right, LIST) ? left.least + right.least : 0;
      const list = container(LIST, { size, nodes, least, most: left.most + right.most });
      made = made === undefined ? list : join(made, list);
    }
    return made ?? NOTHING;
  }

  /** A text and a number give the text so many times, in either order; two texts that spell numbers are multiplied. */
  private multiply(left: Abstract, right: Abstract, at: Span): Abstract {
    this.numeric(left, at);
    this.numeric(right, at);
    const units = Math.max(repeated(left, right), repeated(right, left));
    if (units < 0) return NUMBER;
    this.spend(units, 'concat', 'what is repeated', at);
    return join(NUMBER, this.made(units, left.plain && right.plain));
  }

  private access(base: Expr, steps: readonly AccessStep[]): Abstract {
    let value = this.value(base);
    for (const step of steps) {
      const key = step.k === 'field' ? knownText(step.name) : this.value(step.index);
      if (may(value, LIST | TEXT)) this.numeric(key, step);
      if (may(value, MAP)) this.text(key, step);
      if (may(value, TEXT)) this.scan(value, 3, step);
      this.bytes += 20;
      value = elementOf(value);
    }
    return value;
  }

  private call(expr: CallExpr): Abstract {
    const { name } = expr.name;
    const args = expr.args.map((arg) => this.value(arg));
    const [argument] = args;
    if (isBuiltin(name))
      return argument === undefined || args.length > 1 ? NOTHING : this.builtin(name.toLowerCase(), argument, expr);
    const defined = this.session.procedures.get(name);
    if (defined === undefined || !accepts(defined, args.length)) return NOTHING;
    const { value, cost } = this.session.call(this.session, defined, args, expr);
    this.least += cost.least;
    this.most += cost.most;
    this.bytes += cost.bytes;
    return value;
  }

  private builtin(name: string, argument: Abstract, at: Span): Abstract {
    switch (name) {
      case 'len': {
        if (may(argument, TEXT)) this.scan(argument, 2, at);
        const exact = argument.least === argument.most && only(argument, LIST | MAP | NIL | TEXT);
        return exact ? knownNumber(argument.most) : numberUpTo(Math.max(1, argument.most));
      }
      case 'typeof':
        return text(8, true);
      case 'char':
        this.numeric(argument, at);
        return this.made(2, false);
      case 'ord':
        return NUMBER;
      default:
        if (name.startsWith('is_')) return BOOLEAN;
        this.numeric(argument, at);
        return NUMBER;
    }
  }

  private tool(expr: ToolCallExpr): Abstract {
    const args = expr.args.map((arg) => this.value(arg));
    if (this.session.pure.has(expr.name)) {
      const { amount } = this.session.costs.steps.pure;
      this.least += amount;
      this.most += amount + this.session.unbounded(`what \`${expr.written}\` takes depends on what it is given`, expr);
      return UNKNOWN;
    }
    return this.host(args, expr, `what \`${expr.written}\` gives back may be of any size`);
  }

  private made(units: number, plain: boolean): Abstract {
    const { text: own, unit } = this.session.costs.values;
    this.bytes += own.amount + unit.amount * units;
    return text(units, plain);
  }

  /** Turns a value into text; gives its length. */
  text(value: Abstract, at: Span, what = 'what is turned into text'): number {
    if (!only(value, TEXT | NIL)) this.written(value, 'text', what, at);
    this.bytes += only(value, TEXT) ? 0 : 16 + 2 * value.size;
    return textUnits(value);
  }

  private written(value: Abstract, price: 'text' | 'json', what: string, at: Span): void {
    this.spend(value.size, price, what, at);
    this.most += this.session.costs.steps.written.amount * value.nodes;
  }

  private numeric(value: Abstract, at: Span): void {
    if (may(value, TEXT)) this.spend(value.units, 'number', 'a text that may be a number', at);
  }

  private scan(value: Abstract, times: number, at: Span): void {
    for (let time = 0; time < times; time++) this.spend(value.units, 'scan', 'the text that is looked through', at);
  }

  private compare(left: Abstract, right: Abstract, at: Span): void {
    if (may(left, NUM)) this.numeric(right, at);
    if (may(right, NUM)) this.numeric(left, at);
    const deep = LIST | MAP | OTHER;
    if (may(left, TEXT) && may(right, TEXT)) this.spend(Math.min(left.units, right.units), 'compare', 'what is compared', at);
    if (!may(left, deep) || !may(right, deep)) return;
    this.spend(Math.min(left.size, right.size), 'compare', 'what is compared', at);
    this.most += this.session.costs.steps.compared.amount * (2 + 3 * Math.min(left.nodes, right.nodes));
  }

  /** Charges for data; `what` is named when nobody knows how much it is. */
  private spend(units: number, price: keyof Session['costs']['data'], what: string, at: Span): void {
    this.most +=
      units === Number.POSITIVE_INFINITY
        ? this.session.unbounded(`the size of ${what} is not known`, at)
        : Math.floor(units / this.session.costs.data[price].amount);
  }
}

/** Longer texts are not put together here, only measured. */
const LONGEST_KNOWN = 1000;

/** Whether a value is a text that spells no number, whatever follows. */
function isWord({ known }: Abstract): boolean {
  return typeof known === 'string' && /^[^\s\u0085\-+.0-9iInN]/.test(known);
}

/** Length of a text that is repeated; −1 when that cannot happen. */
function repeated(value: Abstract, times: Abstract): number {
  if (!may(value, TEXT) || !may(times, NUM)) return -1;
  const most = Math.max(0, times.max);
  return value.units === 0 || most === 0 ? 0 : value.units * most;
}

function arithmetic(op: BinaryOp, left: Abstract, right: Abstract): Abstract {
  const { known: a } = left;
  const { known: b } = right;
  const made = typeof a === 'number' && typeof b === 'number' ? ARITHMETIC[op]?.(a, b) : undefined;
  if (typeof made === 'number') return knownNumber(made);
  if (typeof made === 'boolean') return knownBoolean(made);
  if (RELATIONS.has(op)) return BOOLEAN;
  return op === '+' ? numberUpTo(left.max + right.max) : NUMBER;
}

const RELATIONS: ReadonlySet<string> = new Set(['<', '>', '<=', '>=', '==', '!=']);

function accepts({ procedure: { needs, optional } }: Defined, given: number): boolean {
  return given >= needs.length && given <= needs.length + optional.length;
}
