/** Tools for grammars: every kind of argument, names that begin alike, and what a policy denies. */
import { z } from 'zod';
import { defineTool, type ToolDefinition } from '../../../src/tools/index.ts';

const tool = (name: string, args: Parameters<typeof defineTool>[0]['args']): ToolDefinition =>
  defineTool({ name, args, effects: 'none', run: () => null });

export const ALLOWED: readonly ToolDefinition[] = [
  tool('tool.shop.Price', [{ name: 'item', type: 'string' }]),
  tool('tool.shop.PriceOf', [
    { name: 'item', type: 'string' },
    { name: 'count', type: 'int', default: 1 },
    { name: 'exact', type: 'bool', required: false },
  ]),
  tool('tool.shop.List', []),
  tool('tool.shop.deep.Scale', [{ name: 'by', type: 'number' }, { name: 'of' }]),
  tool('tool.text.Join', [
    { name: 'parts', type: 'slice_string' },
    { name: 'options', type: 'map', required: false },
  ]),
  tool('tool.text.Sum', [{ name: 'numbers', type: 'slice_float', required: false }]),
  tool(
    'tool.sort.By',
    z.object({ order: z.enum(['up', "it's"]), limit: z.number().optional(), deep: z.array(z.array(z.boolean())).optional() }),
  ),
];

export const DENIED: readonly ToolDefinition[] = [
  tool('tool.shop.Buy', [{ name: 'item', type: 'string' }]),
  tool('tool.fs.Delete', [{ name: 'path', type: 'string' }]),
];

export const POLICY = { allow: ['tool.shop.*', 'tool.text.*', 'tool.sort.*'], deny: ['tool.shop.Buy'] };
