/** Operators of common languages, with their precedence and their translation. */
import { type Kind, methodCall } from './calls.ts';
import type { Word } from './lexer.ts';
import type { Reader } from './reader.ts';
import type { Scope } from './scope.ts';
import { filled, fillFormat, type Part } from './strings.ts';
import { called, choice, plain, plus, type Value } from './values.ts';

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
    [7, '+ +', '- -', '.. +', '. +', '– -', '− -'],
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
export function pair(reader: Reader, left: Value, word: Word, operator: string, right: Value): Value {
  const { s } = left;
  const { e } = right;
  const { scope } = reader;
  if (operator === 'or' && right.literal === true) {
    if (left.element !== undefined) {
      scope.guess();
      return { text: `tool.map.Get(${left.element.of}, ${left.element.key}, ${plain(right)})`, kind: right.kind, s, e };
    }
    if (/^\w+$/.test(left.text)) {
      if (word.text !== '??') scope.guess();
      return choice(word.text === '??' ? `${left.text} != nil` : `some ${left.text}`, left, right, s);
    }
  }
  if (word.text === '//') {
    scope.guess();
    return { text: `tool.math.Floor(${plain(left)} / ${plain(right)})`, kind: 'number', s, e };
  }
  if (operator === '/' && scope.whole) return { text: `tool.math.Trunc(${plain(left)} / ${plain(right)})`, kind: 'number', s, e };
  if (word.text === '..' && left.kind === 'number' && left.literal === true) return range(scope, left, right);
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
    return /^\s*$/.test(text) && (text !== '' || !/\w/.test(written)) ? text : ' ';
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

/** Joins texts. A template is used, because a sum of texts that spell numbers would be a number. */
export function partsOf(value: Value): readonly Part[] {
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
function range(scope: Scope, from: Value, to: Value): Value {
  scope.guess();
  const text = `tool.list.Range(${plain(from)}, ${scope.open ? plain(to) : plus(plain(to))})`;
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
