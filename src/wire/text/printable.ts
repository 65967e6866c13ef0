/**
 * What a reader of one line cannot see, or takes for a space: control and format characters, fillers, variation selectors, tags, signs that
 * are blank. In a group, so that a split by it has the matches at the odd places.
 */
export const UNSEEN =
  /([\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000\u{13441}\u{13442}\u{16fe4}\u{1d159}]+)/u;
/** The same in a text of several lines, which may have line feeds, tabs and every blank. */
export const UNSEEN_IN_LINES =
  /((?:(?![\n\t])[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u2800\u{13441}\u{13442}\u{16fe4}\u{1d159}])+)/u;
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\u001b': '\\e' };

/** One line of foreign text for a person who judges it: whatever cannot be seen, or looks like a space, is written as an escape. */
export function printable(text: string): string {
  return withEscapes(text, UNSEEN);
}

/** Text of several lines that a program says: line feeds, tabs and every blank stay. */
export function printableLines(text: string): string {
  return withEscapes(text, UNSEEN_IN_LINES);
}

function withEscapes(text: string, unseen: RegExp): string {
  const parts = text.split(unseen);
  return parts.map((part, index) => (index % 2 === 0 ? part : Array.from(part, escaped).join(''))).join('');
}

function escaped(char: string): string {
  return SHORT[char] ?? `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
}

/** Shortens one line to `width` characters; an ellipsis marks the cut. */
export function clip(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

const WIDE =
  /^[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** Columns of a terminal that a text takes: two for East Asian and pictographic characters, none for combining marks. */
export function columns(text: string): number {
  let sum = 0;
  for (const char of text) sum += WIDE.test(char) ? 2 : /^\p{Mn}/u.test(char) ? 0 : 1;
  return sum;
}

/**
 * Cuts a printable line into pieces of at most `width` columns: after a blank or a comma, unless the word behind it nearly fills a line.
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
      // A line that would be nearly empty is worse than a word cut in two.
      const cut = place > piece.length / 4 ? place : piece.length;
      pieces.push(piece.slice(0, cut).trimEnd());
      piece = piece.slice(cut);
      used = columns(piece);
      place = -1;
      // The line break takes the place of the blank.
      if (char === ' ' && piece === '') continue;
    }
    piece += char;
    if (char === ' ' || char === ',') place = piece.length;
    used += wide;
  }
  return [...pieces, piece];
}
