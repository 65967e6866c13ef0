import { definePure, type ToolDefinition } from '../../src/tools/index.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import { DIFF } from './diff.ts';
import { ERROR } from './error.ts';
import { JSON_TOOLS } from './json.ts';
import { LIST } from './list.ts';
import { MAP } from './map.ts';
import { MATH } from './math.ts';
import { REGEX } from './regex.ts';
import type { PureRow } from './row.ts';
import { SHAPE } from './shape.ts';
import { STR } from './str.ts';
import { TEMPLATE } from './template.ts';

const GROUPS = {
  str: STR,
  math: MATH,
  list: LIST,
  map: MAP,
  json: JSON_TOOLS,
  regex: REGEX,
  shape: SHAPE,
  template: TEMPLATE,
  diff: DIFF,
  error: ERROR,
} as const satisfies Readonly<Record<string, readonly PureRow[]>>;

/** A group of {@link pureTools}. */
export type PureGroup = keyof typeof GROUPS;

/** The groups, in the order of the documentation. */
export const PURE_GROUPS: Readonly<Record<PureGroup, readonly PureRow[]>> = GROUPS;

/**
 * The pure tools of some groups, all when none is named: they run inside the isolate, cost a few units of fuel and no call to the
 * host, and need nothing but a policy that allows them. Throws {@link ConfigError} (`ERR_CONFIG`) for an unknown group.
 */
export function pureTools(...groups: readonly PureGroup[]): readonly ToolDefinition[] {
  const unknown = groups.find((group) => !Object.hasOwn(GROUPS, group));
  if (unknown !== undefined)
    throw new ConfigError(`there is no group of pure tools '${String(unknown)}'; known are ${Object.keys(GROUPS).join(', ')}`);
  const rows = (groups.length === 0 ? Object.values(PURE_GROUPS) : groups.map((group) => PURE_GROUPS[group])).flat();
  return rows.map(({ name, gives, example, ...rest }) => definePure(name, { ...rest, example: exampleText(example, gives) }));
}

/** A call with what it gives behind it as a comment, where that is one line. */
function exampleText(example: string, gives: string): string {
  return gives.includes('\n') ? example : `${example}  # ${gives}`;
}
