import { matchesPattern } from './capability.ts';
import { sinkAt } from './decide.ts';
import { META_LABELS } from './flow.ts';
import { isFrom, type LabelledTool } from './origin.ts';
import type { Policy } from './policy.ts';

/** What a rule about origin says of the arguments of one tool. */
export interface ToolSink {
  /** The entry of the policy, as the policy writes it. */
  readonly entry: string;
  /** Name of the argument; null for all of them. */
  readonly argument: string | null;
  /** Labels for which a call is refused, and those for which a person is asked. */
  readonly refuse: readonly string[];
  readonly ask: readonly string[];
  /** Whether the labels of what decides that the call is made count too. */
  readonly deciding: boolean;
}

/** What the rules of a policy about origin say of one tool. */
export interface ToolOrigin {
  /** Labels that its results have. */
  readonly gives: readonly string[];
  /** Whether the MCP server of the tool says which of them a result has; a result of which it says nothing has all. */
  readonly byServer: boolean;
  /** Labels that its results do not carry on. */
  readonly endorses: readonly string[];
  readonly sinks: readonly ToolSink[];
}

/** Null without rules about origin. `isTool` says which names a policy can name, as for a call. */
export function toolOrigin(
  { flow }: Pick<Policy, 'flow'>,
  tool: LabelledTool,
  isTool: (canonicalName: string) => boolean,
): ToolOrigin | null {
  if (flow === null) return null;
  const { canonicalName: name } = tool;
  const sources = flow.sources.filter((source) => isFrom(source, tool));
  const given = sources.flatMap(({ labels }) => (labels === 'meta' ? META_LABELS : labels));
  const endorsed = flow.endorse.filter(({ pattern }) => matchesPattern(pattern, name));
  return {
    gives: [...new Set(given)].sort(),
    byServer: sources.some(({ labels }) => labels === 'meta'),
    endorses: [...new Set(endorsed.flatMap(({ labels }) => labels))].sort(),
    sinks: flow.sinks.flatMap(({ entry, sink, refuse, ask, deciding }) => {
      const argument = sinkAt(sink, name, isTool);
      return argument === false ? [] : [{ entry, argument, refuse, ask, deciding }];
    }),
  };
}
