import { styleText } from 'node:util';
import { type Palette, plainPalette } from '../wire/text/palette.ts';

/** Reports cannot be read in fewer columns, and lines of more are hard to read. */
const NARROWEST = 40;
const WIDEST = 120;

type Style = Exclude<keyof Palette, 'columns'>;

const style = (name: Style) => (text: string) => styleText(name, text, { validateStream: false });

const colours: Omit<Palette, 'columns'> = {
  bold: style('bold'),
  dim: style('dim'),
  red: style('red'),
  green: style('green'),
  yellow: style('yellow'),
};

/**
 * How a stream shows text: as wide as the terminal; with styles only on a terminal, and never when `NO_COLOR` has a value or `TERM` is
 * `dumb`.
 */
export function paletteFor(
  stream: { readonly isTTY?: boolean; readonly columns?: number },
  env: Readonly<Record<string, string | undefined>>,
): Palette {
  if (stream.isTTY !== true) return plainPalette;
  const columns = Math.min(Math.max(stream.columns || plainPalette.columns, NARROWEST), WIDEST);
  return { ...((env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb' ? colours : plainPalette), columns };
}
