import { isJsonObject, JsonError, type JsonObject, type JsonValue, parseStrict } from '../../aeiou/index.ts';
import { type Marker, type Signal, scanMarkers } from './markers.ts';

/** An optional key of the control line whose value is of the wrong form: it is dropped, the control stands. */
export interface ControlLint {
  readonly code: 'LINT_CONTROL_VALUE';
  readonly key: string;
}

/** What the OUTPUT of one turn asks for. */
export interface Control {
  /** The strongest signal; null when there is none, which stops the loop (AL1-2.8-1). */
  readonly signal: Signal | null;
  /** Of the first signal of that kind; null when it gave none. */
  readonly reason: string | null;
  /** The two below are of the control line and null without one. */
  readonly notes: string | null;
  /** As the program claims it; nothing verifies it. */
  readonly planDigest: string | null;
  /** The whole control line, for the progress guard; null when the first line is none. */
  readonly json: JsonObject | null;
  readonly lints: readonly ControlLint[];
}

/** Strongest first (A1 2.7): a wish to stop is never masked by a wish to go on. */
const PRECEDENCE: readonly Signal[] = ['abort', 'halt', 'done', 'continue'];
const IN_JSON: readonly JsonValue[] = ['continue', 'done', 'abort'] satisfies Signal[];

/**
 * Reads the control of a turn from its OUTPUT (AL1-2.6-1, AL1-2.6-2): the JSON object on the first line, and all markers
 * on any line. Both are collected and the strongest signal counts (AMB-43), so it makes no difference where it stands.
 * Nothing else in OUTPUT is control: no later JSON, no JSON over several lines, no token of v3 (AMB-42).
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
  const signals = [...(json === null ? [] : [{ signal: signalOf(json), reason }]), ...scanMarkers(output)];
  return { ...strongest(signals), notes, planDigest, json, lints };
}

const PLAN_DIGEST = /^sha256:[0-9a-fA-F]+$/;

/** The first line as a control object; null when it is none. */
function controlLine(output: string): JsonObject | null {
  const end = output.indexOf('\n');
  try {
    const value = parseStrict(end < 0 ? output : output.slice(0, end), { numbers: 'doubles', padding: true });
    return isJsonObject(value) && IN_JSON.includes(value['loop'] ?? null) ? value : null;
  } catch (error) {
    // Prose, a broken object, a key twice: text like any other.
    if (error instanceof JsonError) return null;
    throw error;
  }
}

function signalOf(json: JsonObject): Signal {
  return json['loop'] === 'abort' ? 'abort' : json['loop'] === 'done' ? 'done' : 'continue';
}

function strongest(signals: readonly Marker[]): Pick<Control, 'signal' | 'reason'> {
  for (const signal of PRECEDENCE) {
    const found = signals.find((each) => each.signal === signal);
    if (found !== undefined) return { signal, reason: found.reason };
  }
  return { signal: null, reason: null };
}
