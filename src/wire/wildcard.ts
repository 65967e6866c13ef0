/**
 * Whether a text is made of the pieces of a pattern in their order, with any text between two of them. The time does not grow with the
 * number of pieces: texts and patterns may come from others.
 */
export function isMadeOf([first = '', ...rest]: readonly string[], text: string): boolean {
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at + last.length <= text.length;
}
