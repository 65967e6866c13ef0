/**
 * A section body without the Markdown fence that surrounds it: models often put one around a program. Null when the body is not fenced as
 * a whole. Blank lines around the fence go with it; every line within keeps its bytes.
 */
export function withoutFence(body: string): string | null {
  const lines = body.split('\n');
  const first = lines.findIndex((line) => line.trim() !== '');
  const last = lines.findLastIndex((line) => line.trim() !== '');
  if (last <= first) return null;
  const opening = (lines[first] ?? '').trim();
  const closing = (lines[last] ?? '').trim();
  const mark = opening.charAt(0);
  if (mark !== '`' && mark !== '~') return null;
  const length = leading(opening, mark);
  // What follows the opening fence names a language. The closing fence has at least as many characters, and nothing else.
  if (length < 3 || opening.includes(mark, length)) return null;
  if (closing.length < length || leading(closing, mark) < closing.length) return null;
  return lines.slice(first + 1, last).join('\n');
}

/** How many characters at the start of the text are `mark`. */
function leading(text: string, mark: string): number {
  const other = [...text].findIndex((character) => character !== mark);
  return other < 0 ? text.length : other;
}
