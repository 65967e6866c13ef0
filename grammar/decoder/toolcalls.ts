/** Calls of tools: exactly the names of a view, each with its number of arguments and literals of their types. */
import { all, any, chars, type Form, many, maybe, type Part, type RuleBook, rule, some, times } from './form.ts';
import { type Lexis, VISIBLE } from './lexis.ts';
import { type Brackets, bracketsOf } from './places.ts';

/** The kinds of literals. `numeral` and `truth` are strings that spell a number or a boolean. */
export type LiteralKind =
  | 'string'
  | 'number'
  | 'integer'
  | 'numeral'
  | 'boolean'
  | 'truth'
  | 'nil'
  | 'map'
  | { readonly texts: readonly string[] }
  | List;

interface List {
  readonly list: LiteralType;
}

/** The literals that fit an argument. Expressions that are no literal always fit: their type is not known before the run. */
export type LiteralType = 'any' | readonly LiteralKind[];

export interface DecoderTool {
  /** `tool.group.Name`. */
  readonly name: string;
  /** The arguments by position; null for any number of any arguments. */
  readonly args: readonly LiteralType[] | null;
  /** Fewest arguments of a call. */
  readonly least: number;
}

/** Defines the calls of these tools, by any spelling of their names; null for any tool. */
export function toolCalls(rules: RuleBook, lexis: Lexis, tools: readonly DecoderTool[] | null): void {
  const { any: s } = lexis.line;
  const dot = rules.define('dot', s, '.', s);
  const places = bracketsOf(lexis);
  if (tools === null) {
    for (const { letter } of places) rules.define(`tool-${letter}`, 'tool', some(dot, lexis.field), s, rule(`args-${letter}`));
    return;
  }
  const head = rules.define('tool', 'tool', dot, many(inAnyCase('tool'), dot));
  const groups = [...Map.groupBy(tools, ({ args, least }) => JSON.stringify([args, least])).values()];
  const names = groups.map((group, index) => rules.define(`tools-${index}`, namesOf(group, dot), s));
  for (const place of places) {
    const types = new Types(rules, lexis, place);
    const calls = groups.map(([first], index) =>
      all(names[index] ?? '', types.arguments(index, first?.args ?? null, first?.least ?? 0)),
    );
    rules.define(`tool-${place.letter}`, head, any(calls));
  }
}

/** The names of tools without `tool.`, grouped by the group of the tools. */
function namesOf(tools: readonly DecoderTool[], dot: Form): Form {
  const split = tools.map(({ name }) => ({ segments: name.split('.').slice(1) }));
  const byGroup = Map.groupBy(split, ({ segments }) => segments.slice(0, -1).join('.').toLowerCase());
  return any(
    [...byGroup].map(([group, members]) =>
      all(
        group === '' ? [] : group.split('.').flatMap((segment) => [inAnyCase(segment), dot]),
        any(members.map(({ segments }) => inAnyCase(segments.at(-1) ?? ''))),
      ),
    ),
  );
}

function inAnyCase(word: string): Form {
  return all(Array.from(word, (char) => LETTERS.get(char) ?? bothCases(char)));
}

function bothCases(char: string): Part {
  const [lower, upper] = [char.toLowerCase(), char.toUpperCase()];
  return lower === upper ? char : chars(upper + lower);
}

/** One form for each letter, because the names of many tools have many letters. */
const LETTERS: ReadonlyMap<string, Part> = new Map(
  Array.from('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ', (letter) => [letter, bothCases(letter)]),
);

/** The arguments and literals in brackets of one kind. Equal types share a rule. */
class Types {
  readonly #rules: RuleBook;
  readonly #lexis: Lexis;
  readonly #place: Brackets;
  readonly #known = new Map<string, Form>();

  constructor(rules: RuleBook, lexis: Lexis, place: Brackets) {
    this.#rules = rules;
    this.#lexis = lexis;
    this.#place = place;
  }

  /** A comma follows every argument but the last one, and may follow that too. */
  arguments(index: number, args: readonly LiteralType[] | null, least: number): Form {
    const { letter, gaps } = this.#place;
    if (args === null) return rule(`args-${letter}`);
    const comma = all(',', gaps.any);
    let rest: Form = all();
    for (let i = args.length - 1; i >= 0; i--) {
      const next = i === args.length - 1 ? all() : rest;
      const further = i + 1 < least ? all(comma, next) : maybe(comma, i === args.length - 1 ? all() : maybe(next));
      rest = all(this.#argument(args[i] ?? 'any'), further);
    }
    const given = args.length > 0 && least === 0 ? maybe(rest) : rest;
    return this.#rules.define(`args-${index}-${letter}`, '(', gaps.any, given, ')');
  }

  /** `place` is the letter of the place; `bare` excludes arguments that begin with `[`. */
  #argument(type: LiteralType, place: string = this.#place.letter, bare = false): Form {
    if (type === 'any') return rule(`${bare ? 'xo' : 'x'}-${place}`);
    const key = JSON.stringify([type, place, bare]);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const name = `arg-${this.#known.size}-${this.#place.letter}`;
    this.#known.set(key, rule(name));
    const { any: gap, some: gapBeforeBracket } = this.#place.gaps;
    const literals = type.flatMap((kind) => (isList(kind) ? [] : [this.#literal(kind, bare)]));
    const lists = bare ? [] : type.filter(isList).map(({ list }) => this.#list(list));
    return this.#rules.define(
      name,
      any(
        rule(`${bare ? 'do' : 'd'}-${place}`),
        ...(literals.length === 0 ? [] : [all(any(literals), gap)]),
        ...(lists.length === 0 ? [] : [all(any(lists), place === this.#place.letter ? gap : gapBeforeBracket)]),
      ),
    );
  }

  #list(type: LiteralType): Form {
    const { gaps, beforeBracket } = this.#place;
    const item = this.#argument(type, beforeBracket);
    const more = all(many(',', gaps.any, item), maybe(',', gaps.any));
    if (!this.#lexis.doubleBrackets) return all('[', gaps.any, maybe(item, more), ']');
    return all('[', maybe(any(all(gaps.some, maybe(item, more)), all(this.#argument(type, beforeBracket, true), more))), ']');
  }

  #literal(kind: Exclude<LiteralKind, List>, bare: boolean): Form {
    const { letter, gaps, string, templates } = this.#place;
    if (typeof kind === 'object') return any(kind.texts.map((text) => quoted(text, this.#lexis.ends)));
    switch (kind) {
      case 'string':
        return any(
          string,
          ...(templates ? [rule(`template-${letter}`), rule(`text-${letter}`)] : []),
          ...(templates && this.#lexis.doubleBrackets && !bare ? [rule(`texts-${letter}`)] : []),
        );
      case 'number':
        return all(maybe('-', maybe(gaps.afterDash)), rule('number'));
      case 'integer':
        return all(maybe('-', maybe(gaps.afterDash)), this.#rules.define('integer', INTEGER));
      case 'numeral':
        return this.#rules.define(
          'numeral',
          any(...['"', "'"].map((mark) => all(mark, maybe(chars('+-')), rule('number'), mark))),
        );
      case 'boolean':
        return any('true', 'false');
      case 'truth':
        return this.#rules.define(
          'truth',
          any(...['"', "'"].map((mark) => all(mark, any(inAnyCase('true'), inAnyCase('false'), '0', '1'), mark))),
        );
      case 'nil':
        return all('nil');
      case 'map':
        return rule(`map-${letter}`);
    }
  }
}

const INTEGER = any(
  all(times(1, 15, chars('0-9')), maybe('.', some('0'))),
  all(times(1, 3, chars('0-9')), chars('eE'), maybe('+'), chars('0-9')),
);

/** A string with this value. Characters that a source cannot have are escaped, and those of `ends`. */
export function quoted(text: string, ends = '`'): Form {
  if (PLAIN.test(text)) return any(`"${text}"`, `'${text}'`);
  const inner = Array.from(text, (char) => {
    return ESCAPES.get(char) ?? (isVisible(char) && !ends.includes(char) ? char : unicode(char));
  }).join('');
  return inner === text && !text.includes("'") ? any(`"${text}"`, `'${text}'`) : all(`"${inner}"`);
}

/** What is the same in every string. Most texts are that, and this is the fastest way to see it. */
const PLAIN = /^[\w .,:/-]*$/;

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
]);

function isVisible(char: string): boolean {
  const point = char.codePointAt(0) ?? 0;
  return VISIBLE.some(([first, last]) => first <= point && point <= last);
}

function unicode(char: string): string {
  return Array.from({ length: char.length }, (_, index) => `\\u${char.charCodeAt(index).toString(16).padStart(4, '0')}`).join('');
}

function isList(kind: LiteralKind): kind is List {
  return typeof kind === 'object' && 'list' in kind;
}
