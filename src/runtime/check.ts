import {
  callForm,
  type Denial,
  MAGIC_TOOL,
  type Policy,
  PolicyGuard,
  type ToolDefinition,
  type ToolRegistry,
  type ToolView,
} from '../tools/index.ts';
import type { CallShape, CheckEnvironment, ToolShape } from '../wire/sourcereports.ts';

/** The assumptions of a check. */
export interface CheckOptions {
  /** Names of the globals that the program will find, besides `self`. */
  readonly globals?: readonly string[];
  /** `registered` (when absent): only the runtime's own tools exist. `any`: there may be others. */
  readonly tools?: 'registered' | 'any';
  /** Whether to report calls that the runtime's policy would deny; true when absent. */
  readonly policy?: boolean;
}

/** The host loop gives this tool to every turn, whatever the policy allows. A check cannot know whether the program runs in a turn. */
export const TURN_TOOL = { name: MAGIC_TOOL, least: 2, most: 3 };

/** The data of a runtime that a check needs. `called`: canonical names of the tools that the sources call. */
export function checkEnvironment(
  { globals = [], tools = 'registered', policy: withPolicy = true }: CheckOptions,
  registry: ToolRegistry,
  policy: Policy | null,
  called: readonly string[],
): CheckEnvironment {
  const shapes = toolShapes(registry, new Set(called));
  const guard = new PolicyGuard(policy);
  const denied = [...new Set(withPolicy ? called : [])].flatMap((name) => {
    const tool = registry.lookup(name) ?? { canonicalName: name, requiresTrust: false, capabilities: [] };
    const denial = guard.denial(tool, name === TURN_TOOL.name);
    return denial === null ? [] : [{ name, reason: denial.reason }];
  });
  return { globals, tools: [...shapes, TURN_TOOL], complete: tools === 'registered', denied };
}

/** The tools of a view with the numbers of arguments that they take. Those that are `called` have the form of a call, too. */
export function toolShapes(view: Pick<ToolView, 'lookup' | 'names'>, called: ReadonlySet<string>): readonly ToolShape[] {
  return view.names().flatMap((name) => {
    const tool = view.lookup(name);
    if (tool === undefined) return [];
    const pure = tool.where === 'isolate' ? ({ pure: true } as const) : {};
    const answers = !tool.standard && isBoolean(tool) ? ({ answers: true } as const) : {};
    const takes = called.has(name) ? takenBy(tool) : null;
    const form = called.has(name) ? { form: callForm(tool), names: tool.parameters.map((parameter) => parameter.name) } : {};
    return [{ ...shapeOf(tool), ...pure, ...answers, ...(takes === null ? {} : { takes }), ...form }];
  });
}

/** What the arguments of a tool have to be; null if each takes several types. */
function takenBy({ parameters, standard }: ToolDefinition): NonNullable<ToolShape['takes']> | null {
  // The schema of a host's own tool may convert.
  const takes = parameters.map(({ kind, schema }) =>
    'type' in kind ? (TAKES.get(kind.type) ?? null) : standard && schema.type === 'array' ? 'list' : null,
  );
  return takes.some((taken) => taken !== null) ? takes : null;
}

/** What a value has to be for an ArgType. The other ArgTypes convert, or take several types. */
const TAKES: ReadonlyMap<string, 'string' | 'number' | 'list' | 'map'> = new Map([
  ['string', 'string'],
  ...(['int', 'float', 'number'] as const).map((type) => [type, 'number'] as const),
  ...(['list', 'slice', 'slice_any', 'slice_string', 'slice_int', 'slice_float', 'slice_bool', 'slice_map'] as const).map(
    (type) => [type, 'list'] as const,
  ),
  ...(['map', 'map_string_string', 'map_string_int', 'map_string_any', 'map_any_any'] as const).map(
    (type) => [type, 'map'] as const,
  ),
]);

function isBoolean({ result }: ToolDefinition): boolean {
  if (result === null) return false;
  return 'type' in result ? result.type === 'bool' || result.type === 'boolean' : result.json['type'] === 'boolean';
}

/** The number of arguments of a tool: all arguments up to the last one that is required. */
export function shapeOf({ canonicalName, parameters }: ToolDefinition): CallShape {
  return { name: canonicalName, least: parameters.findLastIndex(({ required }) => required) + 1, most: parameters.length };
}

/** Why the policies of a fork would deny a call, or null. Call limits do not count, and an unknown tool is not denied. */
export function denialOf(tools: ToolView, guards: readonly PolicyGuard[], name: string): Denial | null {
  const tool = tools.lookup(name);
  if (tool === undefined) return null;
  for (const guard of guards) {
    const denial = guard.denial(tool, tools.isOwn(name));
    if (denial !== null) return denial;
  }
  return null;
}
