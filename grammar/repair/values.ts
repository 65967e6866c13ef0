/** What a value of an expression is made of. */
import { type Kind, kindOfCall } from './calls.ts';
import { Unclear } from './scope.ts';

/** A part of an expression as NeuroScript, with its place in the old text. */
export interface Value {
  readonly text: string;
  readonly kind: Kind;
  readonly s: number;
  readonly e: number;
  /** Set if the value is written down and not computed. */
  readonly literal?: boolean;
  /** Set if the value is an element: of what, and of which key. */
  readonly element?: { readonly of: string; readonly key: string };
  /** Set for what NeuroScript has statements for. Such a value has no text. */
  readonly form?: Form;
}

/** What takes several statements in NeuroScript. */
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

/** A loop that fills a list. */
export interface Each {
  readonly k: 'each';
  readonly names: string;
  readonly of: string;
  readonly cond: string | null;
  readonly item: string;
}

/** The text of a value that needs no statements of its own. */
export function plain(value: Value): string {
  if (value.form?.k === 'items') return `[${value.form.items.join(', ')}]`;
  if (value.form !== undefined) throw new Unclear();
  return value.text;
}

/** Statements that use a value: one, or several for a value that NeuroScript has statements for. */
export function lifted(value: Value, use: (text: string) => readonly string[], target: string | null = null): readonly string[] {
  const { form } = value;
  if (form?.k === 'choice') {
    const inner = (one: Value): readonly string[] => lifted(one, use, target).map((line) => `  ${line}`);
    return [`if ${form.cond}`, ...inner(form.then), 'else', ...inner(form.otherwise), 'endif'];
  }
  if (form?.k === 'each') {
    const list = target ?? '_items';
    const add = `set ${list}[len(${list})] = ${form.item}`;
    const body = form.cond === null ? [`  ${add}`] : [`  if ${form.cond}`, `    ${add}`, '  endif'];
    return [`set ${list} = []`, `for each ${form.names} in ${form.of}`, ...body, 'endfor', ...(target === null ? use(list) : [])];
  }
  if (form?.k === 'fold') {
    const sum = target ?? '_sum';
    const body = form.body.replace(new RegExp(`\\b${form.sum}\\b`, 'g'), sum);
    const loop = [`set ${sum} = ${form.start}`, `for each ${form.item} in ${form.list}`, `  set ${sum} = ${body}`, 'endfor'];
    return target === null ? [...loop, ...use(sum)] : loop;
  }
  return use(plain(value));
}

/** One of two values, by a condition. */
export function choice(cond: string, then: Value, otherwise: Value, s: number): Value {
  return { text: '', kind: then.kind, s, e: otherwise.e, form: { k: 'choice', cond, then, otherwise } };
}

/** A call of NeuroScript as a value. */
export function called(text: string, s: number, e: number): Value {
  return { text, kind: kindOfCall(text), s, e };
}

/** One more than a number that is written down, or a sum. */
export function plus(text: string): string {
  return /^-?\d+$/.test(text) ? `${Number(text) + 1}` : `${text} + 1`;
}
