import { checkObject } from '../arguments.ts';
import { checkWholeNumber } from '../lifetimes.ts';

/** The marker lines, which give an envelope its structure, and their recognition. */

/** A section of an envelope. */
export type SectionName = 'USERDATA' | 'SCRATCHPAD' | 'OUTPUT' | 'ACTIONS';
/** A section, or one of the two ends of an envelope. */
export type MarkerName = SectionName | 'START' | 'END';

/** The six marker lines, byte for byte. */
export const MARKERS: Readonly<Record<MarkerName, string>> = {
  START: '<<<NSENV:V3:START>>>',
  USERDATA: '<<<NSENV:V3:USERDATA>>>',
  SCRATCHPAD: '<<<NSENV:V3:SCRATCHPAD>>>',
  OUTPUT: '<<<NSENV:V3:OUTPUT>>>',
  ACTIONS: '<<<NSENV:V3:ACTIONS>>>',
  END: '<<<NSENV:V3:END>>>',
};

/** The sections in their fixed order. */
export const SECTIONS: readonly SectionName[] = ['USERDATA', 'SCRATCHPAD', 'OUTPUT', 'ACTIONS'];

export const LF = 0x0a;
export const BOM_BYTES = 3;

/** Whether the bytes at `at` are a byte order mark. */
export function hasBom(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf;
}

/** A line that is a marker or has the form of one. */
export interface MarkerLine {
  /** `unknown` for a line with the form of a marker but another version or another name. */
  readonly marker: MarkerName | 'unknown';
  /** Offset of its first byte. */
  readonly start: number;
  /** Offset of the line feed that ends it, or of the end. */
  readonly end: number;
  /** 1-based. */
  readonly line: number;
}

/**
 * The marker lines from `from` to `to`, in order; `firstLine` is the number of the line at `from`. Only a line feed ends a
 * line. One pass over the bytes; it looks twice only at lines that start like a marker.
 */
export function markerLines(bytes: Uint8Array, from: number, to: number, firstLine: number): readonly MarkerLine[] {
  checkObject('the bytes', bytes);
  checkWholeNumber('from', from, 0);
  checkWholeNumber('to', to, 0);
  checkWholeNumber('firstLine', firstLine, 0);
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

/** The markers by their length in bytes. No two of the six have the same length. */
const BY_LENGTH: ReadonlyMap<number, { readonly name: MarkerName; readonly bytes: readonly number[] }> = new Map(
  (['START', ...SECTIONS, 'END'] as const).map((name) => [MARKERS[name].length, { name, bytes: bytesOf(MARKERS[name]) }]),
);

/**
 * The marker of one line; null for body text. The bytes must match exactly: a line with blanks or a carriage return around
 * a marker is body text. A byte order mark in front is dropped. Look-alikes with characters beyond ASCII are body text too:
 * nothing is normalised into a marker.
 */
function markerAt(bytes: Uint8Array, start: number, end: number): MarkerName | 'unknown' | null {
  const from = hasBom(bytes, start) ? start + BOM_BYTES : start;
  // The first byte rules out nearly every line; without this check, parsing short lines takes 8 % longer.
  if (bytes[from] !== PREFIX[0]) return null;
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
