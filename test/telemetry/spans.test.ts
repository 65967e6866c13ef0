import { SpanKind, trace } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openaiAgent } from '../../src/loop/agents/index.ts';
import { LoopController } from '../../src/loop/controller.ts';
import { Metrics } from '../../src/loop/metrics.ts';
import { createRuntime } from '../../src/runtime/index.ts';
import { Telemetry } from '../../src/telemetry/index.ts';
import { defineTool, ToolError } from '../../src/tools/index.ts';
import { modelServer, refuse, speak } from '../loop/agents/server.ts';
import { programAgent, reply, USERDATA } from '../loop/fake.ts';
import { controller, run } from '../loop/host.ts';
import { CONTINUE, clock, command, DONE, ids, keyring } from '../loop/sessions.ts';
import { openSdk } from './kit.ts';

const SECRET = 'hunter2-in-arguments';
const leaf = defineTool({
  name: 'tool.probe.Leaf',
  description: 'Ends here.',
  args: [{ name: 'text' }],
  run: ({ text }) =>
    trace.getTracer('tool').startActiveSpan('inside the leaf', (span) => {
      span.end();
      return text;
    }),
});
const outer = defineTool({
  name: 'tool.probe.Outer',
  args: [{ name: 'text' }],
  async run({ text }, runtime) {
    await new Promise((done) => setTimeout(done, 1));
    trace.getTracer('tool').startSpan('inside the outer').end();
    return runtime.callTool('probe.Leaf', [text]);
  },
});
const fails = defineTool({
  name: 'tool.probe.Fail',
  run: () => {
    throw new ToolError(4711, SECRET);
  },
});
const tools = [leaf, outer, fails];
const policy = { allow: ['tool.probe.*', 'tool.none.*'] };

let sdk: ReturnType<typeof openSdk>;
beforeEach(() => {
  sdk = openSdk();
});
afterEach(() => sdk[Symbol.asyncDispose]());

const runtimeOf = (telemetry = sdk.telemetry) => createRuntime({ concurrency: 1, tools, policy, telemetry });
const loopOf = (runtime: Awaited<ReturnType<typeof runtimeOf>>) => new LoopController({ runtime, keyring, clock, ids });

describe('a run', () => {
  it('is a span, and what a tool does is within the span of the call', async () => {
    await using runtime = await runtimeOf();
    const source = command('call tool.probe.Outer("a")', 'call tool.probe.Leaf("b")');
    await trace.getTracer('app').startActiveSpan('request', async (span) => {
      await runtime.run(source, { session: 's1' });
      span.end();
    });
    expect(sdk.tree()).toEqual({
      request: {
        'neuroscript.run': {
          'execute_tool tool.probe.outer': {
            'inside the outer': {},
            'execute_tool tool.probe.leaf': { 'inside the leaf': {} },
          },
          'execute_tool tool.probe.leaf': { 'inside the leaf': {} },
        },
      },
    });
    const { attributes, kind } = sdk.span('neuroscript.run');
    expect(kind).toBe(SpanKind.INTERNAL);
    expect(attributes).toEqual({
      'gen_ai.conversation.id': 's1',
      'neuroscript.fork': expect.stringMatching(/^fork-\d+$/),
      'neuroscript.run.fuel': expect.any(Number),
      'neuroscript.run.cpu_time': expect.any(Number),
      'neuroscript.run.memory': expect.any(Number),
      'neuroscript.run.tool_calls': 2,
    });
    const calls = sdk.spans().filter(({ name }) => name.startsWith('execute_tool'));
    const fork = attributes['neuroscript.fork'];
    expect(calls.map((call) => call.attributes)).toEqual([
      expect.objectContaining({
        'gen_ai.tool.name': 'tool.probe.leaf',
        'gen_ai.tool.call.id': expect.stringMatching(new RegExp(`^${fork}\\.1\\.[\\w-]{22}\\.1$`)),
      }),
      expect.objectContaining({ 'gen_ai.tool.name': 'tool.probe.outer', 'gen_ai.tool.call.id': `${fork}.1` }),
      {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'tool.probe.leaf',
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.description': 'Ends here.',
        'gen_ai.tool.call.id': `${fork}.2`,
      },
    ]);
  });

  it('counts every further try of a call whose tool was away, as an event of its span without the message', async () => {
    let calls = 0;
    const away = defineTool({
      name: 'tool.probe.Away',
      run: () => {
        if (++calls === 1) throw new ToolError(1002, SECRET, undefined, { retryAfterMs: 300 });
        return calls;
      },
    });
    await using runtime = await createRuntime({ concurrency: 1, tools: [away], policy, telemetry: sdk.telemetry });
    expect((await runtime.run(command('emit tool.probe.Away()'))).emits).toEqual(['2']);
    expect([runtime.toolRetries, runtime.stats().toolRetries]).toEqual([1, 1]);
    const { events } = sdk.span('execute_tool tool.probe.away');
    expect(events.map(({ name, attributes }) => [name, attributes])).toEqual([
      [
        'neuroscript.tool.retry',
        { 'neuroscript.tool.tries': 1, 'neuroscript.tool.pause': expect.closeTo(0.3, 1), 'error.type': 'NS1002' },
      ],
    ]);
    const metrics = new Metrics();
    metrics.seeRuntime(runtime);
    expect(metrics.snapshot().tool_retries_total).toBe(1);
  });

  it('shows calls that run together as spans beside each other, each with the number of the first', async () => {
    await using runtime = await runtimeOf();
    await runtime.run(
      command('call tool.probe.Leaf("a")', 'together', 'call tool.probe.Outer("b")', 'call tool.probe.Leaf("c")', 'endtogether'),
    );
    expect(sdk.tree()).toEqual({
      'neuroscript.run': {
        'execute_tool tool.probe.outer': {
          'inside the outer': {},
          'execute_tool tool.probe.leaf': { 'inside the leaf': {} },
        },
        'execute_tool tool.probe.leaf': { 'inside the leaf': {} },
      },
    });
    const calls = sdk.spans().filter(({ name }) => name.startsWith('execute_tool'));
    const shown = calls.map(({ attributes }) => [
      String(attributes['gen_ai.tool.call.id'])
        .replace(/^fork-\d+\./, '')
        .replace(/[\w-]{22}/, 'DIGEST'),
      attributes['neuroscript.together'],
    ]);
    expect(shown.toSorted()).toEqual([
      ['1', undefined],
      ['2', 2],
      ['2.DIGEST.1', undefined],
      ['3', 2],
    ]);
  });

  it('that fails has the code of its error, and so has the call; a name that no tool has is in no name of a span', async () => {
    await using runtime = await runtimeOf();
    await runtime.run(command('call tool.probe.Fail()'));
    await runtime.run(command(`call tool.none.${'x'.repeat(300)}()`));
    const errors = sdk.spans().map(({ name, attributes, status }) => [name, attributes['error.type'], status.code]);
    expect(errors).toEqual([
      ['execute_tool tool.probe.fail', 'NS4711', 2],
      ['neuroscript.run', 'NS4711', 2],
      ['execute_tool', 'NS3', 2],
      ['neuroscript.run', 'NS3', 2],
    ]);
    expect(String(sdk.span('execute_tool').attributes['gen_ai.tool.name'])).toHaveLength(100);
    const durations = (await sdk.metrics()).find(({ descriptor }) => descriptor.name === 'gen_ai.execute_tool.duration');
    // A tool may raise any number, and a program may write any name: neither becomes a time series.
    expect(durations?.dataPoints.map(({ attributes }) => attributes)).toEqual([
      { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'tool.probe.fail', 'error.type': '_OTHER' },
      { 'gen_ai.operation.name': 'execute_tool', 'error.type': 'NS3' },
    ]);
  });
});

describe('a session', () => {
  it('is invoke_agent, with its turns, the requests to the model, the runs and the calls within it', async () => {
    await using server = await modelServer((response, _, index) =>
      index === 0
        ? refuse(response, 503, 'busy')
        : speak(response, reply(index === 1 ? command('call tool.probe.Leaf("a")', CONTINUE) : command(DONE))),
    );
    await using runtime = await runtimeOf();
    const agent = openaiAgent({ model: 'm1', baseUrl: server.baseUrl, retry: { firstDelayMs: 1 }, temperature: 0.5 });
    await loopOf(runtime).runLoop({ userdata: USERDATA, agent, sid: 'traced' });
    expect(sdk.tree()).toEqual({
      'invoke_agent m1': {
        'neuroscript.turn': {
          'chat m1': {},
          'neuroscript.run': { 'execute_tool tool.aeiou.magic': {} },
        },
      },
    });
    const port = Number(new URL(server.baseUrl).port);
    expect(sdk.span('invoke_agent m1')).toMatchObject({
      kind: SpanKind.INTERNAL,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.provider.name': 'openai',
        'gen_ai.agent.name': 'm1',
        'gen_ai.request.model': 'm1',
        'gen_ai.conversation.id': 'traced',
        'gen_ai.usage.input_tokens': 60,
        'gen_ai.usage.output_tokens': 24,
        'neuroscript.turn': 2,
        'neuroscript.decision': 'DONE',
      },
    });
    const chats = sdk.spans().filter(({ name }) => name === 'chat m1');
    expect(chats.map(({ kind }) => kind)).toEqual([SpanKind.CLIENT, SpanKind.CLIENT, SpanKind.CLIENT]);
    const common = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'm1',
      'gen_ai.request.stream': true,
      'gen_ai.request.temperature': 0.5,
      'gen_ai.conversation.id': 'traced',
      'server.address': '127.0.0.1',
      'server.port': port,
      'neuroscript.agent.attempt': 1,
    };
    expect(chats[0]?.attributes).toEqual({ ...common, 'neuroscript.turn': 1, 'error.type': '503' });
    expect(chats[1]?.attributes).toEqual({
      ...common,
      'neuroscript.turn': 1,
      'neuroscript.agent.retry': 1,
      'gen_ai.response.id': 'r',
      'gen_ai.response.model': 'm',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.response.time_to_first_chunk': expect.any(Number),
      'gen_ai.usage.input_tokens': 30,
      'gen_ai.usage.output_tokens': 12,
      'gen_ai.usage.cache_read.input_tokens': 0,
      'gen_ai.usage.reasoning.output_tokens': 0,
    });
    const turns = sdk.spans().filter(({ name }) => name === 'neuroscript.turn');
    expect(turns.map(({ attributes }) => [attributes['neuroscript.turn'], attributes['neuroscript.decision']])).toEqual([
      [1, 'CONTINUE'],
      [2, 'DONE'],
    ]);
    const call = sdk.span('execute_tool tool.probe.leaf');
    expect(call.attributes['gen_ai.tool.call.id']).toBe('1.1');
  });
});

describe('the end of a session', () => {
  const ended = () =>
    sdk
      .spans()
      .map(({ name, attributes, status }) => [name, attributes['error.type'], attributes['neuroscript.decision'], status.code]);

  it('that halts, and an agent that gives no reply, are errors by their code', async () => {
    await controller({ telemetry: sdk.telemetry }).loop.runLoop(run(programAgent('silent')));
    const broken = { name: 'broken', reply: () => Promise.reject(new Error('no')) };
    await controller({ telemetry: sdk.telemetry }).loop.runLoop(run(broken));
    expect(ended()).toEqual([
      ['neuroscript.turn', 'ERR_TOKEN_MISSING', 'HALT', 2],
      ['invoke_agent', 'ERR_TOKEN_MISSING', 'HALT', 2],
      ['neuroscript.turn', 'ERR_AGENT', undefined, 2],
      ['invoke_agent broken', 'ERR_AGENT', 'HALT', 2],
    ]);
    expect(sdk.span('invoke_agent').attributes['gen_ai.provider.name']).toBe('neuroscript');
  });

  it('between two turns is an error by its reason, and its duration is measured', async () => {
    await controller({ telemetry: sdk.telemetry }).loop.runLoop(run(programAgent('continue'), { maxTurns: 1 }));
    expect(ended()).toEqual([
      ['neuroscript.turn', undefined, 'CONTINUE', 0],
      ['invoke_agent', 'ERR_MAX_TURNS', 'HALT', 2],
    ]);
    const durations = (await sdk.metrics()).find(({ descriptor }) => descriptor.name === 'gen_ai.invoke_agent.duration');
    expect(durations?.dataPoints.map(({ attributes }) => attributes)).toEqual([
      { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.provider.name': 'neuroscript', 'error.type': 'ERR_MAX_TURNS' },
    ]);
  });

  it('that waits for a call is none, and no error', async () => {
    const later = defineTool({ name: 'tool.probe.Later', run: (_, runtime) => runtime.pending({ reason: 'a human' }) });
    await using runtime = await createRuntime({ concurrency: 1, tools: [later], policy, telemetry: sdk.telemetry });
    const agent = { reply: async () => reply(command('call tool.probe.Later()', DONE)) };
    await loopOf(runtime).runLoop({ userdata: USERDATA, agent });
    expect(sdk.spans().map(({ name, attributes, status }) => [name, attributes['neuroscript.suspended'], status.code])).toEqual([
      ['execute_tool tool.probe.later', undefined, 0],
      ['neuroscript.run', true, 0],
      ['neuroscript.turn', undefined, 0],
      ['invoke_agent', true, 0],
    ]);
  });
});

describe('content', () => {
  const programs = [command(`call tool.probe.Leaf("${SECRET}")`, DONE)];
  const play = async (telemetry: Telemetry): Promise<string> => {
    await using server = await modelServer((response) => speak(response, reply(programs[0] ?? '')));
    await using runtime = await runtimeOf(telemetry);
    const agent = openaiAgent({ model: 'm1', baseUrl: server.baseUrl });
    await loopOf(runtime).runLoop({ userdata: { subject: SECRET, fields: {} }, agent });
    return JSON.stringify(sdk.spans().map(({ name, attributes, events, status }) => [name, attributes, events, status]));
  };

  it('is in no span by default', async () => {
    const text = await play(sdk.telemetry);
    expect(text).toContain('execute_tool tool.probe.leaf');
    expect(text).not.toContain(SECRET);
  });

  it('is in spans on request, in the form of the conventions', async () => {
    await play(new Telemetry({ content: true }));
    const { attributes } = sdk.span('execute_tool tool.probe.leaf');
    expect(JSON.parse(String(attributes['gen_ai.tool.call.arguments']))).toEqual({ text: SECRET });
    expect(JSON.parse(String(attributes['gen_ai.tool.call.result']))).toBe(SECRET);
    const chat = sdk.span('chat m1').attributes;
    expect(JSON.parse(String(chat['gen_ai.input.messages']))).toEqual([
      { role: 'user', parts: [{ type: 'text', content: expect.stringContaining(SECRET) }] },
    ]);
    expect(JSON.parse(String(chat['gen_ai.output.messages']))).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: reply(programs[0] ?? '') }], finish_reason: 'stop' },
    ]);
    expect(JSON.parse(String(chat['gen_ai.system_instructions']))).toEqual([{ type: 'text', content: expect.any(String) }]);
  });
});
