/** Shorter texts stay as they are. */
const FLOOR = 1024;

/** Any pattern makes V8 flatten the text it is tested on, and V8 never optimises the test away. */
const PROBE = /^/;

/**
 * Whether a text is to be flattened. V8 keeps `a + b` as a tree, with 32 bytes a node, until its characters are read; a text built
 * character by character would take sixteen times the memory that it counts. Flattening it whenever its length passes the next eighth
 * of an octave keeps the tree smaller than the text, and the copying proportional to the final length.
 */
export function isFlattened(length: number, longerSide: number): boolean {
  // An eighth of an octave is the highest bit of a length with the three below it.
  return length >= FLOOR && (length ^ longerSide) >>> (28 - Math.clz32(length)) !== 0;
}

/** Flattens a text. */
export function flatten(text: string): string {
  PROBE.test(text);
  return text;
}
