/** The pieces of a grammar that a decoder follows: characters, sequences, choices, repetitions and references to rules. */

/** A set of characters as ranges of code points, both ends included. */
export type Ranges = readonly (readonly [first: number, last: number])[];

export type Form =
  | { readonly k: 'text'; readonly text: string }
  | Chars
  | { readonly k: 'all'; readonly of: readonly Form[] }
  | { readonly k: 'any'; readonly of: readonly Form[] }
  | { readonly k: 'times'; readonly of: Form; readonly least: number; readonly most: number | null }
  | { readonly k: 'rule'; readonly name: string };

/** A piece, or a text that stands for itself. */
export type Part = Form | string;
/** Parts, and lists of parts. A long list is passed as one argument. */
export type Parts = readonly (Part | readonly Part[])[];

function form(part: Part): Form {
  return typeof part === 'string' ? { k: 'text', text: part } : part;
}

/** The parts one after the other. */
export function all(...parts: Parts): Form {
  const of = parts
    .flat()
    .map(form)
    .filter((part) => part.k !== 'text' || part.text !== '');
  const [only] = of;
  return only !== undefined && of.length === 1 ? only : { k: 'all', of };
}

export function any(...parts: Parts): Form {
  const of = parts.flat().map(form);
  const [only] = of;
  return only !== undefined && of.length === 1 ? only : { k: 'any', of };
}

/** The parts, or nothing. */
export function maybe(...parts: readonly Part[]): Form {
  return { k: 'times', of: all(...parts), least: 0, most: 1 };
}

/** The parts any number of times. They must not match the empty text, because llama.cpp refuses to repeat such parts. */
export function many(...parts: readonly Part[]): Form {
  return { k: 'times', of: all(...parts), least: 0, most: null };
}

/** The parts once or more. */
export function some(...parts: readonly Part[]): Form {
  return { k: 'times', of: all(...parts), least: 1, most: null };
}

export function times(least: number, most: number, ...parts: readonly Part[]): Form {
  return { k: 'times', of: all(...parts), least, most };
}

export function rule(name: string): Form {
  return { k: 'rule', name };
}

export interface Chars {
  readonly k: 'chars';
  readonly ranges: Ranges;
}

/** The characters of a text; `a-z` is a range, and a `-` at an end stands for itself. */
export function chars(set: string): Chars {
  return { k: 'chars', ranges: ranges(set) };
}

export function ranges(set: string): Ranges {
  const points = Array.from(set, (char) => char.codePointAt(0) ?? 0);
  const found: (readonly [number, number])[] = [];
  for (let i = 0; i < points.length; i++) {
    const first = points[i] ?? 0;
    const last = points[i + 1] === DASH ? points[i + 2] : undefined;
    found.push([first, last ?? first]);
    if (last !== undefined) i += 2;
  }
  return found;
}

const DASH = 0x2d;

export function without(from: Ranges, removed: string): Chars {
  let left = from;
  for (const char of removed) {
    const point = char.codePointAt(0) ?? 0;
    left = left.flatMap(([first, last]): Ranges => {
      if (point < first || point > last) return [[first, last]];
      return [...(first < point ? [[first, point - 1] as const] : []), ...(point < last ? [[point + 1, last] as const] : [])];
    });
  }
  return { k: 'chars', ranges: left };
}

/** The rules of a grammar by name, in the order of their definition. `root` is the whole. */
export type Rules = ReadonlyMap<string, Form>;

export class RuleBook {
  readonly #rules = new Map<string, Form>();

  /** Adds a rule and returns a reference to it. */
  define(name: string, ...parts: readonly Part[]): Form {
    this.#rules.set(name, all(...parts));
    return rule(name);
  }

  /** The rules that the root needs, the root first. */
  finish(): Rules {
    const needed = new Set(['root']);
    for (const name of needed) for (const used of namesIn(this.#rules.get(name))) needed.add(used);
    return new Map([...needed].map((name) => [name, this.#rules.get(name) ?? all()]));
  }
}

/**
 * Joins the rules of two grammars, for texts of either one. Rules that are equal in both occur once; the other rules of the second
 * grammar have names in capitals.
 */
export function either(one: Rules, other: Rules): Rules {
  const own = new Set<string>();
  const users = new Map([...other.keys()].map((name): [string, string[]] => [name, []]));
  for (const [name, form] of other) {
    if (!isEqual(form, one.get(name))) own.add(name);
    for (const used of namesIn(form)) users.get(used)?.push(name);
  }
  // A rule that refers to one of the other grammar is one of the other grammar, too.
  for (const name of own) for (const user of users.get(name) ?? []) own.add(user);
  const renamed = (form: Form): Form => {
    if (form.k === 'rule') return own.has(form.name) ? rule(form.name.toUpperCase()) : form;
    if (form.k === 'times') return { ...form, of: renamed(form.of) };
    return form.k === 'all' || form.k === 'any' ? { ...form, of: form.of.map(renamed) } : form;
  };
  const added = [...other].filter(([name]) => own.has(name)).map(([name, form]) => [name.toUpperCase(), renamed(form)] as const);
  return new Map([...one, ...added, ['root', any(one.get('root') ?? all(), rule('ROOT'))]]);
}

function isEqual(one: Form, other: Form | undefined): boolean {
  if (one === other) return true;
  if (one.k === 'text') return other?.k === 'text' && one.text === other.text;
  if (one.k === 'rule') return other?.k === 'rule' && one.name === other.name;
  if (one.k === 'chars') return other?.k === 'chars' && JSON.stringify(one.ranges) === JSON.stringify(other.ranges);
  if (one.k === 'times')
    return other?.k === 'times' && one.least === other.least && one.most === other.most && isEqual(one.of, other.of);
  return other?.k === one.k && one.of.length === other.of.length && one.of.every((part, index) => isEqual(part, other.of[index]));
}

function namesIn(form: Form | undefined, names = new Set<string>()): ReadonlySet<string> {
  if (form === undefined) return names;
  if (form.k === 'rule') names.add(form.name);
  if (form.k === 'times') namesIn(form.of, names);
  if (form.k === 'all' || form.k === 'any') for (const part of form.of) namesIn(part, names);
  return names;
}
