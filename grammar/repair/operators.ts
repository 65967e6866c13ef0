/** Operators of common languages, with their precedence and their translation. */
import { type Kind, methodCall } from './calls.ts';
import type { Word } from './lexer.ts';
import type { Reader } from './reader.ts';
import type { Scope } from './scope.ts';
import { filled, fillFormat, type TextPart } from './strings.ts';
import { called, choice, plain, plus, settled, unguarded, type Value } from './values.ts';

/** Binary operators, with their precedence and their spelling in NeuroScript. */
export const BINARY: ReadonlyMap<string, readonly [level: number, spelling: string]> = new Map(
  [
    [1, 'or or', '|| or', '?? or', 'OR or'],
    [2, 'and and', '&& and', 'AND and'],
    [3, '== ==', '!= !=', '=== ==', '!== !=', '< <', '> >', '<= <=', '>= >=', '~= !=', '<> !=', '≠ !=', '≤ <=', '≥ >=', '= =='],
    [
      3,
      '-eq ==',
      '-ne !=',
      '-gt >',
      '-lt <',
      '-ge >=',
      '-le <=',
      'eq ==',
      'ne !=',
      'is ==',
      'equals ==',
      'contains contains',
      'has contains',
      'includes contains',
    ],
    [4, '| |'],
    [5, '^ ^'],
    [6, '& &'],
    [7, '+ +', '- -', '.. +', '..< +', '..= +', '. +', '– -', '− -'],
    [8, '* *', '/ /', '% %', 'mod %', 'MOD %', '// //', '× *', '÷ /'],
  ].flatMap(([level, ...rows]) =>
    rows.map((row): [string, [number, string]] => {
      const [foreign = '', spelling = ''] = `${row}`.split(' ');
      return [foreign, [Number(level), spelling]];
    }),
  ),
);

/** Operators that Python chains: `1 < n < 9`. */
export const ORDER = new Set(['<', '>', '<=', '>=']);

/** Prefix operators, with their spelling in NeuroScript. */
export const PREFIXES: Readonly<Record<string, string>> = { '!': 'not ', not: 'not', NOT: 'not', '-': '-', '–': '-', '~': '~' };

/** Prefix words that NeuroScript has as well. */
export const PREFIX_WORDS = new Set(['no', 'some', 'typeof']);

/** Two operands and the operator between them. */
export function pair(reader: Reader, one: Value, word: Word, operator: string, other: Value): Value {
  const { s } = one;
  const { e } = other;
  const { scope } = reader;
  const guards = [one.guard, other.guard].filter((guard) => guard !== undefined);
  if (guards.length > 0 && COMPARISONS.test(operator)) return comparedIfThere(reader, one, word, operator, other, guards);
  if (operator === 'or' && other.literal === true) {
    if (scope.before === null && one.element !== undefined) {
      scope.guess();
      return { text: `tool.map.Get(${one.element.of}, ${one.element.key}, ${plain(other)})`, kind: other.kind, s, e };
    }
    if (one.element !== undefined || /^\w+$/.test(one.text)) {
      if (word.text !== '??') scope.guess();
      const test = word.text === '??' ? `${one.text} != nil` : `some ${one.text}`;
      const { guard: _, ...bare } = one;
      return choice([...guards, test].join(' and '), bare, other, s);
    }
  }
  // A side that needs statements is computed even if the other one decides.
  if (/^(?:and|or)$/.test(operator) && other.form !== undefined) scope.guess();
  const [left, right] = [settled(scope, unguarded(scope, one)), settled(scope, unguarded(scope, other))];
  if (word.text === '//') {
    scope.guess();
    return { text: `tool.math.Floor(${plain(left)} / ${plain(right)})`, kind: 'number', s, e };
  }
  if (operator === '/' && scope.whole) return { text: `tool.math.Trunc(${plain(left)} / ${plain(right)})`, kind: 'number', s, e };
  if (word.text === '..<' || (word.text.startsWith('..') && left.kind === 'number' && left.literal === true))
    return range(scope, left, word, right);
  if (operator === '|' && /^tool\.[\w.]+$/.test(right.text)) return called(`${right.text}(${plain(left)})`, s, e);
  if (operator === '%' && left.literal === true && left.kind === 'text') return formatted(left, right);
  if (/^(?:and|or)$/.test(operator) && !scope.condition && !(left.kind === 'truth' && right.kind === 'truth')) scope.guess();
  const unlike = left.literal !== true && right.literal !== true && !/^(?:nil|true|false)$/.test(right.text);
  if (word.text === 'is' && unlike) scope.guess();
  if (left.operator === 'comparison' && /^[!=]=$/.test(operator)) scope.guess();
  const joins = (operator === '&' && (left.kind === 'text' || right.kind === 'text')) || word.text === '..' || word.text === '.';
  const adds = operator === '+' || joins;
  const texts = left.kind === 'text' || right.kind === 'text' || joins;
  const worded = left.worded === true || right.worded === true;
  if (adds && texts && !worded) {
    const parts = [...partsOf(left), ...partsOf(right)];
    return { text: filled(parts), kind: 'text', s, e, parts };
  }
  const written = joins ? '+' : operator;
  const gap = (from: number, to: number): string => {
    const text = reader.source.slice(from, to).replace(/\u00a0/g, ' ');
    return text.trim() === '' && !text.includes('\n') && (text !== '' || !/\w/.test(written)) ? text : ' ';
  };
  if (left.text.startsWith('typeof ') && /^["']undefined["']$/.test(right.text))
    return { text: `${left.text.slice(7)} ${operator} nil`, kind: 'truth', s, e, operator: 'comparison' };
  if (left.text.startsWith('typeof ') && /^["']object["']$/.test(right.text)) scope.guess();
  const compared = COMPARISONS.test(operator);
  const text = `${side(scope, left, compared)}${gap(left.e, word.s)}${written}${gap(word.e, right.s)}${side(scope, right, compared)}`;
  if (compared) return { text, kind: 'truth', s, e, operator: 'comparison' };
  if (adds) return { text, kind: texts ? 'text' : right.kind, s, e, ...(worded ? { worded } : {}) };
  const both: Kind = left.kind === 'truth' && right.kind === 'truth' ? 'truth' : 'unknown';
  if (/^[&|^]$/.test(operator)) return { text, kind: 'unknown', s, e, operator: 'bits' };
  return { text, kind: /^[-*/%]/.test(operator) ? 'number' : both, s, e };
}

/** A comparison of an element that may be missing: nil is no number and no text, and is unlike anything else. */
function comparedIfThere(
  reader: Reader,
  one: Value,
  word: Word,
  operator: string,
  other: Value,
  guards: readonly string[],
): Value {
  const { guard: _, ...left } = one;
  const { guard: __, ...right } = other;
  const read = pair(reader, left, word, operator, right);
  const isNil = left.text === 'nil' || right.text === 'nil';
  const holds = isNil ? operator === '==' : operator === '!=';
  const missing = guards.map((guard) => guard.replaceAll(' != nil', ' == nil').replaceAll(' and ', ' or ')).join(' or ');
  return { ...read, text: holds ? `(${missing} or ${read.text})` : `${guards.join(' and ')} and ${read.text}` };
}

/** Joins texts. A template is used, because a sum of texts that spell numbers would be a number. */
export function partsOf(value: Value): readonly TextPart[] {
  const fixed = /^"([^"\\]*)"$/.exec(value.text)?.[1];
  return value.parts ?? [fixed ?? { value: plain(value) }];
}

const COMPARISONS = /^(?:[!=<>]=|[<>])$/;

/** An operand of a comparison. Bit operators get brackets, because they bind tighter in some languages but not in NeuroScript. */
function side(scope: Scope, value: Value, compared: boolean): string {
  if (!compared || value.operator !== 'bits') return plain(value);
  scope.guess();
  return `(${plain(value)})`;
}

/** `1..3`, with its end or without. */
function range(scope: Scope, from: Value, { text: dots }: Word, to: Value): Value {
  const end = plain(to);
  const open = dots === '..<' || (dots === '..' && (scope.open || end.startsWith('len(')));
  if (dots === '..') scope.guess();
  const text = `tool.list.Range(${plain(from)}, ${open ? end : plus(end)})`;
  return { text, kind: 'list', s: from.s, e: to.e };
}

/** `item in list`. */
export function within(reader: Reader, item: Value, list: Value, negated: boolean): Value {
  const known = methodCall('in', plain(list), list.kind, [plain(item)]);
  // `in` of JavaScript tests for an index or a key.
  if (known === undefined || reader.scope.script) reader.scope.guess();
  const call = known?.text ?? `tool.list.Contains(${plain(list)}, ${plain(item)})`;
  return { text: negated ? `not ${call}` : call, kind: 'truth', s: item.s, e: list.e };
}

/** `"n = %d" % n` */
function formatted(left: Value, right: Value): Value {
  const values = right.form?.k === 'items' ? right.form.items : [plain(right)];
  return { text: fillFormat(left.text, values), kind: 'text', s: left.s, e: right.e };
}
