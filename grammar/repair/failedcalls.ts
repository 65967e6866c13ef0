/** Corrections of a call that failed because of the types of its arguments. */

import type { RawEdit } from '../lint/finding.ts';
import type { Expr, ToolCallExpr } from '../syntax/astexpressions.ts';
import { eachExpression } from '../syntax/walk.ts';
import { toolParts } from '../vocabulary/names.ts';
import { replaced, wrapped } from './changes.ts';

/** Groups of tools that do the same with texts and with lists. */
const OTHER_GROUP: Readonly<Record<string, string>> = { 'tool.str': 'tool.list', 'tool.list': 'tool.str' };

/** A tool whose argument has another type. */
export function ofCall(
  { message, text }: { readonly message: string; readonly text: string },
  { s, name, written, args }: ToolCallExpr,
): readonly RawEdit[] {
  const [first, second, ...more] = args;
  const crossed = message.includes(': expected string, got number; argument ') && message.endsWith(', got string');
  if (crossed && first !== undefined && second !== undefined && more.length === 0)
    return [replaced(first, text.slice(second.s, second.e)), replaced(second, text.slice(first.s, first.e))];
  if (second !== undefined && message.endsWith("failed: argument 'key': expected string, got number"))
    return second.k === 'binary' ? wrapped(second, '"" + (', ')') : wrapped(second, '"" + ', '');
  if (message.includes(' is not a type of a shape;')) return ofShape(args.slice(1));
  if (message.includes(': expected integer or integer-like value, got ')) {
    const [half, ...others] = args.filter((arg) => arg.k === 'binary' && arg.rest.some(({ op }) => op === '/'));
    return half === undefined || others.length > 0 ? [] : wrapped(half, 'tool.math.Floor(', ')');
  }
  if (first === undefined) return [];
  if (message.includes("'input_string': expected string, got number"))
    return first.k === 'binary' ? wrapped(first, '"" + (', ')') : wrapped(first, '"" + ', '');
  const isList = message.includes("'list': expected list, got string");
  const isExchanged =
    isList || message.includes("'map': expected map, got string") || message.includes("'separator': expected string, got list");
  if (isExchanged && second !== undefined && more.length === 0 && second.k !== 'str' && second.k !== 'template')
    return [replaced(first, text.slice(second.s, second.e)), replaced(second, text.slice(first.s, first.e))];
  if (!isList && !message.includes("'input_string': expected string, got list")) return [];
  const other = OTHER_GROUP[toolParts(name)[0]];
  return other === undefined ? [] : [{ s, e: s + written.length, text: `${other}.${toolParts(written)[1]}` }];
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
  const edits: RawEdit[] = [];
  for (const arg of args.filter(({ k }) => k === 'map'))
    eachExpression(arg, (expr) => {
      if (expr.k !== 'map') return;
      for (const [, type] of expr.entries) {
        const meant = type.k === 'str' ? TYPES.get(type.v) : undefined;
        if (meant !== undefined) edits.push(replaced(type, JSON.stringify(meant)));
      }
    });
  return edits;
}
