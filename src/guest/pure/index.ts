import type { PureTool } from '../puretool.ts';
import { CSV } from './csv.ts';
import { toolsOf } from './define.ts';
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

/** Every pure tool by its canonical name. This module becomes a script of its own; see `kit.ts`. */
export const tools: ReadonlyMap<string, PureTool> = toolsOf({
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
});
