import { type Palette, printable } from '../../loop/text.ts';

export { printable };

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

/** Styles of a stream, or none. */
export type Paint = Palette;

/** Styles for a stream: only on a terminal, and never when `NO_COLOR` is set to something or `TERM` is `dumb`. */
export function paintFor(stream: { readonly isTTY?: boolean }, env: Readonly<Record<string, string | undefined>>): Paint {
  const on = stream.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  const style = (code: number) => (on ? (text: string) => `\u001b[${code}m${text}\u001b[0m` : (text: string) => text);
  return { red: style(31), yellow: style(33), green: style(32), bold: style(1), dim: style(2) };
}
