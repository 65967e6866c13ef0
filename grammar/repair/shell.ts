/** Translates values of the shell, which begin with a dollar, and variables of SQL, which begin with `@`. */

import type { Word } from './lexer.ts';
import type { Reader } from './reader.ts';
import { Unclear } from './scope.ts';
import { choice, plain, plus, type Value } from './values.ts';

/** `$n`, `${n}`, `${#n}`, `${n:-5}`, `$((n + 1))`, `$(call)`. */
export function dollar(reader: Reader, open: Word): Value {
  reader.at++;
  const { s } = open;
  if (open.text === '$((') {
    const { whole } = reader.scope;
    reader.scope.whole = true;
    const value = reader.read();
    reader.scope.whole = whole;
    reader.expect(')');
    return { text: `(${plain(value)})`, kind: 'number', s, e: reader.expect(')').e };
  }
  if (open.text === '$(') {
    if (reader.take('seq')) {
      const numbers: string[] = [];
      while (!reader.done && reader.peek() !== ')') numbers.push(plain(reader.prefix()));
      const [from = '1', to] = numbers.length === 1 ? ['1', ...numbers] : numbers;
      if (to === undefined || numbers.length > 2) throw new Unclear();
      return { text: `tool.list.Range(${from}, ${plus(to)})`, kind: 'list', s, e: reader.expect(')').e };
    }
    const value = reader.read();
    return { ...value, s, e: reader.expect(')').e };
  }
  if (open.text === '$' || open.text === '@') {
    const word = reader.words[reader.at];
    if (word?.kind !== 'name') throw new Unclear();
    reader.at++;
    return { text: word.text, kind: reader.scope.kindOf(word.text), s, e: word.e };
  }
  return braced(reader, s);
}

function braced(reader: Reader, s: number): Value {
  const counts = reader.take('#');
  const value = postfixWithoutStars(reader);
  if (reader.take(':')) {
    reader.expect('-');
    const otherwise = reader.read();
    const e = reader.expect('}').e;
    const [of, key] = [value.element?.of, value.element?.key];
    if (of === undefined || key === undefined) return choice(`${plain(value)} != nil`, value, otherwise, s);
    return { text: `tool.map.Get(${of}, ${key}, ${plain(otherwise)})`, kind: otherwise.kind, s, e };
  }
  const e = reader.expect('}').e;
  return { ...value, text: counts ? `len(${plain(value)})` : value.text, s, e };
}

/** A name of the shell, with `[@]` for all of it. */
function postfixWithoutStars(reader: Reader): Value {
  const [name, open, all, close] = reader.words.slice(reader.at);
  const whole = open?.text === '[' && (all?.text === '@' || all?.text === '*') && close?.text === ']';
  if (name?.kind !== 'name' || !whole) return reader.postfix();
  reader.at += 4;
  return { text: name.text, kind: 'list', s: name.s, e: close.e };
}
