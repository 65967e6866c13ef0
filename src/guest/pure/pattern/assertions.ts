import { isWord } from './chars.ts';
import type { Assertion } from './syntax.ts';

/** What stands before an offset, as far as assertions ask for it. */
export type Before = 0 | 1 | 2 | 3;
export const START = 0;
const LINE_FEED = 1;
const WORD = 2;
const OTHER = 3;

/** The end of the text in place of a character. */
export const END = -1;

/** What stands before an offset of a text. */
export function kindBefore(text: string, at: number): Before {
  return at === 0 ? START : kindOf(text.charCodeAt(at - 1));
}

/** What stands before the offset after a character. */
export function kindOf(code: number): Before {
  if (code === 0x0a) return LINE_FEED;
  return isWord(code) ? WORD : OTHER;
}

/** The character at an offset, of which assertions only tell ASCII apart. */
export function characterAfter(text: string, at: number): number {
  return at === text.length ? END : text.charCodeAt(at);
}

/** Whether an assertion holds between what stands before an offset and the character after it. */
export function holds(assertion: Assertion, before: Before, after: number): boolean {
  switch (assertion) {
    case 'text start':
      return before === START;
    case 'text end':
      return after === END;
    case 'line start':
      return before === START || before === LINE_FEED;
    case 'line end':
      return after === END || after === 0x0a;
    case 'word boundary':
      return (before === WORD) !== isWord(after);
    case 'no word boundary':
      return (before === WORD) === isWord(after);
  }
}
