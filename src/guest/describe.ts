import { grouped } from '../wire/text/grouped.ts';
import { shorten } from './errors.ts';
import { numberText, quote } from './text.ts';
import { Bytes, Dict, Fuzzy, Handle, List, Time, type Value } from './values.ts';

const SHORT = 40;

/** A value for an error message: its type, and as much of it as fits into a short text. */
export function describe(value: Value): string {
  if (value === null) return 'nil';
  if (typeof value === 'boolean') return `boolean ${value}`;
  if (typeof value === 'number') return `number ${shorten(numberText(value), SHORT)}`;
  if (typeof value === 'string') return `string ${shortQuote(value)}`;
  if (value instanceof List) return `list of ${counted(value.items.length, 'item', 'items')}`;
  if (value instanceof Dict) return `map of ${counted(value.entries.size, 'entry', 'entries')}`;
  if (value instanceof Bytes) return `bytes(${value.length})`;
  if (value instanceof Time) return `timedate ${value.text}`;
  if (value instanceof Fuzzy) return `fuzzy ${numberText(value.degree)}`;
  if (value instanceof Handle) return `handle ${shorten(value.kind, SHORT)}`;
  return 'error value';
}

/** A text in quotes, shortened if it is long. */
export function shortQuote(text: string): string {
  return text.length <= SHORT ? quote(text) : `${quote(text.slice(0, SHORT))}… (${grouped(text.length)} units)`;
}

/** `1 item`, `2,000 items`. */
export function counted(count: number, one: string, many: string): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** `a list has 2,000 items, more than the 1,000 allowed`: of what `said` begins, more than a limit allows. */
export function excess(said: string, used: number, things: string, allowed: number): string {
  return `${said} ${grouped(used)} ${things}, more than the ${grouped(allowed)} allowed`;
}
