// @module-tag slow
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRuntime } from '../../src/entries/index.ts';
import { McpSource } from '../../src/mcp/index.ts';
import { tempFolder } from '../folder.ts';
import { publicServer } from './kit.ts';

describe('the public server-memory', () => {
  it('keeps what a program tells it, and gives it back', async () => {
    const folder = tempFolder();
    await using source = await McpSource.connect({
      memory: {
        command: process.execPath,
        args: [publicServer('memory')],
        env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
      },
    });
    await using runtime = await createRuntime({
      tools: source.tools,
      policy: { allow: ['tool.memory.*'], grants: ['mcp:call:memory'] },
    });
    const { emits, error } = await runtime.run(`command
  must tool.memory.create_entities({"entities": [{"name": "Ada", "entityType": "person", "observations": ["writes programs"]}]})
  set found = tool.memory.search_nodes({"query": "Ada"})
  emit found["entities"][0]["observations"][0]
endcommand`);
    expect([emits, error]).toEqual([['writes programs'], null]);
  });
});
