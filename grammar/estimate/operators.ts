/** The value and the cost of binary operators. */
import type { BinaryOp } from '../syntax/astexpressions.ts';
import type { Span } from '../syntax/position.ts';
import type { Charges } from './charges.ts';
import {
  type Abstract,
  BOOLEAN,
  container,
  join,
  knownBoolean,
  knownNumber,
  knownText,
  LIST,
  may,
  NOTHING,
  NUM,
  NUMBER,
  numberWithin,
  OTHER,
  only,
  prefixOf,
  shownAs,
  TEXT,
} from './values.ts';

/** The result of each operator for two known numbers; undefined where it raises an error. */
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

/** An operator whose two operands have been evaluated. */
export function binary(charges: Charges, op: BinaryOp, left: Abstract, right: Abstract, at: Span): Abstract {
  if (only(left, NUM) && only(right, NUM)) return arithmetic(op, left, right);
  switch (op) {
    case '==':
    case '!=':
      charges.compare(left, right, at);
      return BOOLEAN;
    case '<':
    case '>':
    case '<=':
    case '>=':
      charges.numeric(left, at);
      charges.numeric(right, at);
      if (may(left, TEXT) && may(right, TEXT))
        charges.spend(Math.min(left.units, right.units), 'compare', 'what is compared', at);
      return BOOLEAN;
    case '+':
      return add(charges, left, right, at);
    case '*':
      return multiply(charges, left, right, at);
    default:
      charges.numeric(left, at);
      charges.numeric(right, at);
      return NUMBER;
  }
}

function add(charges: Charges, left: Abstract, right: Abstract, at: Span): Abstract {
  charges.numeric(left, at);
  charges.numeric(right, at);
  const numeric = NUM | TEXT | OTHER;
  const words = isWord(left) || isWord(right);
  const [first, second] = words ? [shownAs(left), shownAs(right)] : [];
  if (first !== undefined && second !== undefined) {
    const both = first + second;
    for (const side of [left, right]) if (!only(side, TEXT)) charges.text(side, at);
    charges.spend(both.length, 'concat', 'the added values', at);
    charges.made(both.length, true);
    if (both.length <= LONGEST_KNOWN) return knownText(both);
  }
  let made: Abstract | undefined = !words && may(left, numeric) && may(right, numeric) ? NUMBER : undefined;
  if (may(left, TEXT) || may(right, TEXT)) {
    const units = charges.text(left, at, 'the added values') + charges.text(right, at, 'the added values');
    charges.spend(units, 'concat', 'the added values', at);
    const prefix = words ? prefixOf(left) : '';
    const joined = { ...charges.made(units, left.plain && right.plain), ...(prefix === '' ? {} : { prefix }) };
    made = made === undefined ? joined : join(made, joined);
  }
  if (may(left, LIST) && may(right, LIST)) {
    charges.spend(left.nodes + right.nodes, 'copy', 'the added values', at);
    const [size, nodes] = [left.size + right.size, left.nodes + right.nodes];
    const { list: own, item } = charges.costs.values;
    charges.bytes += own.amount + item.amount * nodes;
    const least = only(left, LIST) && only(right, LIST) ? left.least + right.least : 0;
    const both = container(LIST, { size, nodes, least, most: left.most + right.most });
    const list = { ...both, ...itemsOf(left, right) };
    made = made === undefined ? list : join(made, list);
  }
  return made ?? NOTHING;
}

/** The items of two lists, one after the other. */
function itemsOf(left: Abstract, right: Abstract): Pick<Abstract, 'items' | 'item'> {
  const { items: first, item } = left;
  const { items: second, item: other } = right;
  if (!only(left, LIST) || !only(right, LIST)) return {};
  const each = item !== undefined && other !== undefined ? { item: join(item, other) } : {};
  if (first === undefined || second === undefined || first.length + second.length > MOST_ITEMS) return each;
  const one = item ?? other;
  return { item: one, ...each, items: [...first, ...second] };
}

/** Most items of a list that is followed item by item after two lists were added. */
const MOST_ITEMS = 64;

/** Text times a number, in either order, repeats the text. Two texts that spell numbers are multiplied. */
function multiply(charges: Charges, left: Abstract, right: Abstract, at: Span): Abstract {
  charges.numeric(left, at);
  charges.numeric(right, at);
  const units = Math.max(repeated(left, right), repeated(right, left));
  if (units < 0) return NUMBER;
  charges.spend(units, 'concat', 'the repeated text', at);
  return join(NUMBER, charges.made(units, left.plain && right.plain));
}

/** The longest text whose content is tracked. For longer texts only the length is tracked. */
export const LONGEST_KNOWN = 1000;

/** A character that does not occur in numbers. */
const NEVER_NUMERIC = /[^\s\u0085\-+._0-9a-fA-FxXpPiInNtTyY]/;

/** Whether a value is text that spells no number. */
function isWord(value: Abstract): boolean {
  return NEVER_NUMERIC.test(prefixOf(value));
}

/** Length of a text that is repeated; −1 when the value cannot be text or the other no number. */
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
  if (op === '+') return numberWithin(left.min + right.min, left.max + right.max);
  return op === '-' ? numberWithin(left.min - right.max, left.max - right.min) : NUMBER;
}

const RELATIONS: ReadonlySet<string> = new Set(['<', '>', '<=', '>=', '==', '!=']);
