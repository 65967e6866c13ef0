// @module-tag slow
import { describe, expect, it } from 'vitest';
import { SILENT_LOGGER } from '../../src/context/index.ts';
import { createRuntime } from '../../src/entries/index.ts';
import { type McpProgress, McpSource } from '../../src/mcp/index.ts';
import { toolPrompt } from '../../src/tools/index.ts';
import { publicServer } from './kit.ts';

/** Runs expressions with the tools of server-everything, which speaks 2025-11-25; the user types these lines. */
async function run(expressions: readonly string[], lines: readonly string[] = []) {
  const progress: McpProgress[] = [];
  const server = { command: process.execPath, args: [publicServer('everything')], elicit: true };
  await using source = await McpSource.connect({ every: server }, { onProgress: (report) => progress.push(report) });
  await using runtime = await createRuntime({ tools: source.tools, policy: { allow: ['*'], grants: ['mcp:*:every'] } });
  const asked: string[] = [];
  const stdout = { write: (text: string) => asked.push(text) };
  const host = { logger: SILENT_LOGGER, stdin: lines.map((line) => `${line}\n`), stdout };
  const program = ['command', ...expressions.map((each) => `  emit ${each}`), 'endcommand'].join('\n');
  const { emits, error } = await runtime.run(program, { host });
  return { emits, error, asked: asked.join(''), progress, prompt: toolPrompt(source.tools).text };
}

describe('the public server-everything', () => {
  it('says what its tools take, and answers in text and in structures', async () => {
    const { emits, error, prompt } = await run([
      'tool.every.get_sum({"a": 2, "b": 3})',
      'tool.every.get_structured_content({"location": "Chicago"})["conditions"]',
    ]);
    expect([emits[0], error]).toEqual(['The sum of 2 and 3 is 5.', null]);
    expect(emits[1]).not.toBe('');
    expect(prompt).toContain('tool.every.get_sum(arguments: {a: number, b: number}) -> string | list\n');
    expect(prompt).toContain('  arguments.a: First number\n');
  });

  it('has resources and prompts', async () => {
    const { emits, error } = await run([
      'len(tool.every.ListResources()["resources"]) > 3',
      'tool.every.ReadResource(tool.every.ListResources()["resources"][0]["uri"])',
      'tool.every.GetPrompt("args-prompt", {"city": "Ghent"})["messages"][0]["content"]',
    ]);
    expect(error).toBe(null);
    expect([emits[0], emits[1]?.slice(0, 1), emits[2]]).toEqual(['true', '#', expect.stringContaining('Ghent')]);
  });

  it('reports progress', async () => {
    const { progress } = await run(['tool.every.trigger_long_running_operation({"duration": 1, "steps": 2})']);
    // The library drops a report that arrives together with the answer.
    expect(progress[0]).toMatchObject({ server: 'every', progress: 1, total: 2 });
  });

  it('has a tool that must run as a task, which asks the user while it works', async () => {
    const { emits, error, asked } = await run(
      ['tool.every.simulate_research_query({"topic": "python", "ambiguous": true})'],
      ['technical'],
    );
    expect([error, emits[0]]).toEqual([null, expect.stringContaining('# Research Report: python')]);
    expect(asked).toContain("[MCP server 'every' asks, in its own words;");
  });
});
