import { checkEncoding, checkLines, checkSection, checkSize, encode } from './checks.ts';
import { EnvelopeError, type Lint } from './errors.ts';
import {
  BOM_BYTES,
  hasBom,
  LF,
  MARKERS,
  MAX_ENVELOPE_BYTES,
  type MarkerLine,
  type MarkerName,
  markerLines,
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

/** What {@link readEnvelope} would not give back unchanged, refused before it is written. */
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

/** From START to END of the only envelope in a reply. */
function findOnly(bytes: Uint8Array): { readonly start: number; readonly end: number; readonly line: number } {
  const ends = markerLines(bytes, 0, bytes.length, 1).filter(({ marker }) => marker === 'START' || marker === 'END');
  const first = ends.find(({ marker }) => marker === 'START');
  const last = ends.find(({ marker }) => marker === 'END');
  if (first === undefined) throw notOne(null, `no line that is exactly ${MARKERS.START}${nearMiss(bytes)}`);
  if (last === undefined) throw notOne(first.line, `no line that is exactly ${MARKERS.END}`);
  const surplus = ends[0] === first ? ends[ends.indexOf(last) + 1] : ends[0];
  if (surplus !== undefined) throw notOne(surplus.line, 'more than one, or parts of one');
  return { start: first.start, end: last.end, line: first.line };
}

/** Says so when the marker is there but something invisible keeps it from being a line of its own. */
function nearMiss(bytes: Uint8Array): string {
  const there = fromUtf8(bytes)?.includes(MARKERS.START) ?? false;
  return there ? ' (it stands there, but with a blank, a carriage return or text around it)' : '';
}

function notOne(line: number | null, found: string): EnvelopeError {
  return new EnvelopeError(
    'ERR_ENV_MARKERS_INVALID',
    'envelope_count',
    `the reply must hold exactly one envelope; it has ${found}`,
    line,
  );
}

function readEnvelope(bytes: Uint8Array, from: number, to: number, firstLine: number, tolerateBlank: boolean): ParsedEnvelope {
  const [first, ...rest] = markerLines(bytes, from, to, firstLine);
  if (first?.marker !== 'START' || first.start !== from)
    throw malformed('start', `the first line must be exactly ${MARKERS.START}`, firstLine);
  const sections = new Sections(bytes);
  let before = first;
  for (const each of rest) {
    if (before.marker === 'END') break;
    if (before === first) sections.between(first, each, tolerateBlank);
    else sections.close(before, each.start);
    if (each.marker === 'unknown')
      throw malformed('unknown_marker', 'a line has the form of a marker but is none of this version', each.line);
    if (each.marker === 'START')
      throw new EnvelopeError('ERR_ENV_SECTION_DUP', 'nested_start', 'a second START stands inside the envelope', each.line);
    before = each;
  }
  if (before.marker !== 'END') {
    if (before !== first) sections.close(before, to + 1);
    throw malformed('end', `there is no line that is exactly ${MARKERS.END}`, null);
  }
  if (before.end + 1 < to) throw malformed('trailing_text', 'nothing but one line feed may follow END', before.line + 1);
  return assemble(sections.bodies, sections.lints);
}

/** Collects the bodies of an envelope while it is read. */
class Sections {
  readonly bodies = new Map<SectionName, string>();
  readonly lints: EnvelopeLint[] = [];
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** What stands between START and the first section: nothing, or blank lines where they are tolerated. */
  between(start: MarkerLine, next: MarkerLine, tolerateBlank: boolean): void {
    if (next.start === start.end + 1) return;
    if (!tolerateBlank || !isBlank(this.#bytes, start.end + 1, next.start))
      throw malformed('stray_text', 'text stands between START and the first section', start.line + 1);
    this.lints.push({ code: 'LINT_BLANK_LINES_IGNORED', line: start.line + 1, section: 'START' });
  }

  /** The body from a section's marker to the next one, which starts at `next`. A duplicate is checked and dropped (A3-3.2-6). */
  close({ marker, end, line }: MarkerLine, next: number): void {
    if (marker === 'unknown' || marker === 'START' || marker === 'END') return;
    // The line feed before a marker separates and is not part of the body; a body may have no line at all (AMB-15).
    const from = Math.min(end + 1, this.#bytes.length);
    const to = Math.max(from, next - 1);
    checkSection(marker, to - from, line);
    if (marker === 'OUTPUT') checkLines(this.#bytes, from, to, line + 1);
    if (this.bodies.has(marker)) this.lints.push({ code: 'LINT_DUP_SECTION_IGNORED', line, section: marker });
    else this.bodies.set(marker, fromUtf8(this.#bytes.subarray(from, to)) ?? '');
  }
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

/** Space, tab, carriage return and line feed. */
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0d, LF]);

function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (!BLANKS.has(bytes[i] ?? 0)) return false;
  return true;
}
