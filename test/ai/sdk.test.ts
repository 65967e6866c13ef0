import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { type NeuroscriptOutput, neuroscriptTool, sdkTools } from '../../src/ai/index.ts';
import { createRuntime, defineTool, type Runtime } from '../../src/entries/index.ts';
import { ConfigError } from '../../src/wire/errors.ts';

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ concurrency: 1, policy: { allow: ['tool.*'] }, launcher: 'none' });
});
afterAll(() => runtime.close());

const program = (...lines: string[]): string => ['command', ...lines.map((line) => `  ${line}`), 'endcommand'].join('\n');

describe('issue 19: a tool of the AI SDK, called by a program', () => {
  it.each([
    ['zod', z.object({ city: z.string(), days: z.number().default(2) })],
    [
      'JSON Schema',
      jsonSchema({ type: 'object', properties: { city: { type: 'string' }, days: { default: 2 } }, required: ['city'] }),
    ],
  ])('takes named arguments by its input schema: %s', async (_, inputSchema) => {
    const weather = { description: 'The weather of a city.', inputSchema, execute: async (input: unknown) => input };
    const tools = await sdkTools({ weather });
    expect(tools[0]).toMatchObject({ name: 'tool.ai.weather', description: 'The weather of a city.' });
    const { emits, error } = await runtime.run(program('emit tool.ai.weather("Bonn")'), { tools });
    expect({ emits, error }).toEqual({ emits: ['{"city": "Bonn", "days": 2}'], error: null });
    const bad = await runtime.run(program('emit tool.ai.weather(true)'), { tools });
    expect(bad.error).toMatchObject({ code: 'NS4' });
  });

  it('gets what its schema makes of the arguments', async () => {
    const inputSchema = z.object({ city: z.string().transform((city) => city.toUpperCase()) });
    const tools = await sdkTools({ shout: tool({ inputSchema, execute: async ({ city }) => city }) });
    expect((await runtime.run(program('emit tool.ai.shout("Bonn")'), { tools })).emits).toEqual(['BONN']);
  });

  it('shows a program what it would show a model, and of a stream the last result', async () => {
    const nothing = z.object({});
    const tools = await sdkTools({
      masked: tool({
        inputSchema: nothing,
        execute: async () => ({ name: 'Ada', card: '4111' }),
        toModelOutput: ({ output: { name } }) => ({ type: 'json', value: { name } }),
      }),
      parts: tool({
        inputSchema: nothing,
        execute: async () => 'x',
        toModelOutput: () => ({ type: 'content', value: [{ type: 'text', text: 'one part' }] }),
      }),
      steps: tool({
        inputSchema: nothing,
        async *execute() {
          yield 'begun';
          yield 'done';
        },
      }),
    });
    const calls = ['masked', 'parts', 'steps'].map((name) => `emit tool.ai.${name}()`);
    expect((await runtime.run(program(...calls), { tools })).emits).toEqual(['{"name": "Ada"}', 'one part', 'done']);
  });

  it.each([
    [{ type: 'error-text', value: 'no such city' }, 'no such city'],
    [{ type: 'error-json', value: { code: 7 } }, '{"code":7}'],
    [{ type: 'execution-denied', reason: 'not today' }, 'not today'],
  ] as const)('fails as %j says, and a program can catch it', async (output, message) => {
    const failing = { inputSchema: z.object({}), execute: async () => 1, toModelOutput: () => output };
    const tools = await sdkTools({ failing });
    const { error } = await runtime.run(program('call tool.ai.failing()'), { tools });
    expect(error?.message).toContain(message);
  });

  it('that needs approval runs only with one', async () => {
    let ran = false;
    const execute = async () => {
      ran = true;
    };
    for (const needsApproval of [true, async () => false]) {
      const tools = await sdkTools({ pay: tool({ inputSchema: z.object({}), needsApproval, execute }) });
      expect(tools[0]?.requiresApproval).toBe(true);
      expect((await runtime.run(program('call tool.ai.pay()'), { tools })).error).toMatchObject({ code: 'NS1003' });
    }
    expect(ran).toBe(false);
  });

  it('is told when the run is cancelled, and a stream of results is left', async () => {
    const cancel = new AbortController();
    const left = Promise.withResolvers<boolean>();
    const tools = await sdkTools({
      endless: tool({
        inputSchema: z.object({}),
        async *execute(_, { abortSignal }) {
          try {
            yield 1;
            const told = new Promise((resolve) => abortSignal?.addEventListener('abort', resolve));
            cancel.abort();
            await told;
            yield 2;
          } finally {
            left.resolve(true);
          }
        },
      }),
    });
    const { error } = await runtime.run(program('call tool.ai.endless()'), { tools, signal: cancel.signal });
    expect(error?.code).toBe('ERR_CANCELLED');
    expect(await left.promise).toBe(true);
  });

  it('cannot be one that runs elsewhere, nor one whose input has no names', async () => {
    await expect(sdkTools({ client: tool({ inputSchema: z.object({}) }) })).rejects.toMatchObject({ code: 'ERR_CONFIG' });
    const text = { inputSchema: v.string(), execute: async () => 1 };
    await expect(sdkTools({ text })).rejects.toThrow("the tool 'text'");
    const silent = { inputSchema: jsonSchema(true as never), execute: async () => 1 };
    await expect(sdkTools({ silent })).rejects.toThrow("the input schema of the tool 'silent'");
  });

  it('issue 44: cannot have the name of another, of which a program could call only one', async () => {
    const one = tool({ inputSchema: z.object({}), execute: async () => 1 });
    for (const [a, b] of [
      ['a-b', 'a_b'],
      ['a.b', 'A_b'],
    ] as const)
      await expect(sdkTools({ [a]: one, c: one, [b]: one })).rejects.toThrow(
        new ConfigError(`the tools '${a}' and '${b}' have the same name in a program, tool.ai.${b}`),
      );
  });

  it.each([
    ['a schema that is missing', undefined, 'schema is not a function'],
    [
      'a schema that fails',
      () => {
        throw new Error('not now');
      },
      'not now',
    ],
    ['a schema that JSON Schema lacks', z.object({ at: z.date() }), 'Date cannot be represented in JSON Schema'],
  ])('issue 44, finding 13: is named by the error of %s', async (_, inputSchema, problem) => {
    const made = sdkTools({
      fine: tool({ inputSchema: z.object({}), execute: async () => 1 }),
      odd: { inputSchema, execute: () => 1 },
    });
    await expect(made).rejects.toThrow(new ConfigError(`the input schema of the tool 'odd' cannot be used: ${problem}`));
  });
});

const calls = (text: string) => ({
  content: [{ type: 'tool-call', toolCallId: 'call-1', toolName: 'neuroscript', input: JSON.stringify({ program: text }) }],
  finishReason: { unified: 'tool-calls', raw: undefined },
  usage: USAGE,
  warnings: [],
});
const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

describe('issue 19: a program, run by a model of the AI SDK', () => {
  const price = defineTool({
    name: 'tool.shop.Price',
    description: 'The price of an item.',
    args: [{ name: 'item', type: 'string' }],
    run: () => 5,
  });

  it('gives generateText its output, and the model reads it in the next step', async () => {
    const steps = [
      calls(program('emit tool.shop.Price("tea") * 3')),
      { ...calls(''), content: [{ type: 'text', text: 'fifteen' }], finishReason: { unified: 'stop', raw: undefined } },
    ];
    const model = new MockLanguageModelV4({ doGenerate: steps as never });
    const neuroscript = neuroscriptTool(runtime, { tools: [price], tenant: 'acme' });
    const { text, steps: taken } = await generateText({
      model,
      tools: { neuroscript },
      prompt: 'three teas',
      stopWhen: stepCountIs(3),
    });
    expect(text).toBe('fifteen');
    const [result] = taken[0]?.toolResults ?? [];
    expect(result?.output).toMatchObject({ ok: true, output: ['15'], values: [15], error: null });
    if (result !== undefined && !result.dynamic) expectTypeOf(result.output).toEqualTypeOf<NeuroscriptOutput>();
    expect(JSON.stringify(model.doGenerateCalls[1]?.prompt)).toContain('{"type":"text","value":"15"}');
    expect(runtime.tenant('acme').used.toolCalls).toBe(1);
  });

  it('issue 50: a program of definitions alone says that nothing was run; one that ran, and an empty one, say nothing', async () => {
    const { execute, toModelOutput } = neuroscriptTool(runtime, { tools: [price] });
    const output = await execute({ program: 'func f() means\n  emit 1\nendfunc' });
    expect(output).toMatchObject({ ok: true, output: [], warnings: [expect.stringContaining('nothing was run')] });
    expect(toModelOutput({ output })).toEqual({ type: 'text', value: expect.stringContaining('no command block') });
    for (const program of ['command\nendcommand', ' ', 'command\n  emit 1\nendcommand'])
      expect((await execute({ program })).warnings).toEqual([]);
    const { warnings } = await runtime.run('func f() means\n  return 1\nendfunc', { call: { name: 'f' } });
    expect(warnings).toBeUndefined();
  });

  it('tells the model where and why a program failed', async () => {
    const { execute, toModelOutput } = neuroscriptTool(runtime, { tools: [price] });
    const output = await execute({ program: program('emit "first"', 'emit 1 / 0') });
    expect(output).toMatchObject({ ok: false, output: ['first'], error: { line: 3 } });
    const { type, value } = toModelOutput({ output });
    expect(type).toBe('error-text');
    expect(value).toMatch(/^first\n\[ERROR\] NS\d+ at 3:10: division by zero/);
  });

  it('tells the model every problem of a program that cannot run, with its place, hint and correction', async () => {
    const { execute, toModelOutput } = neuroscriptTool(runtime, { tools: [price] });
    const output = await execute({ program: program('let x = 1', 'emit x', 'const y = 2', 'set z = 3;', 'var w = 4') });
    expect(output.problems.map(({ line, code }) => [line, code])).toEqual([2, 4, 5, 6].map((line) => [line, 'NS15']));
    const { value } = toModelOutput({ output });
    for (const line of [2, 4, 5, 6]) expect(value).toMatch(new RegExp(`^\\[ERROR\\] NS15 at ${line}:\\d+: `, 'm'));

    expect(value).toMatch(/at 2:3: .*set.*\n {2}in place of line 2 write: set x = 1/);
  });

  it('tells the model every call that the policy denies before anything runs', async () => {
    const { execute, toModelOutput } = neuroscriptTool(runtime, { tools: [price], policy: { deny: ['tool.shop.*'] } });
    const call = 'call tool.shop.Price("tea")';
    const output = await execute({ program: program('emit "first"', call, call) });
    expect(output).toMatchObject({ ok: false, output: [], problems: [{ line: 3 }, { line: 4 }], fuel: 0 });
    expect(toModelOutput({ output }).value).toMatch(/at 3:\d+: .*denied.*\n.* at 4:\d+: .*denied/);
  });

  it('is cancelled with the call of the SDK', async () => {
    const cancel = new AbortController();
    const wait = defineTool({
      name: 'tool.t.Wait',
      run: (_, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve(null));
          cancel.abort();
        }),
    });
    const doStream = {
      stream: simulateReadableStream({
        chunks: [
          ...calls(program('call tool.t.Wait()')).content,
          { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage: USAGE },
        ],
      }),
    };
    const neuroscript = neuroscriptTool(runtime, { tools: [wait] });
    const ended = Promise.withResolvers<NeuroscriptOutput>();
    const spied = {
      ...neuroscript,
      execute: async (...given: Parameters<typeof neuroscript.execute>) => {
        const output = await neuroscript.execute(...given);
        ended.resolve(output);
        return output;
      },
    };
    const result = streamText({
      model: new MockLanguageModelV4({ doStream: doStream as never }),
      tools: { neuroscript: spied },
      prompt: 'x',
      abortSignal: cancel.signal,
      onError: () => {},
    });
    await result.consumeStream();
    expect((await ended.promise).error?.code).toBe('ERR_CANCELLED');
  });

  it('is described with the language in brief and the admitted tools, without what programs cannot do', () => {
    const full = neuroscriptTool(runtime, { tools: [price], purpose: 'For orders.' }).description;
    expect(full).toMatch(/^For orders\.\n\n/);
    for (const part of ['# NeuroScript, in brief', 'tool.shop.Price(item', 'The price of an item.']) expect(full).toContain(part);
    for (const part of ['NSENV', 'tool.aeiou.magic', 'endfunc']) expect(full).not.toContain(part);
    expect(() => neuroscriptTool(runtime, { tools: [price], toolTokens: 1 })).toThrow(ConfigError);
    const denied = neuroscriptTool(runtime, { tools: [price], policy: { allow: [], deny: ['tool.shop.*'] } }).description;
    expect(denied).not.toContain('tool.shop.Price');
  });

  it('emits no more than a context can take, unless the limits allow even less', async () => {
    const flood = program('while true', '  emit "0123456789abcdef"', 'endwhile');
    const { error } = await neuroscriptTool(runtime).execute({ program: flood });
    expect(error?.code).toBe('ERR_QUOTA');
    const { output } = await neuroscriptTool(runtime, { limits: { outputBytes: 40 } }).execute({ program: flood });
    expect(output).toHaveLength(2);
  });

  it('refuses options that it does not know', () => {
    expect(() => neuroscriptTool(runtime, JSON.parse('{"budjet": 1}'))).toThrow("unknown key 'budjet'");
  });
});
