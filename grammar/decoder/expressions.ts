/**
 * Expressions. A grammar cannot look ahead, so it must know what comes before and after: whether a blank is needed between two
 * words, whether lines may end, and whether a `}` may follow another. A place is one combination of these; each place has rules of
 * its own, whose names end with its letter. Every expression takes the blanks behind it.
 *
 * The rules of a place: `x` an expression, `w` one after a word (a keyword, `not`, `and`) with what separates it from the word,
 * `m` one after a `-`, `p` one without prefix operators, `d` one that is more than a literal or a template; `n`, `g`, `c` and `e` what may follow a name, a number, a closing
 * bracket and a closing brace; `r` a further operator with its operand, `z` one that needs no blank in front.
 */
import { all, any, chars, type Form, many, maybe, type Part, type RuleBook, rule } from './form.ts';
import { BUILTIN_WORDS, except, type Gaps, type Lexis, textOf } from './lexis.ts';

/** A place for expressions between brackets. Its own letter is that of the place inside. */
interface Brackets {
  readonly letter: 'b' | 'n' | 't' | 'o';
  readonly gaps: Gaps;
  readonly name: Form;
  readonly string: Form;
  /** Whether `last` may stand here: the arguments of calls that run together cannot read it. */
  readonly last: boolean;
  /** Whether templates and placeholders may stand here: a placeholder has none in it. */
  readonly templates: boolean;
  /** The place of an expression that a `}` may follow. */
  readonly beforeBrace: Place['letter'];
}

/** A place for expressions. */
interface Place {
  readonly letter: 'l' | 'k' | 'u' | 'v' | Brackets['letter'];
  readonly gaps: Gaps;
  readonly inside: Brackets;
  /** `word`: a keyword follows; `brace`: a `}` may follow, and `}}` would end a placeholder. */
  readonly before: 'mark' | 'word' | 'brace';
}

/** Defines the expressions of all places. `calls`: whether any tool can be called, by the rule `tool` of the brackets around. */
export function expressions(
  rules: RuleBook,
  lexis: Lexis,
  { envelope, calls }: { readonly envelope: boolean; readonly calls: boolean },
): void {
  const outer = { templates: true, string: lexis.string, gaps: lexis.brackets } as const;
  const inner = { templates: false, string: lexis.innerString, gaps: lexis.placeholder } as const;
  const free = { last: true, name: lexis.name } as const;
  const together = { last: false, name: lexis.nameButLast } as const;
  const b: Brackets = { letter: 'b', ...outer, ...free, beforeBrace: 'b' };
  const n: Brackets = { letter: 'n', ...outer, ...together, beforeBrace: 'n' };
  const t: Brackets = { letter: 't', ...inner, ...free, beforeBrace: 'u' };
  const o: Brackets = { letter: 'o', ...inner, ...together, beforeBrace: 'v' };
  place(rules, lexis, calls, { letter: 'l', gaps: lexis.line, inside: b, before: 'mark' });
  place(rules, lexis, calls, { letter: 'k', gaps: lexis.line, inside: b, before: 'word' });
  for (const brackets of [b, n, t, o]) {
    const { letter, gaps, beforeBrace } = brackets;
    place(rules, lexis, calls, { letter, gaps, inside: brackets, before: 'mark' });
    if (beforeBrace !== letter) place(rules, lexis, calls, { letter: beforeBrace, gaps, inside: brackets, before: 'brace' });
    inBrackets(rules, lexis, brackets, envelope);
  }
}

const SYMBOLS = any('*', '%', '+', '<', '>', '<=', '>=', '==', '!=', '&', '|', '^');
const CONSTANTS = any('true', 'false', 'nil');
const PREFIX_WORDS = any('not', 'no', 'some', 'typeof');

function place(rules: RuleBook, lexis: Lexis, calls: boolean, { letter, gaps, inside, before }: Place): void {
  const at = (kind: string): Form => rule(`${kind}-${letter}`);
  const own = (kind: string): Form => rule(`${kind}-${inside.letter}`);
  const define = (kind: string, ...alternatives: readonly Part[]): Form =>
    rules.define(`${kind}-${letter}`, any(...alternatives));
  const [tilde, prefix] = [all('~', gaps.any, at('x')), all(PREFIX_WORDS, at('w'))];
  define('x', tilde, prefix, all('-', at('m')), at('p'));
  define('w', all(gaps.some, at('x')), tilde, all('-', at('m')), at('pm'));
  define('m', all(gaps.afterDash, at('x')), tilde, prefix, at('p'));
  // The same without a `{` in front, for the first key of a map.
  define('y', tilde, prefix, all('-', at('m')), at('pw'), at('pq'));
  define('p', at('pw'), at('pm'));
  define('pm', at('pq'), at('pb'));
  const called = all(gaps.any, own('args'), at('c'));
  // What begins with a word and is no literal.
  define(
    'v',
    all(inside.name, any(at('n'), called)),
    ...(inside.last ? [all('last', at('n'))] : []),
    all(any(...BUILTIN_WORDS), called),
    all('eval', gaps.any, own('group'), at('c')),
    ...(calls ? [all(own('tool'), at('c'))] : []),
  );
  const grouped = any(own('group'), ...(inside.templates ? [own('template')] : []));
  const closed = at(before === 'brace' ? 'e' : 'c');
  define('pw', at('v'), all(lexis.number, at('g')), all(CONSTANTS, at('n')));
  define('pq', all(any(inside.string, grouped, own('list')), at('c')));
  define('pb', all(any(own('map'), ...(inside.templates ? [own('text')] : [])), closed));
  // The same, but no literal alone.
  const more = [all(gaps.some, at('r'))];
  define('d', tilde, prefix, all('-', any(all(gaps.afterDash, at('d')), tilde, prefix, at('dp'))), at('dp'));
  define(
    'dp',
    at('v'),
    all(own('group'), at('c')),
    all(
      any(lexis.number, inside.string, own('list'), own('map'), ...(inside.templates ? [own('template'), own('text')] : [])),
      any(at('r'), ...more),
    ),
    all(CONSTANTS, any(at('z'), ...more)),
  );
  const further = all(gaps.some, maybe(at('r')));
  define('n', at('z'), further, ...(before === 'word' ? [] : ['']));
  define('g', at('r'), further, ...(before === 'word' ? [] : ['']));
  define('c', all(gaps.any, maybe(at('r'))));
  if (before === 'brace') define('e', at('r'), further);
  define('r', all(any('and', 'or'), at('w')), at('z'));
  define(
    'z',
    all(SYMBOLS, gaps.any, at('x')),
    all('/', gaps.afterSlash, at('x')),
    all('**', gaps.any, at('p')),
    all('-', at('m')),
    all('[', inside.gaps.any, own('x'), ']', at('c')),
    all('.', gaps.any, lexis.field, at('n')),
  );
}

function inBrackets(rules: RuleBook, lexis: Lexis, brackets: Brackets, envelope: boolean): void {
  const { letter, gaps, templates, beforeBrace } = brackets;
  const at = (kind: string): Form => rule(`${kind}-${letter}`);
  const define = (kind: string, ...parts: readonly Part[]): Form => rules.define(`${kind}-${letter}`, ...parts);
  const comma = all(',', gaps.any);
  define('items', at('x'), many(comma, at('x')), maybe(comma));
  define('args', '(', gaps.any, maybe(at('items')), ')');
  define('group', '(', gaps.any, at('x'), ')');
  define('list', '[', gaps.any, maybe(at('items')), ']');
  const value = all(':', gaps.any, rule(`x-${beforeBrace}`));
  define('entries', value, many(comma, at('x'), value), maybe(comma));
  // `{{` would begin a placeholder.
  define('map', '{', maybe(any(all(gaps.some, maybe(at('x'), at('entries'))), all(at('y'), at('entries')))), '}');
  if (!templates) return;
  define('text', '{{', gaps.any, any(all('@', gaps.any, lexis.name, gaps.any), at('x')), '}', gaps.any, '}');
  template(rules, lexis, letter, envelope);
}

/** Triple backticks. The first `}}` after a `{{` ends a placeholder; a `{{` without one is text, as is everything behind it. */
function template(rules: RuleBook, { placeholder, quiet, plain }: Lexis, letter: Brackets['letter'], envelope: boolean): void {
  const define = (kind: string, ...parts: readonly Part[]): Form => rules.define(`${kind}-${letter}`, ...parts);
  const expression = all(placeholder.any, rule(letter === 'b' ? 'x-u' : 'x-v'));
  const part = define('part', '{', any(expression, all(many(chars(' \t\n')), maybe('@', many(quiet)))), '}}');
  const mark = rules.define('ticks', '`', maybe('`'));
  const name = `lines-${letter}`;
  const char = any(plain, envelope ? rule(`${name}-nl`) : '\n');
  const brace = define('brace', '{', any(part, char, all(mark, any(char, rule(`brace-${letter}`)))));
  const lines = textOf(rules, name, { mark, refused: '`{', more: [brace], envelope });
  const unclosed = any(except('`}'), '\n');
  const open = all('{', many(maybe(mark), maybe('}', maybe(mark)), unclosed), maybe(maybe(mark), '}'));
  define('template', '```', lines, maybe(maybe(mark), '{', ...(envelope ? [] : [maybe(rules.define('open', open))])), '```');
}
