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

/** Whether a byte order mark stands at `at`. */
export function hasBom(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf;
}

/** A line that is a marker, or has the form of one. */
export interface MarkerLine {
  /** `unknown`: the form of a marker, but none of the six: another version, another name (AMB-20). */
  readonly marker: MarkerName | 'unknown';
  /** Offset of its first byte. */
  readonly start: number;
  /** Offset of the line feed that ends it, or of the end. */
  readonly end: number;
  /** 1-based. */
  readonly line: number;
}

/**
 * The marker lines from `from` to `to`, in order; `firstLine` is the number of the line at `from`. Lines end at line feeds
 * and at nothing else (A3-3.4-2). One pass that looks twice only at lines which start like a marker: an envelope is its
 * marker lines, and what stands between them is nobody's business here.
 */
export function markerLines(bytes: Uint8Array, from: number, to: number, firstLine: number): readonly MarkerLine[] {
  const found: MarkerLine[] = [];
  let line = firstLine;
  for (let start = from; start <= to; line++) {
    let end = start;
    while (end < to && bytes[end] !== LF) end += 1;
    const marker = markerAt(bytes, start, end);
    if (marker !== null) found.push({ marker, start, end, line });
    start = end + 1;
  }
  return found;
}

const PREFIX = bytesOf('<<<NSENV:');
const SUFFIX = bytesOf('>>>');

/** The six by their length in bytes, which tells them apart. */
const BY_LENGTH: ReadonlyMap<number, { readonly name: MarkerName; readonly bytes: readonly number[] }> = new Map(
  (['START', ...SECTIONS, 'END'] as const).map((name) => [MARKERS[name].length, { name, bytes: bytesOf(MARKERS[name]) }]),
);

/**
 * Exact bytes decide (A3-3.1-3): blanks or a carriage return around it, other letters, full-width signs make body text. A byte
 * order mark in front is dropped (AMB-17). Look-alikes with letters beyond ASCII are body text too: they are never
 * normalised into a marker (threat 12).
 */
function markerAt(bytes: Uint8Array, start: number, end: number): MarkerName | 'unknown' | null {
  const from = hasBom(bytes, start) ? start + BOM_BYTES : start;
  if (bytes[from] !== PREFIX[0] || end - from < PREFIX.length + SUFFIX.length) return null;
  if (!matches(bytes, from, PREFIX) || !matches(bytes, end - SUFFIX.length, SUFFIX)) return null;
  const known = BY_LENGTH.get(end - from);
  if (known !== undefined && matches(bytes, from, known.bytes)) return known.name;
  for (let i = from; i < end; i++) {
    const byte = bytes[i] ?? 0;
    if (byte < 0x20 || byte > 0x7e) return null;
  }
  return 'unknown';
}

function matches(bytes: Uint8Array, at: number, wanted: readonly number[]): boolean {
  for (let i = 0; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) return false;
  return true;
}

function bytesOf(ascii: string): readonly number[] {
  return Array.from(ascii, (letter) => letter.charCodeAt(0));
}
