import { nearestTool } from '../names.ts';
import { matchesPattern } from './capability.ts';
import { argumentIn, type CalledTool, sinkTool, takesMap } from './decide.ts';
import type { Policy } from './policy.ts';

/**
 * What a policy names that the tools of a host do not have: an argument, or a tool that is probably misspelt. Such a rule would seem to
 * forbid something. Null when there is nothing of the kind. A host need not have every tool of a policy.
 */
export function misnamed(
  { when, order, flow }: Policy,
  lookup: (name: string) => CalledTool | undefined,
  names: readonly string[],
): string | null {
  for (const [pattern, rows] of Object.entries(when)) {
    const tools = names.flatMap((name) => (matchesPattern(pattern, name) ? (lookup(name) ?? []) : []));
    const problem = tools.length === 0 ? misspelt(pattern, names) : null;
    if (problem !== null) return `when.${pattern}: ${problem}`;
    for (const [index, row] of rows.entries())
      for (const argument of Object.keys(row))
        for (const tool of tools)
          if (!hasArgument(tool, argument)) return `when.${pattern}[${index}].${argument}: ${argumentsOf(tool)}`;
  }
  for (const [index, rule] of order.entries())
    for (const key of ['tool', 'needs', 'not-after'] as const) {
      const problem = misspelt(rule[key] ?? '*', names);
      if (problem !== null) return `order[${index}].${key}: ${problem}`;
    }
  for (const { entry, sink } of flow?.sinks ?? []) {
    if (names.some((name) => matchesPattern(sink, name))) continue;
    const tool = sinkTool(sink, (name) => lookup(name) !== undefined);
    const argument = tool === null ? null : argumentIn(sink, tool);
    const known = tool === null ? undefined : lookup(tool);
    const problem =
      known === undefined || argument === null ? misspelt(sink, names) : hasArgument(known, argument) ? null : argumentsOf(known);
    if (problem !== null) return `flow.sinks.${entry}: ${problem}`;
  }
  return null;
}

function hasArgument(tool: CalledTool, argument: string): boolean {
  return takesMap(tool) || tool.parameters.some(({ name }) => name.toLowerCase() === argument.toLowerCase());
}

function argumentsOf({ canonicalName, parameters }: CalledTool): string {
  return `${canonicalName} has ${parameters.length === 0 ? 'no arguments' : `the arguments ${parameters.map(({ name }) => name).join(', ')}`}`;
}

function misspelt(pattern: string, names: readonly string[]): string | null {
  if (pattern.includes('*') || names.includes(pattern.toLowerCase())) return null;
  const meant = nearestTool(pattern, names);
  return meant === undefined ? null : `there is no tool of this name; did you mean ${meant}?`;
}
