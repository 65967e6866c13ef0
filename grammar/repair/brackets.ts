/** What stands in brackets: groups, lists, comprehensions, maps, ranges. */
import type { Reader } from './reader.ts';
import { Unclear } from './scope.ts';
import { plain, plus, type Value } from './values.ts';
import type { Word } from './words.ts';

/** The items of a bracket as they stand, each translated. */
export function between(reader: Reader, items: readonly Value[], open: Word, close: Word): string {
  let text = '';
  let at = open.e;
  for (const item of items) {
    const gap = reader.source.slice(at, item.s);
    const first = at === open.e;
    const other = gap.includes('=') || gap.includes(';') || (gap.trim() === '' && !first);
    text += other ? (first ? '' : ', ') : gap;
    text += plain(item);
    at = item.e;
  }
  return (
    text +
    (close.text === ')' || close.text === ']' || close.text === '}' ? reader.source.slice(at, close.s).replace(/,\s*$/, '') : '')
  );
}

/** Items in brackets with commas between them. A missing comma or closing bracket is put in. */
export function list(reader: Reader, open: string, close: string): readonly Value[] {
  reader.expect(open);
  const items: Value[] = [];
  while (!reader.done && reader.peek() !== close) {
    if (reader.words[reader.at]?.kind === 'name' && reader.peek(1) === '=' && open === '(') {
      reader.scope.guess();
      reader.at += 2;
    }
    items.push(reader.read());
    if (reader.peek() === close || reader.take(',')) continue;
    reader.take(';');
    reader.scope.guess();
  }
  if (!reader.take(close)) reader.scope.guess();
  return items;
}

/** `(value)`, `(a, b)`. */
export function group(reader: Reader, open: Word): Value {
  const at = reader.at;
  const items = list(reader, '(', ')');
  const last = reader.words[reader.at - 1] ?? open;
  const [only] = items;
  const comma = reader.words[reader.at - 2]?.text === ',';
  if (items.length !== 1 || comma || only === undefined) {
    if (reader.words.slice(at, reader.at).some(({ text }) => text === ';')) throw new Unclear();
    return { text: '', kind: 'list', s: open.s, e: last.e, form: { k: 'items', items: items.map(plain) } };
  }
  if (only.form !== undefined) return { ...only, s: open.s, e: last.e };
  return { text: `(${between(reader, items, open, last)})`, kind: only.kind, s: open.s, e: last.e };
}

/** `[a, b]`, `[x * 2 for x in xs]`. */
export function listLiteral(reader: Reader, open: Word): Value {
  const loop = comprehension(reader, open);
  if (loop !== null) return loop;
  const items = list(reader, '[', ']');
  const last = reader.words[reader.at - 1] ?? open;
  return { text: `[${between(reader, items, open, last)}]`, kind: 'list', s: open.s, e: last.e, literal: true };
}

/** `[x * 2 for x in xs if x > 2]` */
function comprehension(reader: Reader, open: Word): Value | null {
  const start = reader.at;
  const found = reader.words.findIndex(({ text }, index) => index > start && text === 'for');
  if (found < 0) return null;
  reader.expect('[');
  const item = plain(reader.read());
  if (!reader.take('for')) {
    reader.at = start;
    return null;
  }
  const names: string[] = [];
  while (!reader.done && !reader.take('in')) names.push(reader.words[reader.at++]?.text ?? '');
  const of = plain(reader.operand(1));
  const cond = reader.take('if') ? plain(reader.operand(1)) : null;
  const e = reader.expect(']').e;
  const form = { k: 'each', names: names.join('').replace(/,/g, ', '), of, cond, item } as const;
  return { text: '', kind: 'list', s: open.s, e, form };
}

/** `{key: value}`, `{...map, name}`, `{1..3}`. */
export function map(reader: Reader, open: Word): Value {
  reader.expect('{');
  const parts: string[] = [];
  const spread: string[] = [];
  const numbers = range(reader, open);
  if (numbers !== null) return numbers;
  let [at, changed] = [open.e, false];
  while (!reader.done && reader.peek() !== '}') {
    const word = reader.words[reader.at];
    if (reader.take('...')) {
      if (parts.length > 0) throw new Unclear();
      spread.push(plain(reader.read()));
      at = reader.words[reader.at]?.e ?? at;
      reader.take(',');
      continue;
    }
    const key = reader.read();
    const bare = word?.kind === 'name' && key.text === word.text && !reader.scope.kinds.has(word.text);
    const lead = parts.length === 0 && spread.length > 0 ? '' : reader.source.slice(at, key.s);
    if (reader.peek() === ',' || reader.peek() === '}') {
      if (word?.kind !== 'name') throw new Unclear();
      parts.push(`${lead}"${key.text}": ${key.text}`);
      changed = true;
      at = key.e;
    } else {
      if (!reader.take(':') && !reader.take('=>') && !reader.take('=')) throw new Unclear();
      const value = reader.read();
      parts.push(`${lead}${bare ? `"${plain(key)}"` : plain(key)}: ${plain(value)}`);
      at = value.e;
    }
    if (reader.peek() === '}') break;
    if (reader.peek() === ',') {
      parts.push(reader.source.slice(at, reader.words[reader.at]?.e));
      at = reader.words[reader.at]?.e ?? at;
    }
    reader.expect(',');
  }
  const close = reader.expect('}');
  const text = `{${parts.join('')}${spread.length === 0 ? reader.source.slice(at, close.s) : ''}}`;
  const kind = 'map';
  if (spread.length === 0) return { text, kind, s: open.s, e: close.e, ...(changed ? {} : { literal: true }) };
  const merged = spread.reduce((all, one) => `tool.map.Merge(${all}, ${one})`);
  return { text: parts.length === 0 ? merged : `tool.map.Merge(${merged}, ${text})`, kind, s: open.s, e: close.e };
}

/** `{1..3}` */
function range(reader: Reader, open: Word): Value | null {
  const [from, dots, to, close] = reader.words.slice(reader.at);
  if (from?.kind !== 'number' || dots?.text !== '..' || to?.kind !== 'number' || close?.text !== '}') return null;
  reader.at += 4;
  return { text: `tool.list.Range(${from.text}, ${plus(to.text)})`, kind: 'list', s: open.s, e: close.e };
}
