import { JsonError, type JsonValue, parseStrict } from '../../aeiou/index.ts';
import type { PolicyOptions } from '../../tools/index.ts';

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
