/** The beginning of a text, without half a character at its end. */
export function clipped(text: string, units: number): string {
  return text.length <= units ? text : text.slice(0, units).replace(/[\ud800-\udbff]$/, '');
}
