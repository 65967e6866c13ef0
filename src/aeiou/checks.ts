import { EnvelopeError } from './errors.ts';
import { LF, MAX_ENVELOPE_BYTES, MAX_LINE_BYTES, MAX_SECTION_BYTES, type SectionName } from './markers.ts';
import { fromUtf8, toUtf8 } from './text.ts';

/** What an envelope must keep to whether it is read or written. All throw {@link EnvelopeError}. */

/** UTF-8 of a well-formed text. */
export function encode(text: string, what: string): Uint8Array {
  if (!text.isWellFormed())
    throw new EnvelopeError('ERR_ENV_MARKERS_INVALID', 'encoding', `${what} has a lone surrogate and cannot be written as UTF-8`);
  return toUtf8(text);
}

/** Inclusive: exactly the limit is fine. */
export function checkSize(bytes: number): void {
  if (bytes > MAX_ENVELOPE_BYTES)
    throw new EnvelopeError(
      'ERR_ENV_SIZE',
      'envelope_size',
      `the envelope has ${bytes} bytes; ${MAX_ENVELOPE_BYTES} are allowed`,
    );
}

/** Refuses what is no UTF-8 (AMB-16). */
export function checkEncoding(bytes: Uint8Array): void {
  if (fromUtf8(bytes) === null) throw new EnvelopeError('ERR_ENV_MARKERS_INVALID', 'encoding', 'the envelope is not valid UTF-8');
}

/** Refuses a body that is too large. */
export function checkSection(name: SectionName, bytes: number, line: number): void {
  if (bytes > MAX_SECTION_BYTES)
    throw new EnvelopeError(
      'ERR_ENV_SIZE',
      'section_size',
      `the ${name} section has ${bytes} bytes; ${MAX_SECTION_BYTES} are allowed`,
      line,
    );
}

/** Refuses a line of OUTPUT that is too long; `firstLine` is the number of the line at `from`. */
export function checkLines(bytes: Uint8Array, from: number, to: number, firstLine: number): void {
  let line = firstLine;
  for (let start = from; start <= to; line++) {
    let end = start;
    while (end < to && bytes[end] !== LF) end += 1;
    if (end - start > MAX_LINE_BYTES)
      throw new EnvelopeError(
        'ERR_ENV_SIZE',
        'line_size',
        `a line of OUTPUT has ${end - start} bytes; ${MAX_LINE_BYTES} are allowed`,
        line,
      );
    start = end + 1;
  }
}
