/**
 * Expressions. Each place has its own rules, whose names end with its letter. Every expression includes the blanks after it.
 *
 * The rules of a place are: `x` an expression; `w` one after a word (a keyword, `not`, `and`), with the separator; `m` one after a `-`;
 * `p` one without prefix operators; `d` one that is more than a literal or a template; `n`, `g`, `c` and `e` the continuation of a name,
 * of a number, of a closing bracket, and of a bracket after which no other may follow; `r` a further operator with its operand; `z` one
 * that needs no blank before it. `xo` and `do` do not begin with a `[`: they follow a `[` directly in files where `[[` begins a text.
 */
import { all, any, chars, type Form, many, maybe, type Part, type RuleBook, rule } from './form.ts';
import { BUILTIN_WORDS, except, type Lexis, textOf } from './lexis.ts';
import { type Brackets, bracketsOf, type ExpressionPlace, placesOf } from './places.ts';

/** Defines the expressions of all places. `calls`: whether any tool can be called, by the rule `tool` of the brackets around. */
export function expressions(
  rules: RuleBook,
  lexis: Lexis,
  { envelope, calls }: { readonly envelope: boolean; readonly calls: boolean },
): void {
  const brackets = bracketsOf(lexis);
  for (const each of placesOf(lexis, brackets)) place(rules, lexis, calls, each);
  for (const each of brackets) inBrackets(rules, lexis, each, envelope);
}

const SYMBOLS = any('*', '%', '+', '<', '>', '<=', '>=', '==', '!=', '&', '|', '^');
const CONSTANTS = any('true', 'false', 'nil');
const PREFIX_WORDS = any('not', 'no', 'some', 'typeof');

function place(rules: RuleBook, lexis: Lexis, calls: boolean, { letter, gaps, inside, before }: ExpressionPlace): void {
  const at = (kind: string): Form => rule(`${kind}-${letter}`);
  const own = (kind: string): Form => rule(`${kind}-${inside.letter}`);
  const define = (kind: string, ...alternatives: readonly Part[]): Form =>
    rules.define(`${kind}-${letter}`, any(...alternatives));
  const [tilde, prefix] = [all('~', gaps.any, at('x')), all(PREFIX_WORDS, at('w'))];
  define('x', tilde, prefix, all('-', at('m')), at('p'));
  define('w', all(gaps.some, at('x')), tilde, all('-', at('m')), at('pm'));
  define('m', all(gaps.afterDash, at('x')), tilde, prefix, at('p'));
  // The same without a leading `{`, for the first key of a map.
  define('y', tilde, prefix, all('-', at('m')), at('pw'), at('pq'));
  define('p', at('pw'), at('pm'));
  define('pm', at('pq'), at('pb'));
  const called = all(gaps.any, own('args'), at('c'));
  // Operands that begin with a word and are no literals.
  define(
    'v',
    all(inside.name, any(at('n'), called)),
    ...(inside.last ? [all('last', at('n'))] : []),
    all(any(...BUILTIN_WORDS), called),
    all('eval', gaps.any, own('group'), at('c')),
    ...(calls ? [all(own('tool'), at('c'))] : []),
  );
  const closed = (by: ExpressionPlace['before']): Form => at(before === by ? 'e' : 'c');
  const braced = [own('map'), ...(inside.templates ? [own('text')] : [])];
  const grouped = [own('group'), ...(inside.templates ? [own('template')] : [])];
  const texts = inside.templates && lexis.doubleBrackets ? [own('texts')] : [];
  const strings = [inside.string, ...grouped];
  define('pw', at('v'), all(lexis.number, at('g')), all(CONSTANTS, at('n')));
  define('po', all(any(...strings), at('c')));
  define('pq', all(any(...strings, ...texts), at('c')), all(own('list'), closed('bracket')));
  define('pb', all(any(...braced), closed('brace')));
  define('xo', tilde, prefix, all('-', at('m')), at('pw'), at('po'), at('pb'));
  // The same without plain literals.
  const more = [all(gaps.some, at('r'))];
  const plain = [lexis.number, inside.string, ...braced, ...(inside.templates ? [own('template')] : [])];
  const operands = (...of: readonly Part[]): readonly Form[] => [
    at('v'),
    all(own('group'), at('c')),
    all(any(...of), any(at('r'), ...more)),
    all(CONSTANTS, any(at('z'), ...more)),
  ];
  const prefixed = [tilde, prefix, all('-', any(all(gaps.afterDash, at('d')), tilde, prefix, at('dp')))];
  define('d', ...prefixed, at('dp'));
  define('dp', ...operands(...plain, own('list'), ...texts));
  define('do', ...prefixed, ...operands(...plain));
  const further = all(gaps.some, maybe(at('r')));
  define('n', at('z'), further, ...(before === 'word' ? [] : ['']));
  define('g', at('r'), further, ...(before === 'word' ? [] : ['']));
  define('c', all(gaps.any, maybe(at('r'))));
  define('e', at('r'), further);
  define('r', all(any('and', 'or'), at('w')), at('z'));
  define(
    'z',
    all(SYMBOLS, gaps.any, at('x')),
    all('/', gaps.afterSlash, at('x')),
    all('**', gaps.any, at('p')),
    all('-', at('m')),
    all(own('index'), closed('bracket')),
    all('.', gaps.any, lexis.field, at('n')),
  );
}

function inBrackets(rules: RuleBook, lexis: Lexis, brackets: Brackets, envelope: boolean): void {
  const { letter, gaps, beforeBrace, beforeBracket } = brackets;
  const at = (kind: string): Form => rule(`${kind}-${letter}`);
  const define = (kind: string, ...parts: readonly Part[]): Form => rules.define(`${kind}-${letter}`, ...parts);
  const comma = all(',', gaps.any);
  const items = (place: string): Form =>
    rules.define(`items-${place}`, rule(`x-${place}`), many(comma, rule(`x-${place}`)), maybe(comma));
  define('args', '(', gaps.any, maybe(items(letter)), ')');
  define('group', '(', gaps.any, at('x'), ')');
  const [x, first, listed] = [rule(`x-${beforeBracket}`), rule(`xo-${beforeBracket}`), items(beforeBracket)];
  if (lexis.doubleBrackets) {
    define('list', '[', maybe(any(all(gaps.some, maybe(listed)), all(first, many(comma, x), maybe(comma)))), ']');
    define('index', '[', any(all(gaps.some, x), first), ']');
  } else {
    define('list', '[', gaps.any, maybe(listed), ']');
    define('index', '[', gaps.any, x, ']');
  }
  const value = all(':', gaps.any, rule(`x-${beforeBrace}`));
  define('entries', value, many(comma, at('x'), value), maybe(comma));
  // `{{` would begin a placeholder.
  define('map', '{', maybe(any(all(gaps.some, maybe(at('x'), at('entries'))), all(at('y'), at('entries')))), '}');
  if (!brackets.templates) return;
  define('text', '{{', gaps.any, any(all('@', gaps.any, lexis.name, gaps.any), at('x')), '}', gaps.any, '}');
  templates(rules, lexis, letter, envelope);
}

/** Templates: text between marks, with placeholders in double braces. */
interface Marks {
  readonly kind: 'template' | 'texts';
  readonly open: string;
  readonly close: string;
  /** The character of the closing mark, and how many of them in a row the text may have. */
  readonly char: string;
  readonly run: Form;
}

/** Defines the templates in brackets of this letter. */
export function templates(rules: RuleBook, lexis: Lexis, letter: string, envelope: boolean): void {
  const { placeholder, quiet } = lexis;
  const expression = all(placeholder.any, rule(letter === 'b' ? 'x-u' : 'x-v'));
  const symbol = all(many(chars(' \t\n')), maybe('@', quiet));
  const part = rules.define(`part-${letter}`, '{', any(expression, symbol), '}}');
  const ticks = rules.define('ticks', '`', maybe('`'));
  template(rules, letter, part, envelope, { kind: 'template', open: '```', close: '```', char: '`', run: ticks });
  if (lexis.doubleBrackets)
    template(rules, letter, part, envelope, { kind: 'texts', open: '[[', close: ']]', char: ']', run: all(']') });
}

/** The first `}}` outside of strings ends a placeholder. A `{{` without one is text, and so is everything after it. */
function template(rules: RuleBook, letter: string, part: Form, envelope: boolean, marks: Marks): void {
  const { kind, open, close, char: refused, run } = marks;
  // All brackets share this rule, because character classes that allow nearly everything take most of the time to compile a grammar.
  const text = textOf(rules, `${kind}-t`, { mark: run, refused: `${refused}{`, envelope });
  const brace = rule(`${kind}-brace-${letter}`);
  rules.define(`${kind}-brace-${letter}`, '{', any(all(part, maybe(text)), text, all(run, brace)));
  const unclosed = any(except(`${refused}}`), '\n');
  const endless = all('{', many(maybe(run), maybe('}', maybe(run)), unclosed), maybe(maybe(run), '}'));
  const string = any(...[`'`, '"'].map((quote) => all(quote, many(except(`${quote}\\${refused}`)), quote)));
  const quoted = all('{', many(maybe(run), maybe('}', maybe(run)), any(string, except(`'"${refused}}`), '\n')));
  const last = all('{', ...(envelope ? [] : [maybe(rules.define(`${kind}-open`, any(endless, quoted)))]));
  rules.define(`${kind}-${letter}`, open, maybe(text), many(maybe(run), brace), maybe(maybe(run), last), close);
}
