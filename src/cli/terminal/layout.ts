import { wrap } from '../../report/index.ts';

/** Columns of the lines that commands print for people: every terminal has them. */
export const COLUMNS = 80;

/** The lines of a printable text, each within {@link COLUMNS}: the first begins with `first`, and the others with `rest`. */
export function paragraph(text: string, first = '', rest: string = first): readonly string[] {
  const pieces = wrap(text, COLUMNS - Math.max(first.length, rest.length));
  return pieces.map((piece, index) => `${index === 0 ? first : rest}${piece}`);
}
