import { isJsonObject, JsonError, type JsonObject, type JsonValue, parseStrict } from '../../aeiou/index.ts';

/** An optional key of the control line has an invalid value. The key is ignored; the control remains valid. */
export interface ControlLint {
  readonly code: 'LINT_CONTROL_VALUE';
  /** The key with the invalid value. */
  readonly key: string;
}

/** What the OUTPUT of one turn requests. */
export interface Control {
  /** The strongest signal; null when there is none, which stops the loop. */
  readonly signal: Signal | null;
  /** Reason of the first such signal; null when it has none. */
  readonly reason: string | null;
  /** From the control line; null without one, as is `planDigest`. */
  readonly notes: string | null;
  /** The program's claim, which is not verified. */
  readonly planDigest: string | null;
  /** The whole control line, for the progress guard; null without one. */
  readonly json: JsonObject | null;
  /** The keys of the control line that were ignored. */
  readonly lints: readonly ControlLint[];
}

/** Strongest first, so that a request to continue never hides a request to stop. */
const PRECEDENCE: readonly Signal[] = ['abort', 'halt', 'done', 'continue'];
const IN_JSON: readonly JsonValue[] = ['continue', 'done', 'abort'] satisfies Signal[];

/**
 * Reads the control of a turn from its OUTPUT: the JSON object on the first line, and the markers on all lines. The strongest
 * signal counts, wherever it is. Nothing else in OUTPUT is control: no later JSON, no JSON over several lines, no token of
 * v3.
 */
export function parseControl(output: string): Control {
  const json = controlLine(output);
  const lints: ControlLint[] = [];
  const text = (key: string, fits = (_: string): boolean => true): string | null => {
    const value = json?.[key];
    if (value === undefined) return null;
    if (typeof value === 'string' && fits(value)) return value;
    lints.push({ code: 'LINT_CONTROL_VALUE', key });
    return null;
  };
  const notes = text('notes');
  const planDigest = text('plan_digest', (value) => PLAN_DIGEST.test(value));
  const reason = text('reason');
  const said = json?.['loop'];
  const signal: Signal = said === 'abort' || said === 'done' ? said : 'continue';
  const signals = [...(json === null ? [] : [{ signal, reason }]), ...scanMarkers(output)];
  return { ...strongest(signals), notes, planDigest, json, lints };
}

const PLAN_DIGEST = /^sha256:[0-9a-fA-F]+$/;

/** The first line as a control object; null when it is not one. */
function controlLine(output: string): JsonObject | null {
  const end = output.indexOf('\n');
  try {
    const value = parseStrict(end < 0 ? output : output.slice(0, end), { numbers: 'doubles', padding: true });
    return isJsonObject(value) && IN_JSON.includes(value['loop'] ?? null) ? value : null;
  } catch (error) {
    // Prose, malformed JSON or a duplicate key: ordinary text.
    if (error instanceof JsonError) return null;
    throw error;
  }
}

function strongest(signals: readonly Marker[]): Pick<Control, 'signal' | 'reason'> {
  for (const signal of PRECEDENCE) {
    const found = signals.find((each) => each.signal === signal);
    if (found !== undefined) return { signal, reason: found.reason };
  }
  return { signal: null, reason: null };
}

/** What a program of the v1 profile requests. `halt` is the host's word; it also stops the loop if a program emits it. */
export type Signal = 'continue' | 'done' | 'abort' | 'halt';

/** One loop marker in a text. */
export interface Marker {
  /** What the marker requests. */
  readonly signal: Signal;
  /** The reason of `abort` or `halt`; null when an `abort` has none. */
  readonly reason: string | null;
}

const OPEN = '[[loop:';
const MAX_REASON = 256;

/**
 * All loop markers in a text, in order: `[[loop:continue]]`, `[[loop:done]]`, `[[loop:abort]]`,
 * `[[loop:abort:reason=…]]`, `[[loop:halt:reason=…]]`, case-sensitive and anywhere in a line. A marker that is not closed, has
 * another word, or has too long a reason is ordinary text. The search after each opening is bounded, so the time is linear in
 * the length of the text.
 */
export function scanMarkers(text: string): readonly Marker[] {
  const found: Marker[] = [];
  for (let at = text.indexOf(OPEN); at >= 0; at = text.indexOf(OPEN, at + OPEN.length)) {
    const marker = markerAt(text, at + OPEN.length);
    if (marker !== null) found.push(marker);
  }
  return found;
}

const BARE: readonly Signal[] = ['continue', 'done', 'abort'];
const REASONED: readonly Signal[] = ['abort', 'halt'];

function markerAt(text: string, at: number): Marker | null {
  for (const signal of BARE) if (text.startsWith(`${signal}]]`, at)) return { signal, reason: null };
  for (const signal of REASONED) {
    const head = `${signal}:reason=`;
    if (!text.startsWith(head, at)) continue;
    const reason = reasonAt(text, at + head.length);
    if (reason !== null) return { signal, reason };
  }
  return null;
}

/** The reason before `]]`; null when it is too long. A reason contains no `]` and no line feed. */
function reasonAt(text: string, at: number): string | null {
  // A character has at most two code units. One more unit shows the end of the longest reason.
  const stretch = text.slice(at, at + 2 * MAX_REASON + 1);
  const end = stretch.search(/[\]\n]/);
  if (end < 0 || !text.startsWith(']]', at + end)) return null;
  const reason = stretch.slice(0, end);
  return [...reason].length <= MAX_REASON ? reason : null;
}
