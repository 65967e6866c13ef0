/** A lexer for text of any common language: it never fails, and it keeps the text of every token. */
import { lastAtMost } from '../syntax/position.ts';

/** The kinds of tokens. A `text` is a string of any language, an `end` the end of a line. */
export type WordKind = 'name' | 'number' | 'text' | 'mark' | 'comment' | 'end';

/** A token at its place in the text. */
export interface Word {
  readonly kind: WordKind;
  readonly text: string;
  readonly s: number;
  readonly e: number;
}

const BLANKS = /[ \t\r\u00a0]+/y;
const NAME = /[A-Za-z_]\w*/y;
const NUMBER = /\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const TEST = /-(?:eq|ne|gt|lt|ge|le|z|n)(?=\s)/y;
const NUMBER_ALONE = /[ \t]*\d+(?:\.\d+)?[ \t)]*(?:\n|$)/y;

/** Longest first. */
const MARKS = [
  ...['$((', '===', '!==', '...', '..<', '..=', '**=', '//=', '&&=', '||=', '??='],
  ...['$(', '${', '?.', '??', '=>', '->', ':=', '&&', '||', '==', '!=', '<>', '<=', '>=', '~=', '+=', '-=', '*=', '/=', '%='],
  ...['**', '++', '..', '<<', '<-', ';;', '::'],
];

const CLOSING: Readonly<Record<string, string>> = { '“': '”', '”': '”', '„': '“', '‘': '’', '’': '’', '«': '»' };

/** The tokens of a text. Takes time linear in its length. */
export function wordsOf(text: string): readonly Word[] {
  const words: Word[] = [];
  const names = new Set<string>();
  let at = 0;
  const add = (kind: WordKind, e: number): void => {
    if (kind === 'name') names.add(text.slice(at, e));
    words.push({ kind, text: text.slice(at, e), s: at, e });
    at = e;
  };
  while (at < text.length) {
    const blanks = matched(BLANKS, text, at);
    if (blanks > at) {
      at = blanks;
      continue;
    }
    const char = text.charAt(at);
    const before = words.at(-1);
    if (char === '\n') add('end', at + 1);
    else if (char === '\\' && text.charAt(at + 1) === '\n') at += 2;
    else if (beginsComment(text, at, before)) add('comment', commentEnd(text, at));
    else if (stringEnd(text, at, names) > at) add('text', stringEnd(text, at, names));
    else if (matched(NAME, text, at) > at) add('name', matched(NAME, text, at));
    else if (matched(NUMBER, text, at) > at) add('number', matched(NUMBER, text, at));
    else if (matched(TEST, text, at) > at) add('mark', matched(TEST, text, at));
    else if (text.startsWith('--', at) || text.startsWith('//', at)) add('mark', at + 2);
    else add('mark', at + (MARKS.find((mark) => text.startsWith(mark, at))?.length ?? 1));
  }
  return words;
}

function matched(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** Whether a comment of any language begins here. `n--` and `7 // 2` are operators, and `$#` is a variable of the shell. */
function beginsComment(text: string, at: number, before: Word | undefined): boolean {
  const two = text.slice(at, at + 2);
  if (two === '/*') return true;
  if (text.charAt(at) === '#')
    return !(before?.text === '${' || (/^(?:[=<>]=?|[(,])$/.test(before?.text ?? '') && /[A-Za-z_]/.test(text.charAt(at + 1))));
  if (two === '--') return !(before?.kind === 'name' && before.e === at && /^[ \t]*[;)\n]/.test(text.slice(at + 2, at + 40)));
  if (two !== '//' || text.charAt(at + 2) === '=') return two === '//' && before?.kind === 'end';
  const operand = before !== undefined && ['name', 'number'].includes(before.kind);
  return !operand || matched(NUMBER_ALONE, text, at + 2) === at + 2;
}

function commentEnd(text: string, at: number): number {
  const block = text.startsWith('/*', at);
  const end = text.indexOf(block ? '*/' : '\n', at + 1);
  if (end < 0) return text.length;
  return block ? end + 2 : end;
}

/**
 * The end of the string that begins at `at`; `at` if none does. A string without an end ends with its line, or before what is added to it:
 * `"Hello, + name` where `name` is one of the names before.
 */
function stringEnd(text: string, at: number, names: ReadonlySet<string>): number {
  const prefixed = /^[fFrRbB$]$/.test(text.charAt(at)) && /^["']$/.test(text.charAt(at + 1)) && !/\w/.test(text.charAt(at - 1));
  const s = prefixed ? at + 1 : at;
  const lineEnd = text.indexOf('\n', s) < 0 ? text.length : text.indexOf('\n', s);
  for (const long of ['```', '"""', "'''"]) {
    if (!text.startsWith(long, s)) continue;
    const end = text.indexOf(long, s + 3);
    return end < 0 ? lineEnd : end + 3;
  }
  const quote = text.charAt(s);
  const closing = CLOSING[quote];
  if (closing !== undefined) {
    const end = text.indexOf(closing, s + 1);
    return end < 0 || end > lineEnd ? at : end + 1;
  }
  if (quote !== '"' && quote !== "'" && quote !== '`') return at;
  for (let end = s + 1; end < (quote === '`' ? text.length : lineEnd); end++) {
    if (text.charAt(end) === '\\') end++;
    else if (text.charAt(end) === quote) return end + 1;
  }
  const [fixed = '', ...added] = text.slice(s, lineEnd).split(' + ');
  const isAdded = added.length > 0 && added.every((one) => names.has(one.trim().split('.', 1)[0] ?? ''));
  return isAdded && !prefixed ? s + fixed.length + 1 : lineEnd;
}

/** The white space at the beginning of the line of an offset. `starts` has the offsets of all lines. */
export function indentAt(text: string, starts: readonly number[], offset: number): string {
  const start = starts[lastAtMost(starts, offset)] ?? 0;
  return /^[ \t]*/.exec(text.slice(start, Math.min(offset, start + 200)))?.[0] ?? '';
}
