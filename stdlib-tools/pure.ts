import { definePure, type ToolDefinition } from '../src/tools/index.ts';
import { ConfigError } from '../src/wire/errors.ts';
import type { PureGroup } from '../src/wire/pure/declaration.ts';
import { PURE_TOOLS } from '../src/wire/pure/tools.ts';

export type { PureGroup };

/**
 * The pure tools of the given groups, or of all groups if none is given. They run inside the isolate and cost a few units of
 * fuel instead of a call to the host. They need nothing but a policy that allows them. Throws {@link ConfigError} (`ERR_CONFIG`)
 * for an unknown group.
 */
export function pureTools(...groups: readonly PureGroup[]): readonly ToolDefinition[] {
  const unknown = groups.find((group) => !Object.hasOwn(PURE_TOOLS, group));
  if (unknown !== undefined)
    throw new ConfigError(
      `there is no group of pure tools '${String(unknown)}'; known are ${Object.keys(PURE_TOOLS).join(', ')}`,
    );
  const chosen = groups.length === 0 ? Object.values(PURE_TOOLS) : groups.map((group) => PURE_TOOLS[group]);
  return chosen.flatMap((group) => Object.entries(group).map(([name, declaration]) => definePure(name, declaration)));
}
