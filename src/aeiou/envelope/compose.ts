import { checkObject, checkText } from '../arguments.ts';
import { EnvelopeError } from '../errors.ts';
import { toUtf8 } from '../utf8.ts';
import { checkBytes, checkEncoding, checkLines, checkSection, checkSize, encode } from './encoding.ts';
import { LF, MARKERS, type MarkerName, markerLines, SECTIONS, type SectionName } from './markers.ts';

/** The bodies of an envelope to write: text, or bytes that must be UTF-8. A body that is null or absent gets no section. */
export interface EnvelopeParts {
  /** Strict JSON that says what the session is about. */
  readonly userdata: string | Uint8Array;
  /** What the last turn whispered to itself. */
  readonly scratchpad?: string | Uint8Array | null;
  /** What the last turn emitted. */
  readonly output?: string | Uint8Array | null;
  /** The program of this turn. */
  readonly actions: string | Uint8Array;
}

/**
 * Writes an envelope. `parseEnvelope` gives back every body unchanged: a body that holds a marker line is refused
 * (`marker_in_body`), never escaped or cut. Throws {@link EnvelopeError} for such a body, for bytes that are not UTF-8 and
 * for every size that is exceeded.
 */
export function composeEnvelope(parts: EnvelopeParts): Uint8Array {
  checkObject('the parts of an envelope', parts);
  const pieces: Uint8Array[] = [markerLine('START')];
  for (const name of SECTIONS) {
    const part = partOf(parts, name);
    if (part === null) continue;
    const body = typeof part === 'string' ? encode(part, `the ${name} section`) : part;
    checkBytes(body, `the ${name} section must be a text or a Uint8Array`);
    checkBody(name, body);
    pieces.push(markerLine(name), body, LINE_FEED);
  }
  pieces.push(toUtf8(MARKERS.END));
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  checkSize(length);
  return concat(pieces, length);
}

/**
 * Turns a stream of this turn into the body of a section of the next envelope. The final line feed is dropped, because
 * {@link composeEnvelope} writes one after every body. Null for an empty stream, which gets no section. Token lines stay.
 */
export function carryForward(stream: string): string | null {
  checkText('a stream', stream);
  if (stream === '') return null;
  return stream.endsWith('\n') ? stream.slice(0, -1) : stream;
}

const LINE_FEED = Uint8Array.of(LF);

function markerLine(name: MarkerName): Uint8Array {
  return toUtf8(`${MARKERS[name]}\n`);
}

function partOf(parts: EnvelopeParts, name: SectionName): string | Uint8Array | null {
  switch (name) {
    case 'USERDATA':
      return parts.userdata;
    case 'SCRATCHPAD':
      return parts.scratchpad ?? null;
    case 'OUTPUT':
      return parts.output ?? null;
    case 'ACTIONS':
      return parts.actions;
  }
}

function concat(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** Refuses a body that the parser would not give back unchanged. */
function checkBody(name: SectionName, body: Uint8Array): void {
  checkSection(name, body.length, 1);
  checkEncoding(body);
  const [marker] = markerLines(body, 0, body.length, 1);
  if (marker !== undefined)
    throw new EnvelopeError(
      'ERR_ENV_MARKERS_INVALID',
      'marker_in_body',
      `line ${marker.line} of the ${name} section is an envelope marker and would be read as the envelope's own`,
      marker.line,
    );
  if (name === 'OUTPUT') checkLines(body, 0, body.length, 1);
}
