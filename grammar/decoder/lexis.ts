/** Blanks, comments, names, numbers and strings, as the lexer reads them. */
import { builtinNamed } from '../vocabulary/builtins.ts';
import { KEYWORDS, RESERVED } from '../vocabulary/keywords.ts';
import {
  all,
  any,
  chars,
  type Form,
  many,
  maybe,
  type Part,
  type Ranges,
  type RuleBook,
  rule,
  some,
  times,
  without,
} from './form.ts';
import { ANY_WORD, defineWords, wordsExcept } from './words.ts';

/** Every character that a source may have but the line feed: no control, zero-width or direction characters, no U+FEFF, no U+FFFD. */
export const VISIBLE: Ranges = [
  [0x09, 0x09],
  [0x20, 0x200a],
  [0x200e, 0x2029],
  [0x202f, 0x205f],
  [0x2061, 0xd7ff],
  [0xe000, 0xfefe],
  [0xff00, 0xfffc],
  [0xfffe, 0x10ffff],
];

/** A visible character that is none of these. */
export function except(removed: string): Form {
  return without(VISIBLE, removed);
}

const BLANK = chars(' \t');
const HEX = chars('0-9A-Fa-f');
const DIGITS = some(chars('0-9'));

/** The blanks between two tokens at one kind of place. */
export interface Gaps {
  /** Any number. */
  readonly any: Form;
  /** At least one. */
  readonly some: Form;
  /** At least one, so that no `--` arises after a `-`. */
  readonly afterDash: Form;
  /** Any number, so that no `//` arises after a `/`. */
  readonly afterSlash: Form;
}

/** The words and literals of the language. */
export interface Lexis {
  /** Between the tokens of a line. */
  readonly line: Gaps;
  /** In brackets, where lines may end and comments may stand. */
  readonly brackets: Gaps;
  /** In a placeholder of a template: no comment there holds a quote, a backtick or a brace. */
  readonly placeholder: Gaps;
  readonly comment: Form;
  /** The end of a line, with all blank lines, comments and blanks in front of the next statement. */
  readonly lineEnd: Form;
  /** A name. */
  readonly name: Form;
  /** A name that is not `last` in any letter case. */
  readonly nameButLast: Form;
  /** A name after a dot, where no word is reserved. */
  readonly field: Form;
  readonly number: Form;
  /** A string without placeholders. */
  readonly string: Form;
  /** A string in a placeholder: it has no backtick. */
  readonly innerString: Form;
  /** A character of a template that is no backtick and no brace. */
  readonly plain: Form;
  /** A character of a placeholder that begins no string and ends nothing. */
  readonly quiet: Form;
}

/** Defines the words and literals. `envelope`: no line of a literal can be read as a marker of an envelope. */
export function lexis(rules: RuleBook, envelope: boolean): Lexis {
  defineWords(rules);
  const joint = all('\\', many(BLANK), '\n');
  const rest = rules.define('rest', many(except('')));
  const comment = rules.define('comment', any('#', '--', '//'), rest);
  const quiet = except('\'"`}');
  const s = rules.define('s', many(any(BLANK, joint)));
  const s1 = rules.define('s1', some(any(BLANK, joint)));
  const gaps = (name: string, text: Form): Gaps => {
    const blank = chars(' \t\n');
    const any_ = rules.define(name, many(any(blank, joint, all(any('#', '--', '//'), text, '\n'))));
    const behind = (mark: string): Form => all(any(blank, joint, all(any('#', mark), text, '\n')), any_);
    return {
      any: any_,
      some: rules.define(`${name}1`, some(any(blank, joint, all(any('#', '--', '//'), text, '\n')))),
      afterDash: rules.define(`${name}d`, behind('//')),
      afterSlash: rules.define(`${name}v`, maybe(behind('--'))),
    };
  };
  const brackets = gaps('b', rest);
  const other = rules.define('name-o', wordsExcept(RESERVED, 'A-KM-Z_a-km-z'));
  const strings = stringsOf(rules, envelope);
  return {
    line: { any: s, some: s1, afterDash: s1, afterSlash: s },
    brackets,
    placeholder: gaps('t', many(quiet)),
    plain: except('`{'),
    quiet,
    comment,
    lineEnd: rules.define('eol', maybe(comment), '\n', brackets.any),
    name: rules.define('name', any(other, rules.define('name-l', wordsExcept(RESERVED, 'Ll')))),
    nameButLast: rules.define('name-n', any(other, rules.define('name-k', wordsExcept([...RESERVED, ...casesOf('last')], 'Ll')))),
    field: rules.define('field', ANY_WORD),
    number: rules.define('number', NUMBER),
    ...strings,
  };
}

function casesOf(word: string): readonly string[] {
  return Array.from(word).reduce<readonly string[]>(
    (done, char) => done.flatMap((head) => [head + char, head + char.toUpperCase()]),
    [''],
  );
}

/** A number that is surely finite: with a large exponent it has at most one digit in front of the point. */
const NUMBER: Form = (() => {
  const fraction = maybe('.', DIGITS);
  const e = chars('eE');
  const small = any(
    all('-', DIGITS),
    all(maybe('+'), any(times(1, 2, chars('0-9')), all(chars('01'), chars('0-9'), chars('0-9')))),
  );
  const large = all(maybe('+'), any(all('2', chars('0-9'), chars('0-9')), all('30', chars('0-7'))));
  const largest = all(any('1', all('1.', chars('0-6'), many(chars('0-9')))), e, maybe('+'), '308');
  return any(all(times(1, 64, chars('0-9')), fraction, maybe(e, small)), all(chars('0-9'), fraction, e, large), largest);
})();

function stringsOf(rules: RuleBook, envelope: boolean): Pick<Lexis, 'string' | 'innerString'> {
  const unicode = all(
    'u',
    any(
      all(chars('0-9A-CE-Fa-ce-f'), HEX, HEX, HEX),
      all(chars('dD'), chars('0-7'), HEX, HEX),
      all(chars('dD'), chars('89ABab'), HEX, HEX, '\\u', chars('dD'), chars('c-fC-F'), HEX, HEX),
    ),
  );
  const simple = (marks: string): Form => chars(envelope ? marks : `${marks}\n`);
  const common = any(all('x', HEX, HEX), all(chars('0-7'), chars('0-7')));
  const verbatimUnicode = all('u', HEX, HEX, HEX, HEX);
  const marks = '"\'\\~bfnrtv';
  const double = (refused: string, own: string): Form =>
    all('"', many(any(except(`"\\${refused}`), all('\\', any(simple(`${marks}${own}`), common, unicode)))), '"');
  const single = (refused: string, own: string): Form =>
    all("'", many(any(except(`'\\${refused}`), all('\\', any(simple(`${marks}${own}`), common, verbatimUnicode)))), "'");
  const raw = (refused: string): Form => {
    const quotes = times(1, 2, "'");
    return all("'''", textOf(rules, refused === '' ? 'raw' : 'raw-t', { mark: quotes, refused: `'${refused}`, envelope }), "'''");
  };
  return {
    string: rules.define('string', any(double('', '`'), single('', '`'), raw(''))),
    innerString: rules.define('string-t', any(double('`', ''), single('`', ''), raw('`'))),
  };
}

/** Text of several lines that ends at a triple mark: at most two marks stand side by side, and none at the end. */
interface Lines {
  /** One or two marks. */
  readonly mark: Form;
  /** Characters that do not stand for themselves. */
  readonly refused: string;
  /** What else may stand for a character. */
  readonly more?: readonly Part[];
  readonly envelope: boolean;
}

/** Lines of text. In an envelope no line begins with `<<`, so that none is a marker. */
export function textOf(rules: RuleBook, name: string, { mark, refused, more = [], envelope }: Lines): Form {
  const char = except(refused);
  if (!envelope) return rules.define(name, many(maybe(mark), any(char, '\n', ...more)));
  const plain = except(`${refused}<`);
  const lineFeed = rules.define(
    `${name}-nl`,
    '\n',
    any(rule(`${name}-nl`), plain, all('<', plain), all(mark, any(char, rule(`${name}-nl`), ...more)), ...more),
  );
  return rules.define(name, many(maybe(mark), any(char, lineFeed, ...more)), maybe(maybe(mark), some('\n')));
}

/** `:: key: value` lines. The keys begin with a word that is none of `refused`. */
export function metadata(rules: RuleBook, name: string, { line }: Lexis, refused: readonly string[]): Form {
  const key = refused.length === 0 ? chars('A-Za-z0-9_') : wordsExcept(refused, '0-9A-Z_a-z');
  const notWord = except('\\0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz');
  const joint = rules.define('joint', some('\\'), many(BLANK), any(except('\\ \t'), '\n'));
  const tail = many(any(except('\\'), joint));
  const text = refused.length === 0 ? tail : maybe(any(notWord, joint), tail);
  return rules.define(name, '::', some(BLANK), key, text, '\n', line.any);
}

/** The keywords that name a built-in function and are no operators. */
export const BUILTIN_WORDS: readonly string[] = KEYWORDS.filter((word) => word !== 'typeof' && builtinNamed(word) !== undefined);
