import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ArgType,
  createRuntime,
  defineTool,
  Handle,
  type PolicyOptions,
  type Runtime,
  type ToolDefinition,
  ToolError,
} from '../../src/index.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { observed } from './both.ts';
import { type Chunk, readChunks } from './chunks.ts';

/** The chunks that need the real host, through the real sandbox: argument types, policy, the calling fork's variables. */
const FOLDER = new URL('.', import.meta.url).pathname;
const chunks = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.ns'))
  .flatMap((name) => readChunks(join(FOLDER, name)))
  .filter(({ host }) => host);

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

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ policy: { context: 'config', allow: ['*'] }, tools: testTools() });
});
afterAll(() => runtime.close());

describe('conformance on the real host', () => {
  it.each(chunks)('$title', async (chunk) => {
    expect(await outcome(chunk)).toEqual(chunk.expected);
  });
});

async function outcome(chunk: Chunk): Promise<unknown> {
  const policy: { policy?: PolicyOptions } = chunk.policy === null ? {} : { policy: chunk.policy };
  const fork = runtime.interpreter().fork({ limits: chunk.limits, ...policy });
  const { emits, values, whispers, eventErrors, error, usage } = await fork.perform({
    sources: [{ name: 'test.ns', text: chunk.source }],
    globals: chunk.globals as Record<string, TaggedJson>,
    call: { name: 'main', args: [] },
  });
  const { fuel, peakMemoryBytes } = usage;
  return observed({ emits, values, whispers, prompts: [], eventErrors, error, fuel, peakMemoryBytes }, chunk.expected);
}

function testTools(): ToolDefinition[] {
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
