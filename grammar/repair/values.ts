/** Translated values of expressions. */
import { type Kind, kindOfCall } from './calls.ts';
import { type Scope, Unclear } from './scope.ts';
import type { TextPart } from './strings.ts';

/** A part of an expression as NeuroScript, with its place in the old text. */
export interface Value {
  readonly text: string;
  readonly kind: Kind;
  readonly s: number;
  readonly e: number;
  /** Set if the value is a literal. */
  readonly literal?: boolean;
  /** Set if the value is text that spells no number, so that `+` joins it. */
  readonly worded?: boolean;
  /** What the items of a list are, where all are of one kind. */
  readonly items?: Kind | undefined;
  /** Set for text that is joined from parts. */
  readonly parts?: readonly TextPart[];
  /** Set for a value with an operator of this kind outside of brackets, because languages differ in its precedence. */
  readonly operator?: 'bits' | 'comparison';
  /** Set if the value is an element: its container and its key. */
  readonly element?: { readonly of: string; readonly key: string };
  /** What must hold for the value to be read; it is nil otherwise. */
  readonly guard?: string;
  /** Set for a value that needs statements in NeuroScript. Such a value has no text. */
  readonly form?: Form;
}

/** A value that takes several statements in NeuroScript. */
export type Form =
  | { readonly k: 'choice'; readonly cond: string; readonly then: Value; readonly otherwise: Value }
  | Each
  | {
      readonly k: 'fold';
      readonly list: string;
      readonly sum: string;
      readonly item: string;
      readonly start: string;
      readonly body: string;
    }
  | { readonly k: 'arrow'; readonly params: readonly string[]; readonly body: Value }
  | { readonly k: 'items'; readonly items: readonly string[] };

/** A loop that fills a list, or a map if its items have keys. */
export interface Each {
  readonly k: 'each';
  readonly names: string;
  readonly of: string;
  readonly cond: string | null;
  readonly key?: string;
  readonly item: string;
}

/** The text of a value that needs no statements of its own. */
export function plain(value: Value): string {
  if (value.form?.k === 'items') return `[${value.form.items.join(', ')}]`;
  if (value.form !== undefined) throw new Unclear();
  return value.text;
}

/** Statements that use a value: one, or several for a value that needs statements. */
export function lifted(value: Value, use: (text: string) => readonly string[], target: string | null = null): readonly string[] {
  const { form } = value;
  if (form?.k === 'choice') {
    const inner = (one: Value): readonly string[] => lifted(one, use, target).map((line) => `  ${line}`);
    return [`if ${form.cond}`, ...inner(form.then), 'else', ...inner(form.otherwise), 'endif'];
  }
  if (form?.k === 'each') {
    const own = target !== null && names(`${form.of} ${form.cond ?? ''} ${form.item}`).has(target);
    const list = own ? '_items' : (target ?? '_items');
    const add = `set ${list}[${form.key ?? `len(${list})`}] = ${form.item}`;
    const body = form.cond === null ? [`  ${add}`] : [`  if ${form.cond}`, `    ${add}`, '  endif'];
    const uses = list === target ? [] : use(list);
    return [
      `set ${list} = ${form.key === undefined ? '[]' : '{}'}`,
      `for each ${form.names} in ${form.of}`,
      ...body,
      'endfor',
      ...uses,
    ];
  }
  if (form?.k === 'fold') {
    const own = target !== null && names(`${form.list} ${form.body}`).has(target) && target !== form.sum;
    const sum = own ? '_sum' : (target ?? '_sum');
    const body = form.body.replace(new RegExp(`\\b${form.sum}\\b`, 'g'), sum);
    const loop = [`set ${sum} = ${form.start}`, `for each ${form.item} in ${form.list}`, `  set ${sum} = ${body}`, 'endfor'];
    return sum === target ? loop : [...loop, ...use(sum)];
  }
  return use(plain(value));
}

/** A value as an expression. A value that needs statements is computed before the statement. */
export function settled(scope: Scope, value: Value): Value {
  const form = value.form?.k;
  if ((form !== 'each' && form !== 'fold' && form !== 'choice') || scope.before === null) return value;
  const name = `${form === 'choice' ? '_value' : '_items'}${scope.before.length === 0 ? '' : scope.before.length}`;
  scope.before.push(...lifted(value, (text) => [`set ${name} = ${text}`], name));
  const { s, e, kind } = value;
  return { text: name, kind, s, e };
}

function names(text: string): ReadonlySet<string> {
  return new Set(text.match(/[A-Za-z_]\w*/g));
}

/** A value without its guard: a condition, or a choice between it and nil. */
export function unguarded(scope: Scope, value: Value): Value {
  const { guard, ...bare } = value;
  if (guard === undefined) return value;
  if (scope.condition) return { ...bare, text: `${guard} and ${plain(bare)}`, kind: 'truth' };
  return choice(guard, bare, { text: 'nil', kind: 'unknown', s: value.s, e: value.e }, value.s);
}

export function choice(cond: string, then: Value, otherwise: Value, s: number): Value {
  return { text: '', kind: then.kind, s, e: otherwise.e, form: { k: 'choice', cond, then, otherwise } };
}

const OF_TEXTS = ['tool.str.Split(', 'tool.str.SplitWords(', 'tool.str.Lines(', 'tool.map.Keys(', 'tool.regex.FindAll('];

/** A call of NeuroScript as a value. */
export function called(text: string, s: number, e: number): Value {
  const items = OF_TEXTS.some((name) => text.startsWith(name)) ? 'text' : undefined;
  return { text, kind: kindOfCall(text), s, e, items };
}

/** A literal number plus one, or a sum. */
export function plus(text: string): string {
  return /^-?\d+$/.test(text) ? `${Number(text) + 1}` : `${text} + 1`;
}
