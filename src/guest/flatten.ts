/** Shorter texts are not worth the work. */
const FLOOR = 1024;

/** Any pattern makes V8 flatten the text it is tried on, and is never optimised away. */
const PROBE = /^/;

/**
 * V8 keeps `a + b` as a tree of 32 bytes a node until somebody looks at the characters, so a text built character by
 * character would take sixteen times what it counts. It is made flat whenever its length passes the next eighth of an
 * octave: the tree then never outgrows the text, and the copying stays proportional to the final length.
 */
export function isFlattened(length: number, longerSide: number): boolean {
  return length >= FLOOR && octave(length) !== octave(longerSide);
}

/** The same text in one piece. */
export function flatten(text: string): string {
  PROBE.test(text);
  return text;
}

function octave(length: number): number {
  const exponent = 31 - Math.clz32(length);
  return exponent * 8 + ((length >> Math.max(0, exponent - 3)) & 7);
}
