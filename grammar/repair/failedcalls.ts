/** Corrections of a call that failed because of the types of its arguments. */

import type { RawEdit } from '../lint/finding.ts';
import type { Stmt } from '../syntax/ast.ts';
import type { Expr, ToolCallExpr } from '../syntax/astexpressions.ts';
import type { Span } from '../syntax/position.ts';
import { allIn, allOf } from '../syntax/walk.ts';
import { toolParts } from '../vocabulary/names.ts';
import { replaced, wrapped } from './apply.ts';
import type { Failure } from './failedplace.ts';

/** Groups of tools that do the same with texts and with lists. */
const OTHER_GROUP: Readonly<Record<string, string>> = { 'tool.str': 'tool.list', 'tool.list': 'tool.str' };

/** A tool whose argument has another type. */
export function ofCall({ message, text }: Failure, call: ToolCallExpr, stmt: Stmt): readonly RawEdit[] {
  const { s, name, written, args } = call;
  const [first, second, ...more] = args;
  const other = ofOrder(message, args) ?? ofPadding(message, args, text);
  if (other !== undefined) return other;
  const crossed = message.includes(': expected string, got number; argument ') && message.endsWith(', got string');
  if (crossed && first !== undefined && second !== undefined && more.length === 0)
    return [replaced(first, text.slice(second.s, second.e)), replaced(second, text.slice(first.s, first.e))];
  if (second !== undefined && message.endsWith("failed: argument 'key': expected string, got number")) return asText(second);
  if (message.includes(' is not a type of a shape;')) return ofShape(args.slice(1));
  if (message.includes(': expected integer or integer-like value, got ')) {
    const [half, ...others] = args.filter((arg) => arg.k === 'binary' && arg.rest.some(({ op }) => op === '/'));
    return half === undefined || others.length > 0 ? [] : wrapped(half, 'tool.math.Floor(', ')');
  }
  if (first === undefined) return [];
  if (/'input_string': expected string, got (?:number|timedate|boolean)/.test(message)) return asTexts(call, stmt);
  const isList = message.includes("'list': expected list, got string");
  const isExchanged =
    isList || message.includes("'map': expected map, got string") || message.includes("'separator': expected string, got list");
  if (isExchanged && second !== undefined && more.length === 0 && second.k !== 'str' && second.k !== 'template')
    return [replaced(first, text.slice(second.s, second.e)), replaced(second, text.slice(first.s, first.e))];
  if (!isList && !message.includes("'input_string': expected string, got list")) return [];
  const group = OTHER_GROUP[toolParts(name)[0]];
  const named = { s, e: s + written.length };
  const [, , third] = args;
  if (group === 'tool.str' && toolParts(name)[1] === 'slice' && second !== undefined && third !== undefined)
    return ofSlice(named, second, third, text);
  return group === undefined ? [] : [replaced(named, `${group}.${toolParts(written)[1]}`)];
}

/** The slice of a text, whose tool takes a length where that of a list takes an end. */
function ofSlice(named: Span, from: Expr, to: Expr, text: string): readonly RawEdit[] {
  const [begin, end] = [from, to].map(({ s, e }) => text.slice(s, e));
  const length =
    from.k === 'num' && to.k === 'num' ? `${to.v - from.v}` : from.k === 'num' && from.v === 0 ? end : `${end} - (${begin})`;
  return [replaced(named, `${OTHER_GROUP['tool.list']}.Substring`), replaced(to, length ?? '')];
}

function asText(expr: Expr): readonly RawEdit[] {
  return expr.k === 'binary' ? wrapped(expr, '"" + (', ')') : wrapped(expr, '"" + ', '');
}

/** Makes the first argument of a call text, and that of the same tool elsewhere in the statement: it would fail next. Text stays as it is. */
function asTexts({ name, s }: ToolCallExpr, stmt: Stmt): readonly RawEdit[] {
  return allOf(stmt).flatMap((expr) => {
    if (expr.k !== 'tool' || expr.name !== name) return [];
    const [first] = expr.args;
    const isText = first?.k === 'str' || first?.k === 'template' || (first?.k === 'binary' && first.first.k === 'str');
    return first === undefined || (isText && expr.s !== s) ? [] : asText(first);
  });
}

/** The order in which a list is sorted: `"desc"` for true, or a minus before the key. */
function ofOrder(message: string, args: readonly Expr[]): readonly RawEdit[] | undefined {
  const [, key, order] = args;
  if (message.includes("'descending': expected boolean") && order?.k === 'str') {
    const isDescending = /^(?:desc(?:ending)?|reversed?|down)$/i.test(order.v);
    return isDescending || /^(?:asc(?:ending)?|up)$/i.test(order.v) ? [replaced(order, `${isDescending}`)] : undefined;
  }
  const isMinus = message.startsWith('cannot sort by "-') && key?.k === 'str' && key.v.length > 1 && args.length === 2;
  return isMinus ? [replaced(key, `${JSON.stringify(key.v.slice(1))}, true`)] : undefined;
}

/** Length and padding in the other order, or a number as padding. */
function ofPadding(message: string, args: readonly Expr[], text: string): readonly RawEdit[] | undefined {
  const [first, length, pad] = args;
  if (!message.includes("'pad': expected string, got number") || length === undefined || pad?.k !== 'num') return undefined;
  const needsText = first !== undefined && message.includes("'input_string': expected string, got number");
  const texts = needsText ? asText(first) : [];
  if (length.k !== 'str') return [...texts, replaced(pad, `"${pad.v}"`)];
  const written = ({ s, e }: Expr): string => text.slice(s, e);
  return [...texts, replaced(length, written(pad)), replaced(pad, written(length))];
}

/** Types of other languages, as a shape names them. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ...['text', 'str', 'String'].map((name) => [name, 'string'] as const),
  ...['integer', 'Int', 'long'].map((name) => [name, 'int'] as const),
  ...['double', 'decimal'].map((name) => [name, 'float'] as const),
  ...['Number', 'numeric'].map((name) => [name, 'number'] as const),
  ...['boolean', 'Boolean'].map((name) => [name, 'bool'] as const),
  ...['array', 'Array'].map((name) => [name, 'list'] as const),
  ...['object', 'dict'].map((name) => [name, 'map'] as const),
]);

/** A shape with types of other languages. */
function ofShape(args: readonly Expr[]): readonly RawEdit[] {
  const maps = args.filter(({ k }) => k === 'map').flatMap(allIn);
  return maps.flatMap((expr) =>
    (expr.k === 'map' ? expr.entries : []).flatMap(([, type]) => {
      const meant = type.k === 'str' ? TYPES.get(type.v) : undefined;
      return meant === undefined ? [] : [replaced(type, JSON.stringify(meant))];
    }),
  );
}
