import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';
import { describe, expect, it } from 'vitest';
import { REPLY_CHARACTERS } from '../../../src/loop/agents/agent.ts';
import { type Agent, type AgentDelta, modelAgent, openaiAgent, transcribed } from '../../../src/loop/agents/index.ts';
import type { LoopEvent } from '../../../src/loop/events.ts';
import { requestReply } from '../../../src/loop/turn/consult.ts';
import { reply } from '../fake.ts';
import { controller, run } from '../host.ts';
import { requestOf } from './request.ts';
import { type Answer, begin, event, modelServer, refuse, speak } from './server.ts';

const TEXT = 'A reply in ünïcode 🎈 with\nlines.\n';
const QUICK = { firstDelayMs: 1, maxDelayMs: 50 };

/** Requests a reply and returns it with the pieces that came before it. */
async function listen(agent: Agent, more: Partial<{ signal: AbortSignal }> = {}) {
  const deltas: AgentDelta[] = [];
  const { signal: _, ...request } = requestOf({ onDelta: (delta) => deltas.push(delta) });
  const outcome = await requestReply(agent, request, more).then(
    ({ text }) => text,
    (error: { reason: string }) => error.reason,
  );
  return { outcome, deltas, texts: deltas.map(({ text }) => text) };
}

async function listenTo(answer: Answer) {
  await using server = await modelServer(answer);
  return await listen(openaiAgent({ model: 'm', baseUrl: server.baseUrl, retry: QUICK }));
}

/** A model of the SDK that says these pieces. */
const mock = (...pieces: readonly string[]): MockLanguageModelV4 =>
  new MockLanguageModelV4({
    doStream: async () => ({
      stream: simulateReadableStream({
        chunks: [
          { type: 'stream-start' as const, warnings: [] },
          { type: 'text-start' as const, id: '1' },
          ...pieces.map((delta) => ({ type: 'text-delta' as const, id: '1', delta })),
          { type: 'text-end' as const, id: '1' },
          {
            type: 'finish' as const,
            finishReason: { unified: 'stop' as const, raw: 'stop' },
            usage: {
              inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
              outputTokens: { total: 4, text: 4, reasoning: 0 },
            },
          },
        ],
      }),
    }),
  });

describe('the pieces of a reply', () => {
  it('of a model of the AI SDK come as it says them, and make up the reply', async () => {
    const { outcome, deltas } = await listen(modelAgent(mock('one ', 'two ', '', 'three')));
    expect(outcome).toBe('one two three');
    expect(deltas).toEqual(['one ', 'two ', 'three'].map((text) => ({ text, retry: 0 })));
  });

  it('are whole characters and events, however the server cuts its bytes', async () => {
    const { outcome, texts } = await listenTo(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const bytes = Buffer.from(
        [...TEXT].map((letter) => event({ content: letter })).join(': a comment\r\n\r\n') +
          event({}, 'stop') +
          'data: [DONE]\n\n',
      );
      // 17 bytes at a time cut events, lines and the four bytes of a character.
      for (let at = 0; at < bytes.length; at += 17) {
        response.write(bytes.subarray(at, at + 17));
        await new Promise((done) => setImmediate(done));
      }
      response.end();
    });
    expect(outcome).toBe(TEXT);
    expect(texts).toEqual([...TEXT]);
  });

  it('come before the reply has ended', async () => {
    const first = Promise.withResolvers<void>();
    await using server = await modelServer(async (response) => {
      begin(response);
      response.write(event({ content: 'first' }));
      // The server goes on only when the listener has the first piece.
      await first.promise;
      response.write(event({ content: ' second' }));
      response.end(`${event({}, 'stop')}data: [DONE]\n\n`);
    });
    const agent = openaiAgent({ model: 'm', baseUrl: server.baseUrl });
    const { signal: _, ...request } = requestOf({ onDelta: () => first.resolve() });
    await expect(requestReply(agent, request, {})).resolves.toMatchObject({ text: 'first second' });
  });

  it('of a retry are marked, so that a listener knows which count', async () => {
    const { outcome, deltas } = await listenTo(async (response, _, index) => {
      if (index === 1) return refuse(response, 503, 'busy');
      if (index === 2) return speak(response, TEXT);
      begin(response);
      response.end(event({ content: 'half a rep' }));
    });
    expect(outcome).toBe(TEXT);
    expect(deltas[0]).toEqual({ text: 'half a rep', retry: 0 });
    const last = deltas.slice(1);
    expect(new Set(last.map(({ retry }) => retry))).toEqual(new Set([2]));
    expect(last.map(({ text }) => text).join('')).toBe(TEXT);
  });

  it('end with the request: none comes after a cancellation, nor after the reply', async () => {
    const cancel = new AbortController();
    let pass: (delta: AgentDelta) => void = () => {};
    const stubborn: Agent = {
      async reply({ onDelta = () => {} }) {
        pass = onDelta;
        onDelta({ text: 'before', retry: 0 });
        cancel.abort();
        onDelta({ text: 'after', retry: 0 });
        return new Promise<string>(() => {});
      },
    };
    const { outcome, texts } = await listen(stubborn, cancel);
    pass({ text: 'much later', retry: 0 });
    expect(outcome).toBe('ERR_CANCELLED');
    expect(texts).toEqual(['before']);
    const done = await listen({
      async reply({ onDelta = () => {} }) {
        setImmediate(() => onDelta({ text: 'late', retry: 0 }));
        return 'text';
      },
    });
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect(done).toEqual({ outcome: 'text', deltas: [], texts: [] });
  });

  it('are no longer together than a reply may be, however much the agent says', async () => {
    const { texts } = await listen({
      async reply({ onDelta = () => {} }) {
        for (let i = 0; i < 8; i++) onDelta({ text: 'x'.repeat(REPLY_CHARACTERS / 4), retry: 0 });
        onDelta({ text: 'anew', retry: 1 });
        onDelta({ text: 'of the past', retry: 0 });
        return 'x';
      },
    });
    expect(texts.join('')).toHaveLength(REPLY_CHARACTERS + 'anew'.length);
    expect(texts.at(-1)).toBe('anew');
    const wrong = await listen({
      reply: async ({ onDelta = () => {} }) => {
        onDelta({ text: 7 as never, retry: 0 });
        return 'x';
      },
    });
    expect(wrong.outcome).toBe('ERR_AGENT');
  });

  it('pass through a wrapped agent', async () => {
    const { texts } = await listen(transcribed(modelAgent(mock('a', 'b')), () => {}));
    expect(texts).toEqual(['a', 'b']);
  });
});

describe('a session', () => {
  const whole = reply('program done');
  const half = whole.length / 2;
  const deltasOf = (events: readonly { readonly type: string }[]) => events.filter(({ type }) => type === 'delta');

  it('passes them on as events, before the reply', async () => {
    const events: LoopEvent[] = [];
    const agent = modelAgent(mock(whole.slice(0, half), whole.slice(half)));
    const result = await controller().loop.runLoop(run(agent, { onEvent: (one: LoopEvent) => events.push(one) }));
    expect(result.decision).toBe('DONE');
    expect(events.slice(0, 4).map(({ type }) => type)).toEqual(['asked', 'delta', 'delta', 'replied']);
    expect(deltasOf(events)).toEqual([
      { sid: 's', turn: 1, type: 'delta', attempt: 1, retry: 0, text: whole.slice(0, half) },
      { sid: 's', turn: 1, type: 'delta', attempt: 1, retry: 0, text: whole.slice(half) },
    ]);
  });

  it('as a stream joins those that wait for a slow reader, and drops none', async () => {
    const pieces = [...Array.from({ length: 3000 }, () => '.'), '\n', ...whole];
    const agent: Agent = {
      async reply({ onDelta = () => {} }) {
        for (const text of pieces) onDelta({ text, retry: 0 });
        return pieces.join('');
      },
    };
    const events = [];
    for await (const one of controller().loop.stream(run(agent))) events.push(one);
    expect(events.map(({ type }) => type)).not.toContain('dropped');
    expect(deltasOf(events)).toEqual([expect.objectContaining({ text: pieces.join('') })]);
  });
});
