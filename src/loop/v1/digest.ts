import { createHash } from 'node:crypto';
import { canonicalize, JsonError, type JsonValue, parseStrict } from '../../aeiou/index.ts';
import type { Control } from './control.ts';

const PLAN = 'PLAN ';

/** The JSON of every `PLAN …` line of an OUTPUT, in order; a line whose rest is no strict JSON is prose. */
export function plansOf(output: string): readonly JsonValue[] {
  return output.split('\n').flatMap((line) => {
    if (!line.startsWith(PLAN)) return [];
    try {
      return [parseStrict(line.slice(PLAN.length), { numbers: 'doubles', padding: true })];
    } catch (error) {
      if (error instanceof JsonError) return [];
      throw error;
    }
  });
}

/**
 * The digest that the progress guard compares (AL1-2.9-1, AMB-45): over the canonical form of the control line, notes
 * included, and of each plan, so that neither the order of keys nor white space makes it look like progress. An OUTPUT
 * with neither is compared as a whole, blanks at the ends of its lines left out. Lower-case hexadecimal.
 */
export function controlDigest(output: string, control: Pick<Control, 'json'>): string {
  const plans = plansOf(output).map((plan) => `PLAN|${canonicalize(plan, 'doubles')}`);
  const line = control.json === null ? [] : [`CONTROL|${canonicalize(control.json, 'doubles')}`];
  const said = [...line, ...plans];
  // Canonical JSON has no line feed, so the parts cannot run into each other.
  const text = said.length > 0 ? said.join('\n') : `OUTPUT|${normalized(output)}`;
  return createHash('sha256').update(text).digest('hex');
}

function normalized(output: string): string {
  const lines = output.split('\n').map((line) => line.trimEnd());
  return lines.join('\n').trimEnd();
}
