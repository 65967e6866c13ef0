import { styleText } from 'node:util';

/** Puts styles around text, or leaves it as it is. */
export interface Palette {
  /** For headings. */
  readonly bold: (text: string) => string;
  /** For what matters less. */
  readonly dim: (text: string) => string;
  /** For failures. */
  readonly red: (text: string) => string;
  /** For success. */
  readonly green: (text: string) => string;
  /** For warnings. */
  readonly yellow: (text: string) => string;
}

const same = (text: string): string => text;

/** No styles: for files, pipes and `NO_COLOR`. */
export const plainPalette: Palette = { bold: same, dim: same, red: same, green: same, yellow: same };

type Style = keyof Palette;

const style = (name: Style) => (text: string) => styleText(name, text, { validateStream: false });

const colours: Palette = {
  bold: style('bold'),
  dim: style('dim'),
  red: style('red'),
  green: style('green'),
  yellow: style('yellow'),
};

/** Styles for a stream: only on a terminal, and never when `NO_COLOR` has a value or `TERM` is `dumb`. */
export function paletteFor(stream: { readonly isTTY?: boolean }, env: Readonly<Record<string, string | undefined>>): Palette {
  return stream.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb' ? colours : plainPalette;
}
