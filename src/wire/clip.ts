/** The beginning of a text, without half a character at its end. */
export function clipped(text: string, units: number): string {
  return text.length <= units ? text : text.slice(0, units).replace(/[\ud800-\udbff]$/, '');
}

/** How many characters a text has; one outside of the basic plane counts once. */
export function characterCount(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
