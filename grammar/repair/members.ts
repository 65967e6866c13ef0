/** Translates members, methods and indexes after a value. */
import { list } from './brackets.ts';
import { functionCalled, type Kind, kindOfCall, methodCall, operand } from './calls.ts';
import type { Reader } from './reader.ts';
import { Unclear } from './scope.ts';
import { SEARCHES, searched } from './search.ts';
import { fillFormat } from './strings.ts';
import { plain, settled, type Value } from './values.ts';

/** Predicates of Ruby: `xs.empty?`. */
const ASKED: Readonly<Record<string, string>> = {
  empty: 'no $0',
  nil: '$0 == nil',
  any: 'some $0',
  zero: '$0 == 0',
  even: '$0 % 2 == 0',
};

/** Groups of the standard tools, for a text of which no tool is known. */
const GROUPS = new Set('str list map math json regex csv time fs crypto diff shape template meta store memory'.split(' '));

export function member(reader: Reader, of: Value): Value {
  const word = reader.words[reader.at];
  if (word?.kind !== 'name') throw new Unclear();
  reader.at++;
  const name = word.text;
  const tool = `tool.${of.text}.${name}`;
  const { tools, kinds } = reader.scope;
  const known = tools.size === 0 ? /^[A-Z]/.test(name) && GROUPS.has(of.text) : tools.has(tool.toLowerCase());
  const isTool = known && !kinds.has(of.text) && reader.peek() === '(';
  if (isTool && (/^[A-Z]/.test(name) || !functionCalled(`${of.text}.${name}`))) {
    reader.scope.guess();
    return { text: tool, kind: 'unknown', s: of.s, e: word.e };
  }
  if (
    /^(?:tool|json|math|Math|JSON|Object|Array|Promise|Number|String|strings|string|strconv|fmt|errors)\b[\w.]*$/.test(of.text) &&
    !reader.scope.kinds.has(of.text)
  )
    return { text: `${of.text}.${name}`, kind: 'unknown', s: of.s, e: word.e };
  if (reader.peek() === '(') return method(reader, of, name);
  if (reader.peek() === '?' && reader.words[reader.at]?.s === word.e) {
    const asked = ASKED[name];
    if (asked !== undefined && !reader.words.slice(reader.at).some(({ text }) => text === ':')) {
      reader.at++;
      return { text: asked.replace('$0', operand(plain(of))), kind: 'truth', s: of.s, e: word.e + 1 };
    }
  }
  if (reader.scope.caught.includes(of.text)) return { text: `system_error.${name}`, kind: 'unknown', s: of.s, e: word.e };
  const isKey = reader.scope.keys.has(name) && of.kind !== 'list' && of.kind !== 'text';
  if (!isKey && (name === 'length' || (name === 'size' && of.kind !== 'unknown')))
    return { text: `len(${plain(settled(reader.scope, of))})`, kind: 'number', s: of.s, e: word.e };
  return { text: `${plain(of)}.${name}`, kind: 'unknown', s: of.s, e: word.e, element: { of: plain(of), key: `"${name}"` } };
}

function method(reader: Reader, receiver: Value, name: string): Value {
  const { scope } = reader;
  const args = list(reader, '(', ')');
  const e = reader.words[reader.at - 1]?.e ?? receiver.e;
  const { s } = receiver;
  const [first, second] = args;
  const of = settled(scope, receiver);
  if (first?.form?.k === 'arrow') {
    const { params, body } = first.form;
    const [item = '_item', place] = params;
    const names = place === undefined ? item : `${place}, ${item}`;
    const search = SEARCHES[name];
    if (search !== undefined) return searched(scope, search, { names, of: plain(of), cond: plain(body), item }, s, e);
    return { ...overItems(plain(of), name, first, second), s, e };
  }
  const texts = args.map((arg) => plain(settled(scope, arg)));
  const whole = ranges(reader, of, name, texts);
  if (whole !== undefined) return { text: whole, kind: of.kind, s, e };
  if (name === 'format' && of.literal === true) return { text: fillFormat(of.text, texts), kind: 'text', s, e };
  if (name === 'get' && texts.length === 1) return { text: `${plain(of)}[${texts[0]}]`, kind: 'unknown', s, e };
  if (/^(?:shift|pop 0)$/.test([name, ...texts].join(' ')) && scope.before !== null) {
    scope.after.push(`set ${plain(of)} = tool.list.Rest(${plain(of)})`);
    return { text: `${plain(of)}[0]`, kind: 'unknown', s, e };
  }
  const kind = of.kind === 'unknown' && /^(?:includes|contains|include|index|indexOf)$/.test(name) ? 'list' : of.kind;
  const call = methodCall(name, plain(of), kind, texts);
  if (call === undefined) throw new Unclear();
  if (kind !== of.kind || call.doubtful) scope.guess();
  if (name === 'pop') scope.after.push(`set ${plain(of)} = tool.list.Slice(${plain(of)}, 0, len(${plain(of)}) - 1)`);
  const same = ['concat', 'copy'].includes(name) ? of.kind : kindOfCall(call.text);
  return { text: call.text, kind: /^(?:toString|to_s)$/.test(name) ? 'text' : same, s, e };
}

/** `slice`, `substring` and `at`, whose arguments have another meaning. */
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
export function overItems(of: string, name: string, { form, s, e }: Value, start: Value | undefined): Value {
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
  // PHP appends so.
  if (reader.peek() === ']' && reader.at === reader.words.length - 1) {
    const { e } = reader.expect(']');
    return { text: `${text}[len(${text})]`, kind: 'unknown', s: of.s, e, element: { of: text, key: `len(${text})` } };
  }
  if (reader.peek() === '::' && reader.peek(1) === '-' && reader.peek(2) === '1') {
    reader.at += 3;
    const reversed =
      of.kind === 'text' ? `tool.str.Join(tool.list.Reverse(tool.str.Split(${text}, "")), "")` : `tool.list.Reverse(${text})`;
    if (of.kind === 'unknown') reader.scope.guess();
    return { text: reversed, kind: of.kind, s: of.s, e: reader.expect(']').e };
  }
  const [colon, symbol, close] = reader.words.slice(reader.at);
  const named = symbol?.kind === 'name' && symbol.s === colon?.e && close?.text === ']' && colon.text === ':';
  if (named && (of.kind === 'map' || !reader.scope.kinds.has(symbol.text))) {
    reader.at += 3;
    const key = `"${symbol.text}"`;
    return { text: `${text}[${key}]`, kind: 'unknown', s: of.s, e: close.e, element: { of: text, key } };
  }
  const from = reader.peek() === ':' ? null : settled(reader.scope, reader.read());
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
  if (negative && of.kind === 'unknown') reader.scope.guess();
  const at = negative ? `len(${text}) - ${key.slice(1)}` : key;
  return { text: `${text}[${at}]`, kind: of.items ?? 'unknown', s: of.s, e, element: { of: text, key } };
}

function difference(end: string, begin: string): string {
  if (begin === '0') return end;
  return /^\d+$/.test(end) && /^\d+$/.test(begin) ? `${Number(end) - Number(begin)}` : `${end} - ${operand(begin)}`;
}
