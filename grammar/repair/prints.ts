/** Translates print statements of other languages into emits. */
import { translate } from './expression.ts';
import type { Word } from './lexer.ts';
import { partsOf } from './operators.ts';
import { type Scope, Unclear } from './scope.ts';
import { separate, separateAtCommas, wraps } from './split.ts';
import { filled, fillFormat, quoted } from './strings.ts';
import { lifted, plain, type Value } from './values.ts';

/** A statement that prints, without its first word `first`, as an emit. */
export function print(source: string, first: string, words: readonly Word[], scope: Scope): readonly string[] {
  const [open] = words;
  const read = (some: readonly Word[]): Value => translate(source, some, scope);
  const called = open?.text === '(' && wraps(words);
  const inner = called ? words.slice(1, -1) : words;
  if (inner.length === 0) return ['emit ""'];
  const [format] = inner;
  if (first === 'echo' && !called)
    return echo(source, inner[0]?.text === '-n' || inner[0]?.text === '-e' ? inner.slice(1) : inner, scope);
  if (!called && first === 'printf' && format?.kind === 'text') {
    const values = separate(inner.slice(1)).map((one) => plain(read(one)));
    return [`emit ${fillFormat(format.text, values)}`];
  }
  const parts = separateAtCommas(inner);
  const option = (name: string): readonly Word[] | undefined =>
    parts.find(([key, equals]) => key?.text === name && equals?.text === '=')?.slice(2);
  const shown = parts.filter(([key, equals]) => !(/^(?:sep|end|file|flush)$/.test(key?.text ?? '') && equals?.text === '='));
  // A print without a line feed continues its line, but an emit is a whole line.
  if (shown.length < parts.length) scope.guess();
  if (shown.length > 1 && /^(?:puts|say|write|output|display)$/.test(first)) scope.guess();
  const separator = option('sep');
  return lifted(joinedValue(source, first, shown, scope, separator === undefined ? '" "' : plain(read(separator))), (text) => [
    `emit ${text}`,
  ]);
}

/** An emit of one value, or of several with commas between them, which may stand in brackets as the arguments of a print do. */
export function emit(source: string, words: readonly Word[], scope: Scope): readonly string[] {
  const inner = words[0]?.text === '(' && wraps(words) ? separateAtCommas(words.slice(1, -1)) : [];
  const parts = inner.length > 1 ? inner : separateAtCommas(words);
  return lifted(joinedValue(source, 'emit', parts, scope), (text) => [`emit ${text}`]);
}

/** Words of the shell, with blanks between them; with commas those of PHP. */
function echo(source: string, words: readonly Word[], scope: Scope): readonly string[] {
  const names = words.every(({ kind }) => kind === 'name') && !words.some(({ text }) => scope.kinds.has(text));
  if (names) return [`emit ${quoted(words.map(({ text }) => text).join(' '))}`];
  const commas = separateAtCommas(words);
  if (commas.length === 1 && words.some(({ text, kind }) => kind === 'mark' && /^[-+*/.(]$/.test(text)))
    return lifted(translate(source, words, scope), (text) => [`emit ${text}`]);
  const values = (commas.length > 1 ? commas : separate(words)).map((one) => translate(source, one, scope));
  return [`emit ${joinedBy(values, commas.length > 1 ? '""' : '" "')}`];
}

/** One value, or several with a separator between them. */
function joinedValue(
  source: string,
  printer: string,
  parts: readonly (readonly Word[])[],
  scope: Scope,
  separator = '" "',
): Value {
  const values = parts.map((one) => translate(source, one, scope));
  const [first] = values;
  if (first === undefined) throw new Unclear();
  // Rust fills in names.
  if (values.length === 1 && printer === 'println' && first.literal === true && first.text.includes('{')) scope.guess();
  if (values.length === 1) return first;
  const texts = values.map(plain);
  if (first.literal === true && /(?<!\{)\{\}|%[dsv]/.test(first.text)) {
    if (printer === 'print') scope.guess();
    return { ...first, text: fillFormat(first.text, texts.slice(1)) };
  }
  return { ...first, text: joinedBy(values, separator) };
}

/** Values with a separator between them. Gives a sum that begins with text, or a template, because a sum of numbers is a number. */
export function joinedBy(values: readonly Value[], separator: string): string {
  const between = separator === '""' ? [] : [separator];
  if (values[0]?.worded === true) {
    const bare = (value: Value): string =>
      value.operator === undefined && !/ (?:and|or) /.test(value.text) ? plain(value) : `(${plain(value)})`;
    return values.flatMap((value, index) => [...(index === 0 ? [] : between), bare(value)]).join(' + ');
  }
  const gap = partsOf({ text: separator, kind: 'text', s: 0, e: 0 }).filter((part) => part !== '');
  return filled(values.flatMap((value, index) => [...(index === 0 ? [] : gap), ...partsOf(value)]));
}
