/** The comments of a source, which the lexer skips. */

import { startsComment } from './codeunits.ts';
import type { Span } from './position.ts';
import type { Token } from './tokens.ts';

/** One comment, from its `#`, `--` or `//` to the end of its line. */
export interface Comment extends Span {
  /** Index of the first token after the comment; the number of tokens when there is none. */
  readonly before: number;
}

/** The comments of a source whose tokens were read to the end, in order. Takes linear time. */
export function commentsOf(text: string, tokens: readonly Token[]): readonly Comment[] {
  const comments: Comment[] = [];
  let from = 0;
  for (let index = 0; index <= tokens.length; index++) {
    const token = tokens[index];
    const to = token === undefined ? text.length : token.startOffset;
    for (let at = commentStart(text, from, to); at < to; ) {
      const feed = text.indexOf('\n', at);
      const end = feed < 0 || feed > to ? to : feed;
      comments.push({ s: at, e: end, before: index });
      at = commentStart(text, end, to);
    }
    if (token !== undefined) from = Math.max(from, token.endOffset + 1);
  }
  return comments;
}

/** Offset of the next comment; only blanks, line ends, continuations and empty template parts precede it between tokens. */
function commentStart(text: string, from: number, to: number): number {
  let at = from;
  while (at < to && !startsComment(text, at)) at++;
  return at;
}
