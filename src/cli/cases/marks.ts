/** What a comment of a case may begin with. */
export type MarkName = '#:' | '#=>' | '#!!' | '#!event';

/** A mark within a comment of a case. */
export interface Mark {
  /** Index of the line, from 0. */
  readonly index: number;
  readonly mark: MarkName;
  /** Whether no blank follows the mark. */
  readonly glued: boolean;
  /** The rest of the line, behind one blank. */
  readonly what: string;
}

/** Where a string or a comment begins. */
const BEGINNING = /'''|```|["'#]|--|\/\//g;
const MARK = /(?:^|\s)(?:#=>|#!!|#!event)/;

/**
 * The first mark of each comment. A mark within a string of the program is text. An open string ends the program with an error, which
 * a mark on that line may expect: there it counts.
 */
export function* marksOf(lines: readonly string[]): Generator<Mark> {
  const text = lines.join('\n');
  let index = 0;
  let counted = 0;
  let from = 0;
  for (const { 0: opening, index: at } of text.matchAll(BEGINNING)) {
    if (at < from) continue;
    const { end, isString } = pieceAt(text, at, opening);
    from = end;
    const found = isString ? null : markIn(text.slice(at, end));
    if (found === null) continue;
    for (; counted < at; counted += 1) if (text[counted] === '\n') index += 1;
    yield { index, ...found };
  }
}

/** The end of the piece that begins at an offset, and whether it is a closed string. */
function pieceAt(text: string, at: number, opening: string): { readonly end: number; readonly isString: boolean } {
  if (opening.length === 3) {
    const close = text.indexOf(opening, at + 3);
    return close < 0 ? { end: at + 3, isString: true } : { end: close + 3, isString: true };
  }
  const feed = text.indexOf('\n', at);
  const end = feed < 0 ? text.length : feed;
  if (opening !== '"' && opening !== "'") return { end, isString: false };
  for (let offset = at + 1; offset < end; offset += text[offset] === '\\' ? 2 : 1)
    if (text[offset] === opening) return { end: offset + 1, isString: true };
  return { end, isString: false };
}

function markIn(piece: string): Omit<Mark, 'index'> | null {
  if (piece.startsWith('#:')) return { mark: '#:', glued: false, what: piece.slice(2) };
  const found = MARK.exec(piece);
  if (found === null) return null;
  const mark = found[0].trimStart() as MarkName;
  const rest = piece.slice(found.index + found[0].length);
  return { mark, glued: /^\S/.test(rest), what: rest.slice(1) };
}
