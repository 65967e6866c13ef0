import type { PolicyOptions } from '../../tools/index.ts';
import { plansOf } from './digest.ts';

/** Whether the turn before planned: it asked to continue and has a `PLAN …` line with JSON. */
export function planned(previous: { readonly signal: string | null; readonly output: string } | null): boolean {
  return previous?.signal === 'continue' && plansOf(previous.output).length > 0;
}

/**
 * The Plan → Apply hook (AL1-2.10-2): a policy for one turn, on top of the host's own, which denies the tools that apply
 * something unless the turn before planned. It grants whatever the host's policy grants, and nothing beyond.
 */
export function planApplyPolicy(applyTools: readonly string[], mayApply: boolean): PolicyOptions {
  return { context: 'config', allow: ['*'], grants: ['*:*:*'], deny: mayApply ? [] : applyTools };
}
