/** What stands behind a value: its members, methods, indexes, and the arguments of a call. */
import { KEYWORDS } from '../vocabulary/keywords.ts';
import { between, list } from './brackets.ts';
import { functionCall, type Kind, kindOfCall, methodCall, TYPE_TESTS } from './calls.ts';
import type { Reader } from './reader.ts';
import { Unclear } from './scope.ts';
import { fillFormat } from './strings.ts';
import { called, plain, type Value } from './values.ts';

const NAMESPACES = new Set(['json', 'math', 'Math', 'JSON', 'Object', 'Array', 'Promise', 'Number', 'String']);
const RESERVED = new Set<string>(KEYWORDS);

/** `.name`, `.name(…)`. */
export function member(reader: Reader, of: Value): Value {
  const word = reader.words[reader.at];
  if (word?.kind !== 'name') throw new Unclear();
  reader.at++;
  const name = word.text;
  if (
    /^(?:tool|json|math|Math|JSON|Object|Array|Promise|Number|String)\b[\w.]*$/.test(of.text) &&
    !reader.scope.kinds.has(of.text)
  )
    return { text: `${of.text}.${name}`, kind: 'unknown', s: of.s, e: word.e };
  if (reader.peek() === '(') return method(reader, of, name);
  if (reader.scope.caught.includes(of.text)) return { text: `system_error.${name}`, kind: 'unknown', s: of.s, e: word.e };
  if (name === 'length' || (name === 'size' && of.kind !== 'unknown'))
    return { text: `len(${plain(of)})`, kind: 'number', s: of.s, e: word.e };
  return { text: `${plain(of)}.${name}`, kind: 'unknown', s: of.s, e: word.e, element: { of: plain(of), key: `"${name}"` } };
}

function method(reader: Reader, of: Value, name: string): Value {
  const args = list(reader, '(', ')');
  const e = reader.words[reader.at - 1]?.e ?? of.e;
  const { s } = of;
  const [first, second] = args;
  if (first?.form?.k === 'arrow') return { ...overItems(plain(of), name, first, second), s, e };
  const texts = args.map(plain);
  const whole = ranges(reader, of, name, texts);
  if (whole !== undefined) return { text: whole, kind: of.kind, s, e };
  if (name === 'format' && of.literal === true) return { text: fillFormat(of.text, texts), kind: 'text', s, e };
  if (name === 'get' && texts.length === 1) return { text: `${plain(of)}[${texts[0]}]`, kind: 'unknown', s, e };
  const kind = of.kind === 'unknown' && /^(?:includes|contains|include|index|indexOf)$/.test(name) ? 'list' : of.kind;
  const text = methodCall(name, plain(of), kind, texts);
  if (text === undefined) throw new Unclear();
  if (kind !== of.kind || name === 'pop') reader.scope.guess();
  if (name === 'pop') reader.scope.after.push(`set ${plain(of)} = tool.list.Slice(${plain(of)}, 0, len(${plain(of)}) - 1)`);
  const same = ['concat', 'copy'].includes(name) ? of.kind : kindOfCall(text);
  return { text, kind: same, s, e };
}

/** `slice`, `substring` and `at`, whose arguments count otherwise. */
function ranges(reader: Reader, of: Value, name: string, [from, to]: readonly string[]): string | undefined {
  const text = plain(of);
  if (name === 'at' && from !== undefined) return `${text}[${from.startsWith('-') ? `len(${text}) - ${from.slice(1)}` : from}]`;
  if (name !== 'slice' && name !== 'substring') return undefined;
  if (from === undefined) return undefined;
  return slice(reader, text, name === 'substring' ? 'text' : of.kind, from, to ?? `len(${text})`);
}

function slice(reader: Reader, of: string, kind: Kind, from: string, to: string): string {
  const end = to.startsWith('-') ? `len(${of}) - ${to.slice(1)}` : to;
  const begin = from.startsWith('-') ? `len(${of}) - ${from.slice(1)}` : from;
  if (kind === 'unknown') reader.scope.guess();
  return kind === 'text'
    ? `tool.str.Substring(${of}, ${begin}, ${difference(end, begin)})`
    : `tool.list.Slice(${of}, ${begin}, ${end})`;
}

/** `xs.map(x => …)`, `xs.filter(…)`, `xs.reduce(…)`. */
function overItems(of: string, name: string, { form, s, e }: Value, start: Value | undefined): Value {
  if (form?.k !== 'arrow') throw new Unclear();
  const [first = '_item', second] = form.params;
  const body = plain(form.body);
  const names = second === undefined ? first : `${second}, ${first}`;
  if (name === 'map') return { text: '', kind: 'list', s, e, form: { k: 'each', names, of, cond: null, item: body } };
  if (name === 'filter') return { text: '', kind: 'list', s, e, form: { k: 'each', names, of, cond: body, item: first } };
  if (name !== 'reduce' || start === undefined || second === undefined) throw new Unclear();
  return {
    text: '',
    kind: start.kind,
    s,
    e,
    form: { k: 'fold', list: of, sum: first, item: second, start: plain(start), body },
  };
}

/** `[key]`, `[from:to]`. */
export function index(reader: Reader, of: Value): Value {
  reader.expect('[');
  const text = plain(of);
  const from = reader.peek() === ':' ? null : reader.read();
  if (reader.take(':')) {
    const to = reader.peek() === ']' ? null : reader.read();
    const e = reader.expect(']').e;
    const sliced = slice(reader, text, of.kind, from === null ? '0' : plain(from), to === null ? `len(${text})` : plain(to));
    return { text: sliced, kind: of.kind, s: of.s, e };
  }
  if (from === null) throw new Unclear();
  const e = reader.expect(']').e;
  const key = plain(from);
  const negative = from.literal === true && key.startsWith('-') && of.kind !== 'map';
  const at = negative ? `len(${text}) - ${key.slice(1)}` : key;
  return { text: `${text}[${at}]`, kind: 'unknown', s: of.s, e, element: { of: text, key } };
}

/** The arguments of a function, which may be one of another language. */
export function call(reader: Reader, of: Value): Value {
  const at = reader.at;
  const name = of.text;
  const args = list(reader, '(', ')');
  const open = reader.words[at];
  const last = reader.words[reader.at - 1];
  if (open === undefined || last === undefined) throw new Unclear();
  const { s } = of;
  const { e } = last;
  const texts = args.map(plain);
  if (name === 'isinstance' && texts.length === 2) {
    const test = TYPE_TESTS[texts[1] ?? ''];
    if (test !== undefined) return { text: `${test}(${texts[0]})`, kind: 'unknown', s, e };
  }
  if (name === 'dict') return { text: `{${named(reader, at)}}`, kind: 'map', s, e };
  const known = reader.scope.procedures.has(name) || name.startsWith('tool.') || (RESERVED.has(name) && name !== 'set');
  const foreign = known ? undefined : functionCall(name, texts);
  if (foreign !== undefined) return { ...called(foreign, s, e), kind: foreign.startsWith('"') ? 'text' : kindOfCall(foreign) };
  if (NAMESPACES.has(name.split('.')[0] ?? '') && !known) throw new Unclear();
  return called(`${name}${reader.source.slice(open.s, open.e)}${between(reader, args, open, last)})`, s, e);
}

/** `a=1, b=2` as the inside of a map. */
function named(reader: Reader, at: number): string {
  const parts: string[] = [];
  for (let index = at + 1; index < reader.at - 1; index++) {
    const [name, equals] = [reader.words[index], reader.words[index + 1]];
    if (name?.kind !== 'name' || equals?.text !== '=') continue;
    parts.push(`"${name.text}": ${plain(reader.part(reader.words.slice(index + 2, reader.at - 1)))}`);
  }
  return parts.join(', ');
}

function difference(end: string, begin: string): string {
  if (begin === '0') return end;
  return /^\d+$/.test(end) && /^\d+$/.test(begin) ? `${Number(end) - Number(begin)}` : `${end} - ${begin}`;
}
