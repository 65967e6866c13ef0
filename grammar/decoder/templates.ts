/** Templates: text between marks, with placeholders in double braces. */
import { all, any, chars, type Form, many, maybe, type RuleBook, rule } from './form.ts';
import { except, type Lexis, textOf } from './lexis.ts';

/** The marks of one kind of template. */
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
