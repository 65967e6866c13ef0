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
  type Ranges,
  type RuleBook,
  ranges,
  rule,
  some,
  times,
  without,
} from './form.ts';

/** Every character of a source except the line feed: no control, zero-width or direction characters, no U+FEFF, no U+FFFD. */
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

/** A visible character outside of these classes. */
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
  /** At least one, so that no `--` forms after a `-`. */
  readonly afterDash: Form;
  /** Any number, so that no `//` forms after a `/`. */
  readonly afterSlash: Form;
}

/** The words and literals of the language. */
export interface Lexis {
  /** Whether `[[` begins a text, as in a file whose header says `:: strings: double-bracket`. */
  readonly doubleBrackets: boolean;
  /** The characters that could end a template. Strings in a placeholder exclude them. */
  readonly ends: string;
  /** Between the tokens of a line. */
  readonly line: Gaps;
  /** In brackets, where line ends and comments are allowed. */
  readonly brackets: Gaps;
  /** In a placeholder of a template: no comment there holds a quote, a backtick or a brace. */
  readonly placeholder: Gaps;
  readonly comment: Form;
  /** The end of a line, with all blank lines, comments and blanks before the next statement. */
  readonly lineEnd: Form;
  readonly name: Form;
  /** A name that is not `last` in any letter case. */
  readonly nameButLast: Form;
  /** A name after a dot, where no word is reserved. */
  readonly field: Form;
  readonly number: Form;
  /** A string without placeholders. */
  readonly string: Form;
  /** A string in a placeholder. */
  readonly innerString: Form;
  /** Text in a placeholder without quotes and ends of the placeholder. */
  readonly quiet: Form;
}

/** Defines the words and literals. `envelope`: no line of a literal can be read as a marker of an envelope. */
export function lexis(rules: RuleBook, envelope: boolean, doubleBrackets: boolean): Lexis {
  defineWords(rules);
  const joint = all('\\', many(BLANK), '\n');
  const rest = rules.define('rest', many(except('')));
  const comment = rules.define('comment', any('#', '--', '//'), rest);
  const ends = doubleBrackets ? '`]' : '`';
  const soft = except(`'"}${ends}`);
  // A single closing brace. Two would end the placeholder.
  const quiet = rules.define('quiet', many(any(soft, all('}', soft))));
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
  const strings = stringsOf(rules, envelope, ends);
  return {
    doubleBrackets,
    ends,
    line: { any: s, some: s1, afterDash: s1, afterSlash: s },
    brackets,
    placeholder: gaps('t', quiet),
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

/** A finite number: with a large exponent it has at most one digit before the point. */
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

function stringsOf(rules: RuleBook, envelope: boolean, ends: string): Pick<Lexis, 'string' | 'innerString'> {
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
    const text = textOf(rules, refused === '' ? 'raw' : 'raw-t', { mark: quotes, refused: `'${refused}`, envelope });
    return all("'''", maybe(text), "'''");
  };
  return {
    string: rules.define('string', any(double('', '`'), single('', '`'), raw(''))),
    innerString: rules.define('string-t', any(double(ends, ''), single(ends, ''), raw(ends))),
  };
}

/** Text of several lines that ends at a triple mark. It has at most two marks in a row, and none at its end. */
interface Lines {
  /** One or two marks. */
  readonly mark: Form;
  /** Excluded characters. */
  readonly refused: string;
  readonly envelope: boolean;
}

/** Lines of text, at least one character. In an envelope no line begins with `<<`, so that none is a marker. */
export function textOf(rules: RuleBook, name: string, { mark, refused, envelope }: Lines): Form {
  const char = except(refused);
  if (!envelope) return rules.define(name, some(maybe(mark), any(char, '\n')));
  const [plain, lineFeed, lineFeeds] = [except(`${refused}<`), rule(`${name}-nl`), all(maybe(mark), some('\n'))];
  rules.define(`${name}-nl`, '\n', any(lineFeed, plain, all('<', plain), all(mark, any(char, lineFeed))));
  return rules.define(name, any(all(some(maybe(mark), any(char, lineFeed)), maybe(lineFeeds)), lineFeeds));
}

/** `:: key: value` lines. The keys begin with a word that is none of `refused`. */
export function metadata(rules: RuleBook, name: string, refused: readonly string[]): Form {
  const key = refused.length === 0 ? chars('A-Za-z0-9_') : wordsExcept(refused, '0-9A-Z_a-z');
  const notWord = except('\\0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz');
  const joint = metadataJoint(rules);
  const text = refused.length === 0 ? metadataText(rules) : maybe(any(notWord, joint), metadataText(rules));
  return rules.define(name, '::', some(BLANK), key, text, '\n');
}

/** The line `:: strings: double-bracket`. */
export function stringsHeader(rules: RuleBook): Form {
  const blanks = many(BLANK);
  const entry = all('strings', blanks, ':', blanks, 'double-bracket', blanks);
  return rules.define('strings', '::', some(BLANK), entry, maybe(any('#', '--'), metadataText(rules)), '\n');
}

/** A line `:: strings: …` that says anything else. */
export function otherStringsHeader(rules: RuleBook): Form {
  const [word, text, blanks] = ['double-bracket', metadataText(rules), many(BLANK)];
  const visible = ranges('!-~');
  const behind = (at: number): Form => {
    if (at === word.length) return all(blanks, without(visible, '#-\\'), text);
    const other = without(at === 0 ? visible : ranges(' -~\t'), `${word.charAt(at)}\\`);
    return maybe(any(all(other, text), all(word.charAt(at), behind(at + 1))));
  };
  const value = any(all(blanks, ':', blanks, behind(0)), all(some(BLANK), without(visible, ':#-\\'), text));
  return rules.define('strings-o', '::', some(BLANK), 'strings', value, '\n');
}

/** A backslash in metadata, which continues a line at its end. */
function metadataJoint(rules: RuleBook): Form {
  return rules.define('joint', some('\\'), many(BLANK), any(except('\\ \t'), '\n'));
}

function metadataText(rules: RuleBook): Form {
  return rules.define('entry', many(any(except('\\'), metadataJoint(rules))));
}

/** The keywords that name a built-in function and are no operators. */
export const BUILTIN_WORDS: readonly string[] = KEYWORDS.filter((word) => word !== 'typeof' && builtinNamed(word) !== undefined);

/** Words that are not some other words. A grammar cannot look ahead, so a name excludes the reserved words letter by letter. */
const WORD = ranges('0-9A-Z_a-z');
/** The rest of a word. It is a separate rule, because it occurs at every letter of every reserved word. */
const MORE = rule('w');

/** Defines the rest of a word. */
export function defineWords(rules: RuleBook): void {
  rules.define('w', many(chars('0-9A-Z_a-z')));
}

/** Any word. Its first character is no digit. */
export const ANY_WORD: Form = all(chars('A-Z_a-z'), MORE);

/** The words that begin with one of the characters `first` and are none of `reserved`. */
export function wordsExcept(reserved: Iterable<string>, first: string): Form {
  const allowed = ranges(first);
  const starts = Map.groupBy(
    [...reserved].filter((word) => within(allowed, word)),
    (word) => word.charAt(0),
  );
  const free = without(allowed, [...starts.keys()].join(''));
  return any(
    ...(free.ranges.length === 0 ? [] : [all(free, MORE)]),
    ...[...starts].map(([char, words]) => all(char, rest(words.map((word) => word.slice(1))))),
  );
}

/** The continuation of a common prefix of reserved words that makes none of them; `tails` are their remaining letters. */
function rest(tails: readonly string[]): Form {
  const next = Map.groupBy(
    tails.filter((tail) => tail !== ''),
    (tail) => tail.charAt(0),
  );
  const other = all(without(WORD, [...next.keys()].join('')), MORE);
  const longer = any(other, ...[...next].map(([char, each]) => all(char, rest(each.map((tail) => tail.slice(1))))));
  return tails.includes('') ? longer : maybe(longer);
}

function within(allowed: Ranges, word: string): boolean {
  const point = word.codePointAt(0) ?? 0;
  return allowed.some(([first, last]) => first <= point && point <= last);
}
