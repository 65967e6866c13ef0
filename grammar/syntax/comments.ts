/** The comments of a source: what stands between its tokens (language.md 1.3). */
import type { Span } from './ast.ts';
import type { Token } from './tokens.ts';

/** One comment, from its `#`, `--` or `//` to the end of its line. */
export interface Comment extends Span {
  /** Index of the first token behind it; the number of tokens when there is none. */
  readonly before: number;
}

/** The comments between the tokens of a source that was read to its end, in order. Linear. */
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

/** Between tokens are only blanks, line ends, continuations, empty template parts, and comments. */
function commentStart(text: string, from: number, to: number): number {
  let at = from;
  while (at < to && !isMark(text, at)) at++;
  return at;
}

function isMark(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit === 0x23 || ((unit === 0x2d || unit === 0x2f) && text.charCodeAt(at + 1) === unit);
}
