/** Control, formatting and line-separating characters that would move the cursor, recolour, reorder or hide text. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\p{Cs}/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\u001b': '\\e' };

/**
 * Makes text from a program, a tool or a file name fit for one line of a terminal: whatever could act on the terminal
 * instead of being shown stands there as an escape.
 */
export function printable(text: string): string {
  return text.replace(UNSAFE, (char) => SHORT[char] ?? `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

/** As {@link printable}, but line feeds and tabs keep their meaning: for texts of several lines. */
export function printableLines(text: string): string {
  return text
    .split('\n')
    .map((line) => line.split('\t').map(printable).join('\t'))
    .join('\n');
}

/** Shortens one line to `width` characters; what was cut is marked. */
export function clip(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Wraps text in terminal styles, or leaves it alone. */
export interface Paint {
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly green: (text: string) => string;
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
}

/** Styles for a stream: only on a terminal, and never when `NO_COLOR` is set to something or `TERM` is `dumb`. */
export function paintFor(stream: { readonly isTTY?: boolean }, env: Readonly<Record<string, string | undefined>>): Paint {
  const on = stream.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  const style = (code: number) => (on ? (text: string) => `\u001b[${code}m${text}\u001b[0m` : (text: string) => text);
  return { red: style(31), yellow: style(33), green: style(32), bold: style(1), dim: style(2) };
}
