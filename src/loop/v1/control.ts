import { isJsonObject, JsonError, type JsonObject, type JsonValue, parseStrict } from '../../aeiou/index.ts';
import { type Marker, type Signal, scanMarkers } from './markers.ts';

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
