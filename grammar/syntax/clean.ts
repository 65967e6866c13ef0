/** Source cleaning, which comes before the lexer. */
import { type Comment, commentsOf } from './comments.ts';
import { problemAt, type SyntaxProblem } from './problem.ts';
import { StringLiteral, TemplateText, type Token } from './tokens.ts';

/** The cleaned text, and the problem that makes it unreadable, if there is one. */
export interface Cleaned {
  readonly text: string;
  readonly problem?: SyntaxProblem;
}

const forbidden = /[\u200B\u2060\u202A-\u202E\uFFFD]/;
/** Characters that join or separate those around them, in emoji and in several scripts. Only texts and comments may have them. */
const joiners = /[\u200C\u200D]/g;
const loneSurrogate = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;
const removed = /[\0-\x08\x0B\x0C\x0E-\x1F]/g;

/**
 * Drops a byte-order mark, turns CR LF and CR into LF, and removes control characters other than TAB and LF. Then checks the
 * text: it must be valid UTF-8 of at most `maxBytes` bytes, without U+FFFD, zero-width or bidirectional control characters. The joiners
 * U+200C and U+200D are left to {@link strayJoiner}.
 */
export function clean(source: string | Uint8Array, maxBytes: number): Cleaned {
  const raw = typeof source === 'string' ? source : new TextDecoder('utf-8', { ignoreBOM: true }).decode(source);
  let text = raw.charCodeAt(0) === 0xfeff ? raw.slice(1) : raw;
  if (text.includes('\r')) text = text.replace(/\r\n?/g, '\n');
  if (text.search(removed) >= 0) text = text.replace(removed, '');

  const invisible = text.search(forbidden);
  const lone = text.isWellFormed() ? -1 : text.search(loneSurrogate);
  const bad = invisible < 0 || (lone >= 0 && lone < invisible) ? lone : invisible;
  const tooLong = firstBeyond(text, maxBytes);
  if (bad >= 0 && (tooLong < 0 || bad < tooLong)) return { text, problem: forbiddenAt(text, bad) };
  if (tooLong >= 0) {
    const problem = problemAt(
      tooLong,
      tooLong,
      `the source is longer than ${maxBytes} bytes`,
      'split it into several files, or let a tool read the data',
    );
    return { text, problem };
  }
  return { text };
}

/** The first joiner outside of the texts and comments of a program; undefined when there is none. */
export function strayJoiner(text: string, tokens: readonly Token[]): SyntaxProblem | undefined {
  let comments: readonly Comment[] | undefined;
  let [next, nextComment] = [0, 0];
  for (const { index } of text.matchAll(joiners)) {
    while (next < tokens.length && (tokens[next]?.endOffset ?? 0) < index) next++;
    const token = tokens[next];
    const isText = token?.tokenType === StringLiteral || token?.tokenType === TemplateText;
    if (token !== undefined && isText && token.startOffset <= index) continue;
    comments ??= commentsOf(text, tokens);
    while (nextComment < comments.length && (comments[nextComment]?.e ?? 0) <= index) nextComment++;
    if ((comments[nextComment]?.s ?? text.length) > index) return forbiddenAt(text, index, 'outside of a string or a comment');
  }
  return undefined;
}

/** The code point of the first joiner in a part of a source; undefined when there is none. */
export function joinerIn(text: string): string | undefined {
  const at = text.search(joiners);
  return at < 0 ? undefined : codeOf(text, at);
}

function codeOf(text: string, offset: number): string {
  return `U+${text.charCodeAt(offset).toString(16).toUpperCase().padStart(4, '0')}`;
}

function forbiddenAt(text: string, offset: number, where = 'in a source, not even in a string or a comment'): SyntaxProblem {
  const unit = text.charCodeAt(offset);
  if (unit === 0xfffd || (unit >= 0xd800 && unit <= 0xdfff)) {
    return problemAt(offset, offset + 1, 'the source is not valid UTF-8 here', 'save the file as UTF-8');
  }
  return problemAt(
    offset,
    offset + 1,
    `the invisible character ${codeOf(text, offset)} is not allowed ${where}`,
    `delete it, or write "\\u${unit.toString(16).padStart(4, '0')}" in a double-quoted string`,
  );
}

/** Offset of the first character that ends beyond `maxBytes` of UTF-8; −1 when all of them fit. */
function firstBeyond(text: string, maxBytes: number): number {
  if (text.length * 3 <= maxBytes) return -1;
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    // A surrogate pair takes four bytes, two for each half.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
    if (bytes > maxBytes) return unit >= 0xdc00 && unit <= 0xdfff ? i - 1 : i;
  }
  return -1;
}
