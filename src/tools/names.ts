import { canonicalName, groupAdvice, MAGIC_TOOL, nearestTool, Suggestions, toolParts } from '../../grammar/vocabulary/names.ts';
import { ConfigError } from '../wire/errors.ts';

export { canonicalName, MAGIC_TOOL, nearestTool, Suggestions, toolParts };

const FULL_NAME = /^tool(?:\.[A-Za-z_][A-Za-z0-9_]*)+$/;

/** Throws {@link ConfigError} unless a script can write the name: `tool.Name` or `tool.group.Name`, where the group may have dots. */
export function checkToolName(name: unknown): string {
  if (typeof name === 'string' && FULL_NAME.test(name)) return name;
  throw new ConfigError(`a tool's name has the form tool.group.Name or tool.Name, got '${String(name).slice(0, 100)}'`);
}

/**
 * The hint for an unknown tool: the tool that may be meant, else the tools of the group, if there is such a group. `wordsOf` describes
 * a tool that is alone in its group.
 */
export function toolAdvice(
  name: string,
  candidates: readonly string[],
  wordsOf: (name: string) => string = () => '',
): string | undefined {
  const meant = nearestTool(name, candidates);
  if (meant !== undefined) return `did you mean ${meant}?`;
  const [group] = toolParts(canonicalName(name));
  const siblings = candidates.filter((candidate) => toolParts(candidate)[0] === group);
  if (siblings.length === 0) return undefined;
  const [only = ''] = siblings;
  const words = siblings.length === 1 ? wordsOf(only) : '';
  if (words !== '') return `${group} has only ${toolParts(only)[1]}: ${words}`;
  return groupAdvice(name, candidates);
}
