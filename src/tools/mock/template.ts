import { decodeOrdered, encode } from '../../wire/codec.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { keyOf } from '../../wire/mapkeys.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import { isList, jsonText } from '../../wire/tagged.ts';
import { isOrderedMap, type OrderedMap, type OrderedValue, ValueError } from '../../wire/values.ts';
import { typeName } from '../define/argtypes.ts';
import { ToolError } from '../errors.ts';

/** The inputs of a computed answer: the arguments of the call and the state of the file. */
export interface Scope {
  readonly args: OrderedMap;
  readonly state: OrderedMap;
  /** A text in small letters. Computed once in a call, however many cases ask, because the text may be large. */
  readonly lower: (text: string) => string;
}

export function scopeOf(args: OrderedMap, state: OrderedMap): Scope {
  const lowered = new Map<string, string>();
  const lower = (text: string): string => {
    const known = lowered.get(text) ?? text.toLowerCase();
    lowered.set(text, known);
    return known;
  };
  return { args, state, lower };
}

/** A value of a tools file: constant, or computed from a call. Throws {@link ToolError} when it cannot be computed. */
export type Template = (scope: Scope) => OrderedValue;

/** Reads the content of a form; the names are those of the tool's arguments. */
type Form = (content: unknown, args: ReadonlySet<string>) => Template;

/**
 * Compiles a value of a tools file: tagged JSON, within which `{ $arg: name }`, `{ $state: path }`, `{ $text: "…{{name}}…" }`,
 * `{ $add: [a, b] }` and `{ $default: [a, b] }` are computed at each call. Throws {@link ValueError} (`ERR_VALUE`).
 */
export function compile(json: unknown, args: ReadonlySet<string>): Template {
  if (Array.isArray(json)) {
    const items = json.map((item: unknown) => compile(item, args));
    return (scope) => items.map((item) => item(scope));
  }
  if (typeof json !== 'object' || json === null) {
    // YAML's core schema yields JSON, and NaN and infinities, which decode passes on as numbers.
    const value = decodeOrdered((json ?? null) as TaggedJson);
    return () => value;
  }
  const entries: readonly (readonly [string, unknown])[] = Object.entries(json);
  const [name, content] = entries[0] ?? ['', null];
  const form = entries.length === 1 ? FORMS.get(name) : undefined;
  if (form !== undefined) return form(content, args);
  if (entries.some(([key]) => keyOf(key) === null)) {
    const value = decodeOrdered(json as TaggedJson);
    return () => value;
  }
  const members = entries.map(([key, item]) => [keyOf(key) ?? key, compile(item, args)] as const);
  return (scope) => new Map(members.map(([key, item]) => [key, item(scope)]));
}

const FORMS: ReadonlyMap<string, Form> = new Map<string, Form>([
  ['$arg', (content, args) => argument(content, args)],
  ['$state', (content, args) => stateAt(content, args)],
  ['$text', (content, args) => text(content, args)],
  ['$add', (content, args) => sum(several('$add', content, args))],
  ['$default', (content, args) => firstOf(several('$default', content, args))],
]);

function argument(content: unknown, args: ReadonlySet<string>): Template {
  if (typeof content !== 'string' || !args.has(content))
    throw new ValueError(`$arg must name an argument of the tool, which has ${[...args].join(', ') || 'none'}`);
  return ({ args: given }) => given.get(content) ?? null;
}

/** `key`, or a path `[key, …]`; nil where there is nothing. */
function stateAt(content: unknown, args: ReadonlySet<string>): Template {
  const steps = (Array.isArray(content) ? content : [content]).map((step: unknown) => compile(step, args));
  if (steps.length === 0) throw new ValueError('$state must name a key of the state, or a list of keys from there');
  return (scope) => steps.reduce<OrderedValue>((at, step) => elementOf(at, step(scope)), scope.state);
}

/** An element of a list or a map as a script would read it; nil where there is none. */
export function elementOf(container: OrderedValue, key: OrderedValue): OrderedValue {
  if (isList(container)) return (typeof key === 'number' ? container[key] : undefined) ?? null;
  return isOrderedMap(container) && typeof key !== 'object' ? (container.get(String(key)) ?? null) : null;
}

/** The longest text that `$text` makes, in UTF-16 units. */
const TEXT_UNITS = 8 * 1024 * 1024;

const PLACEHOLDER = /\{\{\s*([A-Za-z_][A-Za-z0-9_]*)((?:\.[A-Za-z0-9_]+)*)\s*\}\}/g;

/** Fills in a text. A placeholder names an argument or `state`, and after dots the keys inside. */
function text(content: unknown, args: ReadonlySet<string>): Template {
  if (typeof content !== 'string') throw new ValueError('$text must be a text with placeholders such as {{path}}');
  const unknown = [...content.matchAll(PLACEHOLDER)].find(([, name = '']) => name !== 'state' && !args.has(name));
  if (unknown !== undefined)
    throw new ValueError(
      `$text has ${unknown[0]}, but the arguments are ${[...args].join(', ') || 'none'}; or write {{state.key}}`,
    );
  return ({ args: given, state }) => {
    let units = content.length;
    return content.replace(PLACEHOLDER, (_all, name: string, rest: string) => {
      const start: OrderedValue = name === 'state' && !args.has('state') ? state : (given.get(name) ?? null);
      const filled = shown(
        rest
          .split('.')
          .slice(1)
          .reduce<OrderedValue>((at, step) => elementOf(at, isList(at) ? Number(step) : step), start),
      );
      units += filled.length;
      if (units > TEXT_UNITS)
        throw new ToolError(NS_CODES.ResourceExhaustion, `the mock makes a text of over ${TEXT_UNITS} units`);
      return filled;
    });
  };
}

function shown(value: OrderedValue): string {
  if (typeof value === 'string') return value;
  return value === null ? 'nil' : jsonText(encode(value));
}

function several(form: string, content: unknown, args: ReadonlySet<string>): readonly Template[] {
  if (!Array.isArray(content) || content.length === 0) throw new ValueError(`${form} must be a list of values`);
  return content.map((item: unknown) => compile(item, args));
}

function sum(terms: readonly Template[]): Template {
  return (scope) =>
    terms.reduce((total, term) => {
      const value = term(scope);
      if (typeof value === 'number') return total + value;
      throw new ToolError(NS_CODES.ToolExecutionFailed, `the mock adds numbers, and got ${typeName(value)}`);
    }, 0);
}

function firstOf(choices: readonly Template[]): Template {
  return (scope) => choices.map((choice) => choice(scope)).find((value) => value !== null) ?? null;
}
