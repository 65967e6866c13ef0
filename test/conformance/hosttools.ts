import { type ArgType, defineTool, Handle, type ToolDefinition, ToolError } from '../../src/entries/index.ts';

/** How the reference names the native type behind each ArgType, in the rows of language.md section 12. */
const NATIVE: Partial<Record<ArgType, string>> = {
  int: 'int64',
  string: 'string',
  bool: 'bool',
  slice_string: '[]string',
  slice_int: '[]int64',
  map_string_any: 'map[string]any',
  number: 'number',
  boolean: 'boolean',
  handle: 'handle',
};

/** The test tools of language.md section 12 that need the real host: argument types, defaults, handles, the caller's variables. */
export function hostTools(): ToolDefinition[] {
  const typed = Object.entries(NATIVE).map(([type, native]) =>
    defineTool({
      name: `tool.t.o_${type}`,
      args: [{ name: 'a', type: type as ArgType }],
      run: ({ a }) => `${native} ${goText(a ?? null)}`,
    }),
  );
  return [
    ...typed,
    defineTool({
      name: 'tool.t.echo',
      args: [{ name: 'a' }, { name: 'b', required: false }],
      run: ({ a, b }) =>
        [a, b]
          .filter((value) => value !== null && value !== undefined)
          .map((value) => `float64 ${value}`)
          .join(','),
    }),
    defineTool({ name: 'tool.t.twice', args: [{ name: 'n', type: 'number', default: 5 }], run: ({ n }) => 2 * Number(n) }),
    defineTool({ name: 'tool.t.open', args: [], run: () => new Handle('file', 'f-1') }),
    defineTool({
      name: 'tool.t.setvar',
      args: [{ name: 'name', type: 'string' }, { name: 'value' }],
      run: async ({ name, value }, caller) => {
        if (typeof name !== 'string') throw new ToolError(4, 'the name is no text');
        await caller.setVar(name, value);
        return null;
      },
    }),
  ];
}

/** A value as Go prints it by default, which is what the rows show. */
function goText(value: unknown): string {
  if (value instanceof Handle) return `<handle ${value.kind}>`;
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (value === null || typeof value !== 'object') return String(value ?? '');
  return `map[${Object.entries(value)
    .map(([key, item]) => `${key}:${goText(item)}`)
    .join(' ')}]`;
}
