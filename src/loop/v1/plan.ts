import { createHash } from 'node:crypto';
import { canonicalize, JsonError, type JsonValue, parseStrict } from '../../aeiou/index.ts';
import type { PolicyOptions } from '../../tools/index.ts';
import type { Control } from './control.ts';

const PLAN = 'PLAN ';

/** The JSON of every `PLAN …` line of an OUTPUT, in order. A line without strict JSON is prose. */
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

/** Whether the previous turn planned: it requested to continue and has a `PLAN …` line with JSON. */
export function planned(previous: { readonly signal: string | null; readonly output: string } | null): boolean {
  return previous?.signal === 'continue' && plansOf(previous.output).length > 0;
}

/**
 * The Plan → Apply hook: a policy for one turn, in addition to the host's. It denies the tools that apply something unless the
 * previous turn planned. It grants only what the host's policy grants.
 */
export function planApplyPolicy(applyTools: readonly string[], mayApply: boolean): PolicyOptions {
  return { context: 'config', allow: ['*'], grants: ['*:*:*'], deny: mayApply ? [] : applyTools };
}

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
