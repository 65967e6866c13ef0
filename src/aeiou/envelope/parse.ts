import { EnvelopeError, type Lint } from '../errors.ts';
import { fromUtf8 } from '../utf8.ts';
import { checkBytes, checkEncoding, checkLines, checkSection, checkSize, encode, MAX_ENVELOPE_BYTES } from './encoding.ts';
import { BOM_BYTES, hasBom, LF, MARKERS, type MarkerLine, markerLines, SECTIONS, type SectionName } from './markers.ts';

/**
 * The four bodies of an envelope; each text stands for exactly the bytes of its body. `scratchpad` and `output` come from
 * the prior turn and are null when the envelope has no such section. An empty body is ''.
 */
export interface Envelope {
  /** Strict JSON that says what the session is about. {@link validateUserdata} checks it. */
  readonly userdata: string;
  /** What the prior turn whispered to itself. */
  readonly scratchpad: string | null;
  /** What the prior turn emitted. */
  readonly output: string | null;
  /** The program of this turn. */
  readonly actions: string;
}

/** The reader ignored a duplicate section, or blank lines between START and the first section of a reply. */
export interface EnvelopeLint extends Lint {
  /** The section that was ignored, or after which blank lines were. */
  readonly section: SectionName | 'START';
}

/** An envelope as read, with remarks on the parts that the reader ignored. */
export interface ParsedEnvelope extends Envelope {
  /** In the order of the lines; empty when the reader ignored nothing. */
  readonly lints: readonly EnvelopeLint[];
}

/**
 * Reads bytes that are one envelope and nothing else. Only a byte order mark may precede START, and at most one line feed
 * may follow END. The checks run in this order: size, UTF-8, START, line by line (a second START, unknown markers, section
 * and line sizes), END, order, missing sections. Throws {@link EnvelopeError}.
 */
export function parseEnvelope(bytes: Uint8Array): ParsedEnvelope {
  checkBytes(bytes);
  const lead = hasBom(bytes, 0) ? BOM_BYTES : 0;
  const trail = bytes.length > lead && bytes[bytes.length - 1] === LF ? 1 : 0;
  checkSize(bytes.length - lead - trail);
  checkEncoding(bytes);
  return readEnvelope(bytes, 0, bytes.length, 1, false);
}

/** The envelope that a text is; null when it cannot be read. */
export function envelopeOf(text: string): ParsedEnvelope | null {
  try {
    return parseEnvelope(new TextEncoder().encode(text));
  } catch (error) {
    if (error instanceof EnvelopeError) return null;
    throw error;
  }
}

/**
 * Finds the envelope in a model's reply. Prose and code fences around the envelope are not read; blank lines after START
 * are ignored with a lint. A reply must have exactly one START…END pair: choosing between two would be a guess. Hosts use
 * only `actions` of the result, because the other sections merely repeat what the host sent. Throws {@link EnvelopeError}.
 */
export function extractEnvelope(reply: Uint8Array | string): ParsedEnvelope {
  if (typeof reply === 'string' && reply.length > MAX_ENVELOPE_BYTES) checkSize(reply.length);
  const bytes = typeof reply === 'string' ? encode(reply, 'the reply') : reply;
  checkBytes(bytes);
  checkSize(bytes.length);
  checkEncoding(bytes);
  const { start, end, line } = findOnly(bytes);
  return readEnvelope(bytes, start, end, line, true);
}

/** Where the only envelope of a reply starts and ends, and the line of its START. */
function findOnly(bytes: Uint8Array): { readonly start: number; readonly end: number; readonly line: number } {
  const ends = markerLines(bytes, 0, bytes.length, 1).filter(({ marker }) => marker === 'START' || marker === 'END');
  const first = ends.find(({ marker }) => marker === 'START');
  const last = ends.find(({ marker }) => marker === 'END');
  if (first === undefined)
    throw notOne(null, `no line that is exactly ${MARKERS.START}${nearMiss(bytes) || otherVersion(bytes)}`);
  if (last === undefined) throw notOne(first.line, `no line that is exactly ${MARKERS.END}`);
  const surplus = ends[0] === first ? ends[ends.indexOf(last) + 1] : ends[0];
  if (surplus !== undefined) throw notOne(surplus.line, 'more than one, or parts of one');
  return { start: first.start, end: last.end, line: first.line };
}

/** A hint for a START marker that does not stand alone on its line, which is often hard to see. */
function nearMiss(bytes: Uint8Array): string {
  const there = fromUtf8(bytes)?.includes(MARKERS.START) ?? false;
  return there ? ' (the marker is there, but with a blank, a carriage return or text around it)' : '';
}

/** What to say of markers of another version; empty when there are none. */
function otherVersion(bytes: Uint8Array): string {
  const version = /^<<<NSENV:V(\d{1,9}):[A-Z]{1,20}>>>$/m.exec(fromUtf8(bytes) ?? '')?.[1];
  return version === undefined || version === '3' ? '' : `: version ${version} is not supported; this runtime reads v3`;
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
    throw malformed('start', `the first line must be exactly ${MARKERS.START}${otherVersion(bytes)}`, firstLine);
  const sections = new Sections(bytes);
  let section: SectionStart | null = null;
  for (const next of rest) {
    if (section === null) sections.between(first, next, tolerateBlank);
    else sections.close(section, next.start);
    const { marker, start, end, line } = next;
    if (marker === 'unknown')
      throw malformed(
        'unknown_marker',
        `a line has the form of a marker but is not a marker of this version${otherVersion(bytes.subarray(start, end))}`,
        line,
      );
    if (marker === 'START')
      throw new EnvelopeError('ERR_ENV_SECTION_DUP', 'nested_start', 'a second START stands inside the envelope', line);
    if (marker === 'END') {
      if (end + 1 < to) throw malformed('trailing_text', 'nothing but one line feed may follow END', line + 1);
      return assemble(sections.bodies, sections.lints);
    }
    section = { name: marker, end, line };
  }
  if (section !== null) sections.close(section, to + 1);
  throw malformed('end', `there is no line that is exactly ${MARKERS.END}`, null);
}

/** The marker of a section: its name, the offset where its line ends, and the number of that line. */
interface SectionStart {
  readonly name: SectionName;
  readonly end: number;
  readonly line: number;
}

/** Collects the bodies of an envelope while it is read. */
class Sections {
  readonly bodies = new Map<SectionName, string>();
  readonly lints: EnvelopeLint[] = [];
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Checks the bytes between START and the first section: none, or blank lines where they are tolerated. */
  between(start: MarkerLine, next: MarkerLine, tolerateBlank: boolean): void {
    if (next.start === start.end + 1) return;
    if (!tolerateBlank || !isBlank(this.#bytes, start.end + 1, next.start))
      throw malformed('stray_text', 'text stands between START and the first section', start.line + 1);
    this.lints.push({ code: 'LINT_BLANK_LINES_IGNORED', line: start.line + 1, section: 'START' });
  }

  /** Takes the body between a section's marker and the next marker, which starts at `next`. A duplicate is checked and dropped. */
  close({ name, end, line }: SectionStart, next: number): void {
    // The line feed before a marker is not part of the body; a body may have no line at all.
    const from = Math.min(end + 1, this.#bytes.length);
    const to = Math.max(from, next - 1);
    checkSection(name, to - from, line);
    if (name === 'OUTPUT') checkLines(this.#bytes, from, to, line + 1);
    if (this.bodies.has(name)) this.lints.push({ code: 'LINT_DUP_SECTION_IGNORED', line, section: name });
    else this.bodies.set(name, fromUtf8(this.#bytes.subarray(from, to)) ?? '');
  }
}

/** Checks the order of the sections, by their first occurrences in the map's insertion order, and then their presence. */
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

/**
 * A section body without the Markdown fence that surrounds it: models often put one around a program. Null when the body is not fenced as
 * a whole. Blank lines around the fence go with it; every line within keeps its bytes.
 */
export function withoutFence(body: string): string | null {
  const lines = body.split('\n');
  const first = lines.findIndex((line) => line.trim() !== '');
  const last = lines.findLastIndex((line) => line.trim() !== '');
  if (last <= first) return null;
  const opening = (lines[first] ?? '').trim();
  const closing = (lines[last] ?? '').trim();
  const mark = opening.charAt(0);
  if (mark !== '`' && mark !== '~') return null;
  const length = leading(opening, mark);
  // What follows the opening fence names a language. The closing fence has at least as many characters, and nothing else.
  if (length < 3 || opening.includes(mark, length)) return null;
  if (closing.length < length || leading(closing, mark) < closing.length) return null;
  return lines.slice(first + 1, last).join('\n');
}

/** How many characters at the start of the text are `mark`. */
function leading(text: string, mark: string): number {
  const other = [...text].findIndex((character) => character !== mark);
  return other < 0 ? text.length : other;
}
