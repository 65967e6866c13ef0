import { NS_CODES } from '../../wire/codes.ts';
import { cancelledError, languageError } from '../../wire/errorinfo.ts';
import type { ToolDefinition } from '../define/definition.ts';
import { Halt, ToolError } from '../errors.ts';
import { canonicalName, toolAdvice } from '../names.ts';
import type { CallingRun, ToolCall } from './context.ts';

/**
 * The tool of a call, if the call may be made. Throws {@link ToolError} 3 for an unknown tool and 1003 for a call that a policy
 * denies, {@link Halt} for a denial under `onPolicyBreach: 'halt'` and for a turn that has ended.
 */
export function authorize({ context, quotas }: CallingRun, { name, site }: ToolCall): ToolDefinition {
  const { tools, guards, turn } = context;
  if (turn.aborted) throw new Halt(cancelledError('the turn has ended'));
  const tool = tools.lookup(name);
  if (tool === undefined) {
    const hint = toolAdvice(name, tools.names(), (only) => tools.lookup(only)?.description ?? '');
    throw new ToolError(NS_CODES.ToolNotFound, `tool '${canonicalName(name)}' not found`, hint);
  }
  for (const guard of guards) {
    const denial = guard.admit(tool, tools.isOwn(name));
    if (denial === null) continue;
    if (guard.policy?.onPolicyBreach === 'halt') quotas.end(languageError(NS_CODES.Policy, denial.reason, site));
    throw new ToolError(NS_CODES.Policy, denial.reason);
  }
  return tool;
}
