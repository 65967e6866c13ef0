import { readFileSync } from 'node:fs';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Runtime } from '../../../src/runtime/index.ts';
import { defineTool, estimateTokens } from '../../../src/tools/index.ts';
import { connected, service } from './kit.ts';

let runtime: Runtime;
let client: Client;

const language = readFileSync(new URL('../../../docs/language-for-models.md', import.meta.url), 'utf8');
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
    expect(await read('neuroscript://language')).toBe(language);
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
    expect(whole.startsWith(language.trimEnd())).toBe(true);
    expect(whole).toContain('tool.shop.Price(text: string)');
    expect(whole.endsWith('Add all prices.')).toBe(true);
    expect(await text({})).not.toContain('# Task');
  });

  it('completes the names of tools and the codes of errors', async () => {
    const complete = async (uri: string, name: string, value: string) =>
      (await client.complete({ ref: { type: 'ref/resource', uri }, argument: { name, value } })).completion.values;
    expect(await complete('neuroscript://tools/{name}', 'name', 'TOOL.shop.o')).toEqual(['tool.shop.Order']);
    expect(await complete('neuroscript://errors/{code}', 'code', 'ns')).toEqual(['NS14']);
    expect(await complete('neuroscript://errors/{code}', 'code', '')).toEqual(['NS14', 'ERR_QUOTA']);
  });
});
