/** Removes Unicode's white space from both ends. A loop does it, because a pattern for the end takes quadratic time. */
export function trimSpace(text: string, look = (): void => {}): string {
  const { start, end } = withoutSpace(text, look);
  return text.slice(start, end);
}

/** Units of white space for which `look` is called. */
const STRETCH = 4096;

/** The start and end of a text without the white space around it. `look` is called for every 4,096 units of it. */
export function withoutSpace(text: string, look = (): void => {}): { readonly start: number; readonly end: number } {
  const start = leadingSpace(text, look);
  let end = text.length;
  while (end > start && isSpace(text.charCodeAt(end - 1))) if ((text.length - --end) % STRETCH === 0) look();
  return { start, end };
}

/** The length of the white space at the start of a text. */
export function leadingSpace(text: string, look = (): void => {}): number {
  let start = 0;
  while (start < text.length && isSpace(text.charCodeAt(start))) if (++start % STRETCH === 0) look();
  return start;
}

/** Whether a UTF-16 unit is Unicode's white space: that of JavaScript without the byte order mark, and U+0085. */
export function isSpace(unit: number): boolean {
  if (unit < 0x80) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  if (unit < 0x1680) return unit === 0x85 || unit === 0xa0;
  if (unit >= 0x2000 && unit <= 0x200a) return true;
  return unit === 0x1680 || unit === 0x2028 || unit === 0x2029 || unit === 0x202f || unit === 0x205f || unit === 0x3000;
}
