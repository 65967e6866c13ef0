import { createHash } from 'node:crypto';
import { canonicalize } from '../../aeiou/index.ts';
import type { Control } from './control.ts';
import { plansOf } from './plan.ts';

/**
 * The digest that the progress guard compares, in lower-case hexadecimal. It covers the canonical form of the control line,
 * including notes, and of every plan, so neither the order of keys nor white space looks like progress. An OUTPUT with neither
 * is compared as a whole, without white space at the ends of its lines and without blank lines at its end.
 */
export function controlDigest(output: string, control: Pick<Control, 'json'>): string {
  const plans = plansOf(output).map((plan) => `PLAN|${canonicalize(plan, 'doubles')}`);
  const line = control.json === null ? [] : [`CONTROL|${canonicalize(control.json, 'doubles')}`];
  const said = [...line, ...plans];
  // Canonical JSON contains no line feed, so the parts cannot be confused.
  const text = said.length > 0 ? said.join('\n') : `OUTPUT|${normalized(output)}`;
  return createHash('sha256').update(text).digest('hex');
}

function normalized(output: string): string {
  const lines = output.split('\n').map((line) => line.trimEnd());
  return lines.join('\n').trimEnd();
}
