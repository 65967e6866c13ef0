import { EnvelopeError, type Lint } from './errors.ts';
import {
  BOM_BYTES,
  hasBom,
  LF,
  MARKERS,
  MAX_ENVELOPE_BYTES,
  MAX_LINE_BYTES,
  MAX_SECTION_BYTES,
  type MarkerName,
  markerAt,
  SECTIONS,
  type SectionName,
} from './markers.ts';
import { fromUtf8, toUtf8 } from './text.ts';

/**
 * The four bodies of an envelope, as text that stands for exactly their bytes. `scratchpad` and `output` are the prior
 * turn's and null when absent; an empty body is '' and present.
 */
export interface Envelope {
  readonly userdata: string;
  readonly scratchpad: string | null;
  readonly output: string | null;
  readonly actions: string;
}

/** An ignored duplicate section, or blank lines that a reply had where none belong. */
export interface EnvelopeLint extends Lint {
  readonly section: SectionName | 'START';
}

/** An envelope as read, with remarks on what was ignored in it. */
export interface ParsedEnvelope extends Envelope {
  readonly lints: readonly EnvelopeLint[];
}

/**
 * Reads an envelope and nothing else: an optional byte order mark, START first, at most one line feed after END. One pass
 * over the bytes. Checks in the order of protocol.md 10.1: size, UTF-8, START, line by line (a second START, unknown
 * markers, section and line sizes), END, order, missing sections. Throws {@link EnvelopeError}.
 */
export function parseEnvelope(bytes: Uint8Array): ParsedEnvelope {
  const lead = hasBom(bytes, 0) ? BOM_BYTES : 0;
  const trail = bytes.length > lead && bytes[bytes.length - 1] === LF ? 1 : 0;
  checkSize(bytes.length - lead - trail);
  checkEncoding(bytes);
  return readEnvelope(bytes, 0, bytes.length, 1, false);
}

/**
 * Finds the envelope in a model's reply: prose and code fences around it are not read (A3-14-2), blank lines after START
 * are ignored with a lint. A reply with no START…END pair, or with more than one, is refused: which of two would count
 * would be a guess (AMB-19). Of the result only `actions` is the model's to decide; the other sections are its echo of what
 * the host sent and mean nothing (AMB-27b). Throws {@link EnvelopeError}.
 */
export function extractEnvelope(reply: Uint8Array | string): ParsedEnvelope {
  if (typeof reply === 'string' && reply.length > MAX_ENVELOPE_BYTES) checkSize(reply.length);
  const bytes = typeof reply === 'string' ? encode(reply, 'the reply') : reply;
  checkSize(bytes.length);
  checkEncoding(bytes);
  const { start, end, line } = findOnly(bytes);
  return readEnvelope(bytes, start, end, line, true);
}

/**
 * Writes an envelope. Every body must come back unchanged from {@link parseEnvelope}; one that holds a marker line is
 * refused (`marker_in_body`, AMB-24), never escaped or cut. Throws {@link EnvelopeError} for that, for bytes that are not
 * UTF-8 and for every size that is exceeded.
 */
export function composeEnvelope(parts: EnvelopeParts): Uint8Array {
  const bodies: { readonly name: SectionName; readonly body: Uint8Array }[] = [];
  for (const name of SECTIONS) {
    const part = partOf(parts, name);
    if (part === null) continue;
    const body = typeof part === 'string' ? encode(part, `the ${name} section`) : part;
    checkBody(name, body);
    bodies.push({ name, body });
  }
  const pieces: Uint8Array[] = [markerLine('START')];
  for (const { name, body } of bodies) pieces.push(markerLine(name), body, LINE_FEED);
  pieces.push(toUtf8(MARKERS.END));
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  checkSize(length);
  return concat(pieces, length);
}

/** Bodies to write: text, or bytes that must be UTF-8. Null or absent: no such section. */
export interface EnvelopeParts {
  readonly userdata: string | Uint8Array;
  readonly scratchpad?: string | Uint8Array | null;
  readonly output?: string | Uint8Array | null;
  readonly actions: string | Uint8Array;
}

/**
 * A stream of this turn as the body of the next envelope's section: without its final line feed, so that both readings of
 * the grammar give the same bytes (AMB-15); null, no section, when nothing was said (A3-4-5). Token lines stay (AMB-25).
 */
export function carryForward(stream: string): string | null {
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

function encode(text: string, what: string): Uint8Array {
  if (!text.isWellFormed())
    throw new EnvelopeError('ERR_ENV_MARKERS_INVALID', 'encoding', `${what} has a lone surrogate and cannot be written as UTF-8`);
  return toUtf8(text);
}

function checkSize(bytes: number): void {
  if (bytes > MAX_ENVELOPE_BYTES)
    throw new EnvelopeError(
      'ERR_ENV_SIZE',
      'envelope_size',
      `the envelope has ${bytes} bytes; ${MAX_ENVELOPE_BYTES} are allowed`,
    );
}

function checkEncoding(bytes: Uint8Array): void {
  if (fromUtf8(bytes) === null) throw new EnvelopeError('ERR_ENV_MARKERS_INVALID', 'encoding', 'the envelope is not valid UTF-8');
}

function checkSection(name: SectionName, bytes: number, line: number): void {
  if (bytes > MAX_SECTION_BYTES)
    throw new EnvelopeError(
      'ERR_ENV_SIZE',
      'section_size',
      `the ${name} section has ${bytes} bytes; ${MAX_SECTION_BYTES} are allowed`,
      line,
    );
}

function checkLine(bytes: number, line: number): void {
  if (bytes > MAX_LINE_BYTES)
    throw new EnvelopeError(
      'ERR_ENV_SIZE',
      'line_size',
      `a line of OUTPUT has ${bytes} bytes; ${MAX_LINE_BYTES} are allowed`,
      line,
    );
}

/** What {@link readEnvelope} would not give back unchanged, refused before it is written. */
function checkBody(name: SectionName, body: Uint8Array): void {
  checkSection(name, body.length, 1);
  checkEncoding(body);
  for (const { start, end, number } of linesOf(body, 0, body.length)) {
    if (markerAt(body, start, end) !== null)
      throw new EnvelopeError(
        'ERR_ENV_MARKERS_INVALID',
        'marker_in_body',
        `line ${number} of the ${name} section is an envelope marker and would be read as the envelope's own`,
        number,
      );
    if (name === 'OUTPUT') checkLine(end - start, number);
  }
}

interface Line {
  readonly start: number;
  /** Offset of the line feed, or of the end. */
  readonly end: number;
  /** 1-based. */
  readonly number: number;
}

/** Lines end at line feeds and at nothing else (A3-3.4-2). A final line feed is followed by one more, empty line. */
function* linesOf(bytes: Uint8Array, from: number, to: number, firstNumber = 1): Generator<Line, void, undefined> {
  let start = from;
  let number = firstNumber;
  for (;;) {
    const found = bytes.indexOf(LF, start);
    const end = found === -1 || found >= to ? to : found;
    yield { start, end, number };
    if (end === to) return;
    start = end + 1;
    number += 1;
  }
}

function findOnly(bytes: Uint8Array): { readonly start: number; readonly end: number; readonly line: number } {
  let first: Line | null = null;
  let last: Line | null = null;
  for (const line of linesOf(bytes, 0, bytes.length)) {
    const marker = markerAt(bytes, line.start, line.end);
    if (marker !== 'START' && marker !== 'END') continue;
    if (last !== null || (marker === 'END' && first === null))
      throw notOne(line.number, 'more than one envelope, or parts of one');
    if (marker === 'END') last = line;
    else first ??= line;
  }
  if (first === null) throw notOne(null, `no line that is exactly ${MARKERS.START}`);
  if (last === null) throw notOne(null, `no line that is exactly ${MARKERS.END}`);
  return { start: first.start, end: last.end, line: first.number };
}

function notOne(line: number | null, found: string): EnvelopeError {
  return new EnvelopeError(
    'ERR_ENV_MARKERS_INVALID',
    'envelope_count',
    `the reply must hold exactly one envelope; it has ${found}`,
    line,
  );
}

/** A section while its end has not been seen. */
interface OpenSection {
  readonly name: SectionName;
  readonly bodyStart: number;
  readonly line: number;
  /** False for a duplicate, which is checked and dropped (A3-3.2-6). */
  readonly counts: boolean;
}

function readEnvelope(bytes: Uint8Array, from: number, to: number, firstLine: number, tolerateBlank: boolean): ParsedEnvelope {
  const bodies = new Map<SectionName, string>();
  const lints: EnvelopeLint[] = [];
  let open: OpenSection | null = null;
  let blank: number | null = null;
  let started = false;
  let ended = false;

  for (const { start, end, number } of linesOf(bytes, from, to, firstLine)) {
    const marker = markerAt(bytes, start, end);
    if (!started) {
      if (marker !== 'START') throw malformed('start', `the first line must be exactly ${MARKERS.START}`, number);
      started = true;
    } else if (ended) {
      if (start < to || end < to) throw malformed('trailing_text', 'nothing but one line feed may follow END', number);
    } else if (marker === null) {
      if (open === null) {
        if (!tolerateBlank || !isBlank(bytes, start, end))
          throw malformed('stray_text', 'text stands between START and the first section', number);
        blank ??= number;
      } else if (open.name === 'OUTPUT') checkLine(end - start, number);
    } else if (marker === 'unknown') {
      throw malformed('unknown_marker', 'a line has the form of a marker but is none of this version', number);
    } else if (marker === 'START') {
      throw new EnvelopeError('ERR_ENV_SECTION_DUP', 'nested_start', 'a second START stands inside the envelope', number);
    } else {
      if (open !== null) close(open, start);
      if (marker === 'END') ended = true;
      else open = { name: marker, bodyStart: Math.min(end + 1, to), line: number, counts: !bodies.has(marker) };
    }
  }

  function close(section: OpenSection, markerStart: number): void {
    // The line feed before a marker separates and is not part of the body; a body may have no line at all (AMB-15).
    const bodyEnd = Math.max(section.bodyStart, markerStart - 1);
    checkSection(section.name, bodyEnd - section.bodyStart, section.line);
    if (section.counts) bodies.set(section.name, fromUtf8(bytes.subarray(section.bodyStart, bodyEnd)) ?? '');
    else lints.push({ code: 'LINT_DUP_SECTION_IGNORED', line: section.line, section: section.name });
  }

  if (!started) throw malformed('start', `the first line must be exactly ${MARKERS.START}`, firstLine);
  if (!ended) throw malformed('end', `there is no line that is exactly ${MARKERS.END}`, null);
  if (blank !== null) lints.unshift({ code: 'LINT_BLANK_LINES_IGNORED', line: blank, section: 'START' });
  return assemble(bodies, lints);
}

/** Order is judged on first occurrences, which a map keeps in the order they came (AMB-04); then what is missing. */
function assemble(bodies: ReadonlyMap<SectionName, string>, lints: readonly EnvelopeLint[]): ParsedEnvelope {
  const found = [...bodies.keys()];
  const wanted = SECTIONS.filter((name) => bodies.has(name));
  if (found.some((name, i) => name !== wanted[i]))
    throw new EnvelopeError(
      'ERR_ENV_ORDER',
      'order',
      `the sections must stand as ${wanted.join(', ')}; they stand as ${found.join(', ')}`,
    );
  const userdata = bodies.get('USERDATA');
  const actions = bodies.get('ACTIONS');
  if (userdata === undefined) throw missing('USERDATA');
  if (actions === undefined) throw missing('ACTIONS');
  return { userdata, scratchpad: bodies.get('SCRATCHPAD') ?? null, output: bodies.get('OUTPUT') ?? null, actions, lints };
}

function missing(name: SectionName): EnvelopeError {
  return new EnvelopeError('ERR_ENV_SECTION_MISSING', 'missing', `the envelope has no ${name} section`);
}

function malformed(
  detail: 'start' | 'end' | 'unknown_marker' | 'stray_text' | 'trailing_text',
  message: string,
  line: number | null,
): EnvelopeError {
  return new EnvelopeError('ERR_ENV_MARKERS_INVALID', detail, message, line);
}

function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[i] !== 0x20 && bytes[i] !== 0x09 && bytes[i] !== 0x0d) return false;
  return true;
}
