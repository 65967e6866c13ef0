import { CSV } from './csv.ts';
import type { PureDeclarations, PureGroup } from './declaration.ts';
import { DIFF } from './diff.ts';
import { ERROR } from './error.ts';
import { JSON_TOOLS } from './json.ts';
import { LIST } from './list.ts';
import { MAP } from './map.ts';
import { MATH } from './math.ts';
import { REGEX } from './regex.ts';
import { SHAPE } from './shape.ts';
import { STR } from './str.ts';
import { TEMPLATE } from './template.ts';

const GROUPS = {
  str: STR,
  math: MATH,
  list: LIST,
  map: MAP,
  json: JSON_TOOLS,
  csv: CSV,
  regex: REGEX,
  shape: SHAPE,
  template: TEMPLATE,
  diff: DIFF,
  error: ERROR,
} as const satisfies { readonly [G in PureGroup]: PureDeclarations<G> };

/** The declared tools by group, with the type of every signature: what the implementations are checked against. */
export type Declared = typeof GROUPS;

/**
 * Every pure tool: a tool that runs inside the isolate, without a call to the host. A tool's declaration is its entry here; its
 * implementation is the entry of the same name in `src/guest/pure`. The order is that of the documentation.
 */
export const PURE_TOOLS: { readonly [G in PureGroup]: PureDeclarations<G> } = GROUPS;
