/** Puts styles around text, or leaves it as it is. */
export interface Palette {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
}

const same = (text: string): string => text;

/** No styles: for files, pipes and `NO_COLOR`. */
export const plainPalette: Palette = { bold: same, dim: same, red: same, green: same, yellow: same };

/** Columns the explanation is made for. */
export const WIDTH = 80;

/** Control, formatting, separating and lone surrogate characters: what could act on a terminal instead of being shown. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\p{Cs}/gu;
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\u001b': '\\e' };

/** One line of foreign text, with everything that a terminal would obey written as an escape. */
export function printable(text: string): string {
  return text.replace(UNSAFE, (char) => SHORT[char] ?? `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

const WIDE =
  /^[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** Columns one character takes on a terminal. */
function columns(char: string): number {
  return WIDE.test(char) ? 2 : /^\p{Mn}/u.test(char) ? 0 : 1;
}

/**
 * Cuts a printable line into pieces of at most `width` columns: after a blank or a comma where one is near, else anywhere.
 * An empty line is one empty piece.
 */
export function wrap(line: string, width: number): readonly string[] {
  const pieces: string[] = [];
  let piece = '';
  let used = 0;
  let place = -1;
  for (const char of line) {
    const wide = columns(char);
    if (used + wide > width && piece !== '') {
      // A place to break in the right half is worth it; further left it would leave a ragged half-line.
      const cut = place > piece.length / 2 ? place : piece.length;
      pieces.push(piece.slice(0, cut).trimEnd());
      piece = piece.slice(cut);
      used = [...piece].reduce((sum, kept) => sum + columns(kept), 0);
      place = -1;
      // The blank at which a line was cut is shown by the cut.
      if (char === ' ' && piece === '') continue;
    }
    piece += char;
    if (char === ' ' || char === ',') place = piece.length;
    used += wide;
  }
  return [...pieces, piece];
}
