/** Translates the contents of brackets: groups, lists, comprehensions, maps, ranges. */

import type { Word } from './lexer.ts';
import type { Reader } from './reader.ts';
import { Unclear } from './scope.ts';
import { type Each, plain, plus, settled, type Value } from './values.ts';

/** The items of a bracket, each translated. */
export function between(reader: Reader, items: readonly Value[], open: Word, close: Word): string {
  let text = '';
  let at = open.e;
  for (const written of items) {
    const item = settled(reader.scope, written);
    const gap = reader.source.slice(at, item.s);
    const first = at === open.e;
    const other = gap.includes('=') || gap.includes(':') || gap.includes(';') || (gap.trim() === '' && !first);
    text += other ? (first ? '' : ', ') : gap;
    text += plain(item);
    at = item.e;
  }
  return (
    text +
    (close.text === ')' || close.text === ']' || close.text === '}' ? reader.source.slice(at, close.s).replace(/,\s*$/, '') : '')
  );
}

/**
 * Items in brackets with commas between them. A missing comma or closing bracket is inserted. `inCondition` says that they are part of a
 * condition.
 */
export function list(reader: Reader, open: string, close: string, inCondition = false): readonly Value[] {
  reader.expect(open);
  const items: Value[] = [];
  const { condition } = reader.scope;
  reader.scope.condition = inCondition;
  while (!reader.done && reader.peek() !== close) {
    if (reader.words[reader.at]?.kind === 'name' && ['=', ':'].includes(reader.peek(1) ?? '') && open === '(') {
      reader.scope.guess();
      reader.at += 2;
    }
    const item = reader.read();
    items.push(open === '(' && reader.peek() === 'for' ? generated(reader, item) : item);
    if (reader.peek() === close || reader.take(',')) continue;
    reader.take(';');
    reader.scope.guess();
  }
  if (!reader.take(close)) reader.scope.guess();
  reader.scope.condition = condition;
  return items;
}

/** `(value)`, `(a, b)`. */
export function group(reader: Reader, open: Word): Value {
  const at = reader.at;
  const items = list(reader, '(', ')', reader.scope.condition);
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
  const [first, sign] = reader.words.slice(reader.at + 1);
  const keyed = (first?.kind === 'text' || first?.kind === 'number') && (sign?.text === ':' || sign?.text === '=>');
  if (keyed) {
    reader.scope.guess();
    return map(reader, open);
  }
  if (first?.text === ':' && sign?.text === ']') {
    reader.at += 3;
    return { text: '{}', kind: 'map', s: open.s, e: sign.e, literal: true };
  }
  const start = reader.at;
  const items = list(reader, '[', ']');
  const last = reader.words[reader.at - 1] ?? open;
  const spreads = items.map(({ s }) => reader.words.slice(start).find(({ e }) => e === s)?.text === '...');
  if (spreads.includes(true)) {
    const text = items.map((item, index) => (spreads[index] === true ? plain(item) : `[${plain(item)}]`)).join(' + ');
    return { text: `(${text})`, kind: 'list', s: open.s, e: last.e };
  }
  const [kind] = items.map((item) => item.kind);
  const alike = items.every((item) => item.kind === kind) ? kind : undefined;
  return { text: `[${between(reader, items, open, last)}]`, kind: 'list', s: open.s, e: last.e, literal: true, items: alike };
}

/** `{1, 2}` after `[]int`. */
export function typedList(reader: Reader, open: Word): Value {
  const items = list(reader, '{', '}').map(plain);
  const e = reader.words[reader.at - 1]?.e ?? open.e;
  return { text: `[${items.join(', ')}]`, kind: 'list', s: open.s, e, literal: true };
}

/** `[x * 2 for x in xs if x > 2]` */
function comprehension(reader: Reader, open: Word): Value | null {
  const start = reader.at;
  const found = reader.words.findIndex(({ text }, index) => index > start && text === 'for');
  if (found < 0) return null;
  reader.expect('[');
  const item = plain(reader.read());
  if (reader.peek() !== 'for') {
    reader.at = start;
    return null;
  }
  const form = { ...items(reader), item };
  return { text: '', kind: 'list', s: open.s, e: reader.expect(']').e, form };
}

/** `x * 2 for x in xs`, as an argument. */
function generated(reader: Reader, item: Value): Value {
  const form = { ...items(reader), item: plain(item) };
  return { text: '', kind: 'list', s: item.s, e: reader.words[reader.at - 1]?.e ?? item.e, form };
}

/** `for x in xs if x > 2`, after the expression for each item. */
function items(reader: Reader): Omit<Each, 'item'> {
  reader.expect('for');
  const names: string[] = [];
  for (; !reader.done && !reader.take('in'); reader.at++) {
    const word = reader.words[reader.at];
    if (word?.kind === 'name') names.push(word.text);
  }
  if (names.some((name) => reader.scope.kinds.has(name))) reader.scope.guess();
  const over = plain(reader.operand(1));
  const pairs = names.length === 2 && over.startsWith('tool.map.Entries(') && over.endsWith(')');
  const of = pairs ? over.slice('tool.map.Entries('.length, -1) : over;
  if (names.length > 2 || (names.length === 2 && !pairs)) throw new Unclear();
  const cond = reader.take('if') ? plain(reader.operand(1)) : null;
  return { k: 'each', names: names.join(', '), of, cond };
}

/** `{key: value}`, `{...map, name}`, `{1..3}`; in square brackets in Swift and PHP. */
export function map(reader: Reader, open: Word): Value {
  reader.expect(open.text);
  const end = open.text === '[' ? ']' : '}';
  const parts: string[] = [];
  const spread: string[] = [];
  const numbers = range(reader, open);
  if (numbers !== null) return numbers;
  let [at, changed] = [open.e, false];
  while (!reader.done && reader.peek() !== end) {
    const word = reader.words[reader.at];
    if (reader.take('...')) {
      if (parts.length > 0) throw new Unclear();
      spread.push(plain(reader.read()));
      at = reader.words[reader.at]?.e ?? at;
      reader.take(',');
      continue;
    }
    if (parts.length === 0 && spread.length === 0 && isList(reader)) {
      reader.at--;
      return typedList(reader, open);
    }
    const key = keyOf(reader);
    const named = word?.kind === 'name' && key.text === word.text;
    const sign = reader.peek();
    const known = named && reader.scope.kinds.has(word.text);
    // A name before a colon is a key in JavaScript and a variable in Python.
    if (known && sign === ':') reader.scope.guess();
    const bare = named && (!known || sign === '=' || reader.scope.script);
    const lead = parts.length === 0 && spread.length > 0 ? '' : reader.source.slice(at, key.s);
    if (reader.peek() === ',' || reader.peek() === end) {
      if (word?.kind !== 'name') throw new Unclear();
      parts.push(`${lead}"${key.text}": ${key.text}`);
      changed = true;
      at = key.e;
    } else {
      if (!reader.take(':') && !reader.take('=>') && !reader.take('=')) throw new Unclear();
      const read = reader.read();
      if (parts.length === 0 && reader.peek() === 'for') {
        const form = { ...items(reader), key: plain(key), item: plain(read) };
        return { text: '', kind: 'map', s: open.s, e: reader.expect(end).e, form };
      }
      const value = settled(reader.scope, read);
      parts.push(`${lead}${bare ? `"${plain(key)}"` : plain(key)}: ${plain(value)}`);
      at = value.e;
    }
    if (reader.peek() === end) break;
    const next = reader.words[reader.at];
    if (reader.peek() === ',' || next === undefined) {
      parts.push(reader.source.slice(at, next?.e));
      at = next?.e ?? at;
      reader.expect(',');
    } else if (reader.source.slice(at, next.s).includes('\n')) {
      parts.push(',');
      reader.scope.guess();
    } else throw new Unclear();
  }
  const close = reader.expect(end);
  const text = `{${parts.join('')}${spread.length === 0 ? reader.source.slice(at, close.s) : ''}}`;
  const kind = 'map';
  if (spread.length === 0) return { text, kind, s: open.s, e: close.e, ...(changed ? {} : { literal: true }) };
  const merged = spread.reduce((all, one) => `tool.map.Merge(${all}, ${one})`);
  return { text: parts.length === 0 ? merged : `tool.map.Merge(${merged}, ${text})`, kind, s: open.s, e: close.e };
}

/** Whether braces hold items and no keys, as in Lua and C#. */
function isList(reader: Reader): boolean {
  const [first, sign] = reader.words.slice(reader.at);
  return (first?.kind === 'number' || first?.kind === 'text') && (sign?.text === ',' || sign?.text === '}');
}

/** The key of a map. In JavaScript, `[key]` is the value of a variable. */
function keyOf(reader: Reader): Value {
  const [word, sign] = reader.words.slice(reader.at);
  if (word?.kind === 'name' && sign?.text === '=') {
    reader.at++;
    return { text: word.text, kind: 'unknown', s: word.s, e: word.e };
  }
  const key = reader.read();
  return key.kind === 'list' && /^\[.*\]$/s.test(key.text) ? { ...key, text: key.text.slice(1, -1) } : key;
}

/** `{1..3}` */
function range(reader: Reader, open: Word): Value | null {
  const [from, dots, to, close] = reader.words.slice(reader.at);
  if (from?.kind !== 'number' || dots?.text !== '..' || to?.kind !== 'number' || close?.text !== '}') return null;
  reader.at += 4;
  return { text: `tool.list.Range(${from.text}, ${plus(to.text)})`, kind: 'list', s: open.s, e: close.e };
}
