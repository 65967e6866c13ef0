import { typeName } from '../arguments.ts';
import { EnvelopeError } from '../errors.ts';
import { fromUtf8, toUtf8 } from '../utf8.ts';
import { LF, type SectionName } from './markers.ts';

/** Encoding and sizes of an envelope, checked alike when it is read and when it is written. Every check throws {@link EnvelopeError}. */

/** Most bytes of an envelope, from the first byte of START to the last byte of END. */
export const MAX_ENVELOPE_BYTES = 1024 * 1024;
/** Most bytes of one section's body, without marker lines and without the line feed that ends the body. */
export const MAX_SECTION_BYTES = 512 * 1024;
/** Most bytes of one line of OUTPUT, without its line feed. */
export const MAX_LINE_BYTES = 8192;

/** Encodes a well-formed text as UTF-8; `what` names it in the error. */
export function encode(text: string, what: string): Uint8Array {
  if (!text.isWellFormed())
    throw new EnvelopeError('ERR_ENV_MARKERS_INVALID', 'encoding', `${what} has a lone surrogate and cannot be written as UTF-8`);
  return toUtf8(text);
}

/** Refuses what is no bytes, which plain JavaScript may pass. `wanted` begins the message. */
export function checkBytes(bytes: unknown, wanted = 'the envelope must be a Uint8Array'): void {
  if (!(bytes instanceof Uint8Array))
    throw new EnvelopeError('ERR_ENV_MARKERS_INVALID', 'encoding', `${wanted}, got ${typeName(bytes)}`);
}

/** Refuses an envelope that is too large. */
export function checkSize(bytes: number): void {
  checkAtMost(MAX_ENVELOPE_BYTES, bytes, 'envelope_size', 'the envelope', null);
}

/** Refuses bytes that are not UTF-8. */
export function checkEncoding(bytes: Uint8Array): void {
  if (fromUtf8(bytes) === null) throw new EnvelopeError('ERR_ENV_MARKERS_INVALID', 'encoding', 'the envelope is not valid UTF-8');
}

/** Refuses a section's body that is too large; `line` is the line of its marker. */
export function checkSection(name: SectionName, bytes: number, line: number): void {
  checkAtMost(MAX_SECTION_BYTES, bytes, 'section_size', `the ${name} section`, line);
}

/** Refuses a line of OUTPUT that is too long; `firstLine` is the number of the line at `from`. */
export function checkLines(bytes: Uint8Array, from: number, to: number, firstLine: number): void {
  let line = firstLine;
  for (let start = from; start < to; line++) {
    let end = start;
    while (end < to && bytes[end] !== LF) end += 1;
    checkAtMost(MAX_LINE_BYTES, end - start, 'line_size', 'a line of OUTPUT', line);
    start = end + 1;
  }
}

function checkAtMost(
  allowed: number,
  bytes: number,
  detail: 'envelope_size' | 'section_size' | 'line_size',
  what: string,
  line: number | null,
): void {
  if (bytes > allowed)
    throw new EnvelopeError('ERR_ENV_SIZE', detail, `${what} has ${bytes} bytes; ${allowed} are allowed`, line);
}
