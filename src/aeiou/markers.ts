/** The lines that give an envelope its structure (A3-3.1), and how a line is recognised as one. */

export type SectionName = 'USERDATA' | 'SCRATCHPAD' | 'OUTPUT' | 'ACTIONS';
/** A section, or one of the two ends of an envelope. */
export type MarkerName = SectionName | 'START' | 'END';

/** The six marker lines, byte for byte (A3-3.1-1). */
export const MARKERS: Readonly<Record<MarkerName, string>> = {
  START: '<<<NSENV:V3:START>>>',
  USERDATA: '<<<NSENV:V3:USERDATA>>>',
  SCRATCHPAD: '<<<NSENV:V3:SCRATCHPAD>>>',
  OUTPUT: '<<<NSENV:V3:OUTPUT>>>',
  ACTIONS: '<<<NSENV:V3:ACTIONS>>>',
  END: '<<<NSENV:V3:END>>>',
};

/** The sections in their fixed order (A3-3.2-1). */
export const SECTIONS: readonly SectionName[] = ['USERDATA', 'SCRATCHPAD', 'OUTPUT', 'ACTIONS'];

/** Bytes, inclusive: from the first byte of START to the last of END (A3-3.4-5, AMB-21). */
export const MAX_ENVELOPE_BYTES = 1024 * 1024;
/** Bytes, inclusive: one body, without marker lines and the line feed that ends it (A3-3.4-6). */
export const MAX_SECTION_BYTES = 512 * 1024;
/** Bytes, inclusive: one line of OUTPUT, without its line feed (A3-3.4-7, AMB-22). */
export const MAX_LINE_BYTES = 8192;

export const LF = 0x0a;
export const BOM_BYTES = 3;

const PREFIX = bytesOf('<<<NSENV:');
const SUFFIX = bytesOf('>>>');
const NAMES: ReadonlyMap<string, MarkerName> = new Map(entriesOf(MARKERS));

/** Whether a byte order mark stands at `at`. */
export function hasBom(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf;
}

/**
 * What the line from `start` to `end` (without its line feed) is: a marker; `unknown`, when it has the form of a marker
 * but is none of the six (another version, another name: refused everywhere, AMB-20); or null, body text.
 *
 * Exact bytes decide (A3-3.1-3): blanks or a carriage return around it, other letters, full-width signs make body text. A byte
 * order mark in front is dropped (AMB-17). Look-alikes with letters beyond ASCII are body text too: they are never
 * normalised into a marker (threat 12).
 */
export function markerAt(bytes: Uint8Array, start: number, end: number): MarkerName | 'unknown' | null {
  const from = hasBom(bytes, start) ? start + BOM_BYTES : start;
  if (end - from < PREFIX.length + SUFFIX.length) return null;
  if (!matches(bytes, from, PREFIX) || !matches(bytes, end - SUFFIX.length, SUFFIX)) return null;
  // Longer than any marker and still all printable ASCII: unknown. The loop ends at the first byte that is not.
  for (let i = from; i < end; i++) {
    const byte = bytes[i] ?? 0;
    if (byte < 0x20 || byte > 0x7e) return null;
  }
  return NAMES.get(String.fromCharCode(...bytes.subarray(from, Math.min(end, from + LONGEST + 1)))) ?? 'unknown';
}

const LONGEST = Math.max(...[...NAMES.keys()].map((marker) => marker.length));

function matches(bytes: Uint8Array, at: number, wanted: readonly number[]): boolean {
  return wanted.every((byte, i) => bytes[at + i] === byte);
}

function bytesOf(ascii: string): readonly number[] {
  return Array.from(ascii, (letter) => letter.charCodeAt(0));
}

function* entriesOf(markers: Readonly<Record<MarkerName, string>>): Generator<readonly [string, MarkerName]> {
  const names: readonly MarkerName[] = ['START', ...SECTIONS, 'END'];
  for (const name of names) yield [markers[name], name];
}
