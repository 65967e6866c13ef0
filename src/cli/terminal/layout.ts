import { type Palette, wrap } from '../../report/index.ts';

/** The lines of a printable text, as wide as the terminal: the first begins with `first`, and the others with `rest`. */
export function paragraph(text: string, { columns }: Palette, first = '', rest: string = first): readonly string[] {
  const pieces = wrap(text, columns - Math.max(first.length, rest.length));
  return pieces.map((piece, index) => `${index === 0 ? first : rest}${piece}`);
}
