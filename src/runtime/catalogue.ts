import { type Policy, PolicyGuard, type ToolDefinition, type ToolRegistry } from '../tools/index.ts';
import type { CheckEnvironment } from '../wire/protocol.ts';

/** What a check is to take for granted. */
export interface CheckOptions {
  /** Names of the globals that the program will find, besides `self`. */
  readonly globals?: readonly string[];
  /** `registered` (when absent): there are the runtime's own tools and no others. `any`: there may be others. */
  readonly tools?: 'registered' | 'any';
  /** Whether to say which calls the runtime's policy would refuse; true when absent. */
  readonly policy?: boolean;
}

/** Every turn gets this tool from its host loop, whatever the policy allows; a check cannot know what is a turn. */
const TURN_TOOL = { name: 'tool.aeiou.magic', least: 2, most: 3 };

/** What a check must know of a runtime, as plain data. `called`: canonical names of the tools that the sources call. */
export function surroundings(
  { globals = [], tools = 'registered', policy: asksPolicy = true }: CheckOptions,
  registry: ToolRegistry,
  policy: Policy | null,
  called: readonly string[],
): CheckEnvironment {
  const shapes = registry.names().flatMap((name) => {
    const tool = registry.lookup(name);
    if (tool === undefined) return [];
    const pure = tool.where === 'isolate' ? ({ pure: true } as const) : {};
    return [{ name, least: least(tool), most: tool.parameters.length, ...pure }];
  });
  const guard = new PolicyGuard(policy);
  const denied = [...new Set(called)].flatMap((name) => {
    const tool = registry.lookup(name) ?? { canonicalName: name, requiresTrust: false, capabilities: [] };
    const reason = asksPolicy ? (guard.denial(tool, name === TURN_TOOL.name)?.reason ?? null) : null;
    return reason === null ? [] : [{ name, reason }];
  });
  return { globals, tools: [...shapes, TURN_TOOL], complete: tools === 'registered', denied };
}

/** How many arguments a tool must get: all up to the last one that is required. */
function least({ parameters }: ToolDefinition): number {
  return parameters.findLastIndex(({ required }) => required) + 1;
}
