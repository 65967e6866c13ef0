import { createRequire } from 'node:module';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Runtime } from '../../../src/runtime/index.ts';
import { defineTool, estimateTokens } from '../../../src/tools/index.ts';
import { pureTools, timeTools, toolsTools } from '../../../stdlib-tools/index.ts';
import { examplesOf, promised } from '../../docs/programs.ts';
import { OF_SESSIONS, unshown } from '../../loop/agents/tasks.ts';
import { TEN } from '../../loop/agents/tools.ts';
import { connected, service } from './kit.ts';

const { countTokens }: { countTokens(text: string): number } = createRequire(import.meta.url)(
  'gpt-tokenizer/encoding/o200k_base',
);

let runtime: Runtime;
let client: Client;

const errors = async () => [
  { code: 'NS14', page: '# NS14: DivisionByZero\n' },
  { code: 'ERR_QUOTA', page: '# ERR_QUOTA\n' },
];

beforeAll(async () => {
  const tool = (name: string) => defineTool({ name, args: [{ name: 'text', type: 'string' }], run: ({ text }) => text });
  const made = await service([tool('tool.shop.Price'), tool('tool.shop.Order')], { errors });
  runtime = made.runtime;
  client = await connected(made.servers);
});

afterAll(async () => {
  await client.close();
  await runtime.close();
});

async function read(uri: string): Promise<string> {
  const [content] = (await client.readResource({ uri })).contents;
  expect(content).toMatchObject({ uri, mimeType: 'text/markdown' });
  return content !== undefined && 'text' in content ? content.text : '';
}

describe('a server that teaches the language', () => {
  it('gives instructions of at most 400 tokens, with a program that runs and the names of all tools', async () => {
    const text = client.getInstructions() ?? '';
    expect(estimateTokens(text)).toBeLessThanOrEqual(400);
    const src = /^command\n[\s\S]*^endcommand\n/m.exec(text)?.[0] ?? '';
    expect(src.trimEnd().split('\n')).toHaveLength(10);
    expect((await runtime.run(src)).emits).toEqual(['Total: 19.5']);
    for (const { name } of (await client.listTools()).tools) expect(text).toContain(`- ${name}: `);
    for (const [uri] of text.matchAll(/neuroscript:\/\/[a-z]+(?:\/CODE)?/g)) await read(uri.replace('CODE', 'NS14'));
  });

  it('has the language page, the tools and the page of each tool and error code as resources', async () => {
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(['neuroscript://language', 'neuroscript://tools']);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'neuroscript://tools/{name}',
      'neuroscript://errors/{code}',
    ]);
    expect(await read('neuroscript://language')).toMatch(
      /^Write NeuroScript programs[\s\S]*\n# NeuroScript, in brief[\s\S]*\n# Tools\n[\s\S]*tool\.shop\.Order/,
    );
    expect(await read('neuroscript://tools')).toContain('tool.shop.Price(text: string)');
    expect(await read('neuroscript://tools/tool.shop.Order')).toContain('### tool.shop.Order');
    expect(await read('neuroscript://errors/NS14')).toBe('# NS14: DivisionByZero\n');
    for (const uri of ['neuroscript://errors/NS99', 'neuroscript://tools/tool.no', 'neuroscript://other', 'file:///etc/passwd'])
      await expect(client.readResource({ uri }), uri).rejects.toMatchObject({ code: -32602 });
  });

  it('has a prompt with the language, the tools and the task', async () => {
    const { prompts } = await client.listPrompts();
    expect(prompts).toMatchObject([{ name: 'language', arguments: [{ name: 'task', required: false }] }]);
    const text = async (args: Record<string, string>): Promise<string> => {
      const { messages } = await client.getPrompt({ name: 'language', arguments: args });
      const [content] = messages.map((message) => message.content);
      return content?.type === 'text' ? content.text : '';
    };
    const whole = await text({ task: 'Add all prices.' });
    expect(whole.startsWith(await read('neuroscript://language'))).toBe(true);
    expect(whole).toContain('tool.shop.Price(text: string)');
    expect(whole.endsWith('Add all prices.')).toBe(true);
    expect(await text({})).not.toContain('# Task');
  });

  it('issue 50: teaches with the generator of all prompts: at most 2,000 tokens, true examples, and only tools that there are', async () => {
    const standard = [...pureTools(), ...timeTools(), ...toolsTools()];
    const all = await service([...TEN, ...standard]);
    await using open = all.runtime;
    const learner = await connected(all.servers);
    const [content] = (await learner.readResource({ uri: 'neuroscript://language' })).contents;
    const text = content !== undefined && 'text' in content ? content.text : '';
    expect(countTokens(text)).toBeLessThanOrEqual(2000);
    expect(unshown(text, OF_SESSIONS)).toEqual([]);
    const { tools } = open.interpreter().fork();
    for (const [name] of text.matchAll(/\btool(?:\.\w+){2,}/g))
      expect([name, tools.lookup(name) !== undefined]).toEqual([name, true]);
    const examples = examplesOf(text);
    expect(examples).toHaveLength(3);
    for (const example of examples) {
      const src = example.lines.join('\n');
      const call = src.startsWith('func') ? { call: 'main', args: [] } : {};
      const { structuredContent } = await learner.callTool({ name: 'run', arguments: { src, ...call } });
      expect(structuredContent).toMatchObject({ ok: true, emits: promised(example).emits });
    }
    await learner.close();
  });

  it('completes the names of tools and the codes of errors', async () => {
    const complete = async (uri: string, name: string, value: string) =>
      (await client.complete({ ref: { type: 'ref/resource', uri }, argument: { name, value } })).completion.values;
    expect(await complete('neuroscript://tools/{name}', 'name', 'TOOL.shop.o')).toEqual(['tool.shop.Order']);
    expect(await complete('neuroscript://errors/{code}', 'code', 'ns')).toEqual(['NS14']);
    expect(await complete('neuroscript://errors/{code}', 'code', '')).toEqual(['NS14', 'ERR_QUOTA']);
  });
});
