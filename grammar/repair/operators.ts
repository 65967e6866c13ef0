/** Operators of common languages: how they are spelt, how tightly they bind, and what they become. */
import { type Kind, methodCall } from './calls.ts';
import type { Reader } from './reader.ts';
import { fillFormat } from './strings.ts';
import { called, choice, plain, type Value } from './values.ts';
import type { Word } from './words.ts';

/** Binary operators: how tightly they bind, and how NeuroScript spells them. */
export const BINARY: ReadonlyMap<string, readonly [level: number, spelling: string]> = new Map(
  [
    [1, 'or or', '|| or', '?? or', 'OR or'],
    [2, 'and and', '&& and', 'AND and'],
    [3, '== ==', '!= !=', '=== ==', '!== !=', '< <', '> >', '<= <=', '>= >=', '~= !=', '<> !=', '≠ !=', '≤ <=', '≥ >=', '= =='],
    [3, '-eq ==', '-ne !=', '-gt >', '-lt <', '-ge >=', '-le <=', 'eq ==', 'ne !=', 'is ==', 'equals =='],
    [4, '| |'],
    [5, '^ ^'],
    [6, '& &'],
    [7, '+ +', '- -', '.. +', '– -', '− -'],
    [8, '* *', '/ /', '% %', 'mod %', 'MOD %', '// //', '× *', '÷ /'],
  ].flatMap(([level, ...rows]) =>
    rows.map((row): [string, [number, string]] => {
      const [foreign = '', spelling = ''] = `${row}`.split(' ');
      return [foreign, [Number(level), spelling]];
    }),
  ),
);

/** Operators that Python writes in a row: `1 < n < 9`. */
export const ORDER = new Set(['<', '>', '<=', '>=']);

/** Signs and words before a value, and how NeuroScript spells them. */
export const PREFIXES: Readonly<Record<string, string>> = { '!': 'not ', not: 'not', NOT: 'not', '-': '-', '–': '-', '~': '~' };

/** Words before a value that NeuroScript has as well. */
export const PREFIX_WORDS = new Set(['no', 'some', 'typeof']);

/** Two operands and the operator between them. */
export function pair(reader: Reader, left: Value, word: Word, operator: string, right: Value): Value {
  const { s } = left;
  const { e } = right;
  if (operator === 'or' && right.literal === true) {
    if (left.element !== undefined) {
      reader.scope.guess();
      return { text: `tool.map.Get(${left.element.of}, ${left.element.key}, ${plain(right)})`, kind: right.kind, s, e };
    }
    if (/^\w+$/.test(left.text)) {
      const cond = word.text === '??' ? `${left.text} != nil` : `some ${left.text}`;
      return choice(cond, left, right, s);
    }
  }
  if (operator === '//') return { text: `tool.math.Floor(${plain(left)} / ${plain(right)})`, kind: 'number', s, e };
  if (operator === '|' && /^tool\.[\w.]+$/.test(right.text)) return called(`${right.text}(${plain(left)})`, s, e);
  if (operator === '%' && left.literal === true && left.kind === 'text') return formatted(left, right);
  const joins = operator === '&' && (left.kind === 'text' || right.kind === 'text');
  const written = joins ? '+' : operator;
  const before = reader.source.slice(left.e, word.s);
  const after = reader.source.slice(word.e, right.s);
  const blank = (gap: string): string => (gap === '' && /\w/.test(written) ? ' ' : gap.replace(/\u00a0/g, ' '));
  const text = `${plain(left)}${blank(before)}${written}${blank(after)}${plain(right)}`;
  const kind: Kind =
    operator !== '+' && !joins ? (/^[-*/%]/.test(operator) ? 'number' : 'unknown') : left.kind === 'text' ? 'text' : right.kind;
  return { text, kind, s, e };
}

/** `item in list`. */
export function within(reader: Reader, item: Value, list: Value, negated: boolean): Value {
  const call =
    methodCall('in', plain(list), list.kind, [plain(item)]) ??
    guessed(reader, `tool.list.Contains(${plain(list)}, ${plain(item)})`);
  return { text: negated ? `not ${call}` : call, kind: 'unknown', s: item.s, e: list.e };
}

function guessed(reader: Reader, text: string): string {
  reader.scope.guess();
  return text;
}

/** `"n = %d" % n` */
function formatted(left: Value, right: Value): Value {
  const values = right.form?.k === 'items' ? right.form.items : [plain(right)];
  return { text: fillFormat(left.text, values), kind: 'text', s: left.s, e: right.e };
}
