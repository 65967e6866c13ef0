/** Unicode's white space off both ends; by hand, because a pattern for the end takes quadratic time. */
export function trimSpace(text: string): string {
  const { start, end } = withoutSpace(text);
  return text.slice(start, end);
}

/** Where a text begins and ends without the white space around it. */
export function withoutSpace(text: string): { readonly start: number; readonly end: number } {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return { start, end };
}

const SPACE = /[\s\u0085]/;

/** Whether a UTF-16 unit is Unicode's white space: JavaScript's without the byte order mark, and U+0085. */
export function isSpace(unit: number): boolean {
  if (unit < 0x80) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  return unit !== 0xfeff && SPACE.test(String.fromCharCode(unit));
}
