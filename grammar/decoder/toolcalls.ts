/** Calls of tools: exactly the names of a view, each with its number of arguments and literals of their types. */
import { all, any, chars, type Form, many, maybe, type Part, type RuleBook, rule, some, times } from './form.ts';
import { type Gaps, type Lexis, VISIBLE } from './lexis.ts';

/** What a literal can be. `numeral` and `truth` are strings that spell a number or a boolean. */
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
  | { readonly list: LiteralType };

/** The literals that fit an argument. Expressions that are no literal always fit: their type is not known before the run. */
export type LiteralType = 'any' | readonly LiteralKind[];

/** A tool as a grammar knows it. */
export interface DecoderTool {
  /** `tool.group.Name`. */
  readonly name: string;
  /** The arguments by position; null for any number of any arguments. */
  readonly args: readonly LiteralType[] | null;
  /** How many arguments a call has at least. */
  readonly least: number;
}

/** A place for calls: the letter of the brackets around it. */
interface CallPlace {
  readonly letter: string;
  readonly gaps: Gaps;
  readonly string: Form;
  /** Whether a string may be a template or a placeholder. */
  readonly templates: boolean;
}

/** Defines the calls of these tools, by any spelling of their names; null for any tool. */
export function toolCalls(rules: RuleBook, lexis: Lexis, tools: readonly DecoderTool[] | null): void {
  const { any: s } = lexis.line;
  const dot = rules.define('dot', s, '.', s);
  const outer = { gaps: lexis.brackets, string: lexis.string };
  const inner = { gaps: lexis.placeholder, string: lexis.innerString };
  const places: readonly CallPlace[] = [
    { letter: 'b', ...outer, templates: true },
    { letter: 'n', ...outer, templates: true },
    { letter: 't', ...inner, templates: false },
    { letter: 'o', ...inner, templates: false },
  ];
  if (tools === null) {
    for (const { letter } of places) rules.define(`tool-${letter}`, 'tool', some(dot, lexis.field), s, rule(`args-${letter}`));
    return;
  }
  const head = rules.define('tool', 'tool', dot, many(inAnyCase('tool'), dot));
  const groups = [...Map.groupBy(tools, ({ args, least }) => JSON.stringify([args, least])).values()];
  const names = groups.map((group, index) => rules.define(`tools-${index}`, namesOf(group, dot), s));
  for (const place of places) {
    const types = new Types(rules, place);
    const calls = groups.map(([first], index) =>
      all(names[index] ?? '', types.arguments(index, first?.args ?? null, first?.least ?? 0)),
    );
    rules.define(`tool-${place.letter}`, head, any(...calls));
  }
}

/** The names of tools without `tool.`, those of a group behind its name. */
function namesOf(tools: readonly DecoderTool[], dot: Form): Form {
  const split = tools.map(({ name }) => ({ segments: name.split('.').slice(1) }));
  const byGroup = Map.groupBy(split, ({ segments }) => segments.slice(0, -1).join('.').toLowerCase());
  return any(
    ...[...byGroup].map(([group, members]) =>
      all(
        ...(group === '' ? [] : group.split('.').flatMap((segment) => [inAnyCase(segment), dot])),
        any(...members.map(({ segments }) => inAnyCase(segments.at(-1) ?? ''))),
      ),
    ),
  );
}

/** A word in any letter case. */
function inAnyCase(word: string): Form {
  return all(
    ...Array.from(word, (char): Part => {
      const [lower, upper] = [char.toLowerCase(), char.toUpperCase()];
      return lower === upper ? char : chars(upper + lower);
    }),
  );
}

/** The arguments and literals of one place. Equal types share a rule. */
class Types {
  readonly #rules: RuleBook;
  readonly #place: CallPlace;
  readonly #known = new Map<string, Form>();

  constructor(rules: RuleBook, place: CallPlace) {
    this.#rules = rules;
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

  #argument(type: LiteralType): Form {
    const { letter } = this.#place;
    if (type === 'any') return rule(`x-${letter}`);
    const key = JSON.stringify(type);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const name = `arg-${this.#known.size}-${letter}`;
    this.#known.set(key, rule(name));
    return this.#rules.define(
      name,
      any(rule(`d-${letter}`), all(any(...type.map((kind) => this.#literal(kind))), this.#place.gaps.any)),
    );
  }

  #literal(kind: LiteralKind): Form {
    const { letter, gaps, string, templates } = this.#place;
    if (typeof kind === 'object') {
      if ('texts' in kind) return any(...kind.texts.map(quoted));
      const item = this.#argument(kind.list);
      return all('[', gaps.any, maybe(item, many(',', gaps.any, item), maybe(',', gaps.any)), ']');
    }
    switch (kind) {
      case 'string':
        return any(string, ...(templates ? [rule(`template-${letter}`), rule(`text-${letter}`)] : []));
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

/** A string with this value. Characters that a source cannot have are escaped. */
export function quoted(text: string): Form {
  const inner = Array.from(text, (char) => ESCAPES.get(char) ?? (isPlain(char) ? char : unicode(char))).join('');
  return inner === text && !text.includes("'") ? any(`"${text}"`, `'${text}'`) : all(`"${inner}"`);
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
]);

function isPlain(char: string): boolean {
  const point = char.codePointAt(0) ?? 0;
  return VISIBLE.some(([first, last]) => first <= point && point <= last) && !char.includes('`');
}

function unicode(char: string): string {
  return Array.from({ length: char.length }, (_, index) => `\\u${char.charCodeAt(index).toString(16).padStart(4, '0')}`).join('');
}
