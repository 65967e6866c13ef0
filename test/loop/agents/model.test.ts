import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type AgentError, modelAgent, type OpenaiAgentOptions, openaiAgent } from '../../../src/loop/agents/index.ts';
import { ConfigError } from '../../../src/wire/errors.ts';
import { requestOf } from './request.ts';
import { type Answer, begin, event, modelServer, refuse, speak } from './server.ts';

const TEXT = 'A reply in ünïcode 🎈 with\nlines.\n';
const QUICK = { firstDelayMs: 1, maxDelayMs: 50 };
const KEY = 'sk-test-4711';
/** A call of a tool that begins anew in each event. */
const call = (id: number) => ({ id: `${id}`, index: 0, type: 'function', function: { name: 'a', arguments: '{' } });

/** Asks a model whose server answers so. */
async function ask(answer: Answer, options: Partial<OpenaiAgentOptions> = {}, request = {}) {
  await using server = await modelServer(answer);
  const { baseUrl } = server;
  const agent = openaiAgent({ model: 'm', baseUrl, apiKey: KEY, retry: QUICK, ...options });
  const begun = performance.now();
  const outcome = await agent.reply(requestOf({ system: 'the rules', prompt: 'the envelope', ...request })).then(
    (reply) => ({ reply, error: null }),
    (error: AgentError) => ({ reply: null, error }),
  );
  const ms = performance.now() - begun;
  // Nobody is left hanging on to the server, however the reply ended.
  await expect.poll(() => server.open()).toBe(0);
  return { ...outcome, asked: server.asked, ms };
}

/** First something else, then a reply. */
const first =
  (...answers: readonly Answer[]): Answer =>
  (response, asked, index) =>
    (answers[index] ?? ((to) => speak(to, TEXT)))(response, asked, index);

describe('the model agent', () => {
  it('joins a streamed reply and counts its tokens as the server does', async () => {
    const { reply, asked } = await ask((response) => speak(response, TEXT));
    expect(reply).toEqual({ text: TEXT, tokens: 42, inputTokens: 30, outputTokens: 12 });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      path: '/v1/chat/completions',
      authorization: `Bearer ${KEY}`,
      body: {
        model: 'm',
        stream: true,
        messages: [
          { role: 'system', content: 'the rules' },
          { role: 'user', content: 'the envelope' },
        ],
      },
    });
    expect(asked[0]?.body).not.toHaveProperty('tools');
  });

  it('estimates what a server does not count, so that no ceiling is without effect', async () => {
    const { reply } = await ask((response) => speak(response, 'x'.repeat(400), null), {}, { system: '', prompt: 'y'.repeat(40) });
    expect(reply).toMatchObject({ inputTokens: 10, outputTokens: 100, tokens: 110 });
  });

  it.each<[string, object]>([
    ['empty', {}],
    ['null', { prompt_tokens: null, completion_tokens: null }],
    ['zero', { prompt_tokens: 0, completion_tokens: 0 }],
    ['negative', { prompt_tokens: -30, completion_tokens: -1 }],
    ['incredible', { prompt_tokens: 1e300, completion_tokens: 1e300 }],
    ['of another type', { prompt_tokens: '30', completion_tokens: [] }],
  ])('finding 8: usage that is %s counts as an estimate, and the reply is kept', async (_what, usage) => {
    const { reply } = await ask(
      (response) => speak(response, 'x'.repeat(400), usage),
      {},
      { system: '', prompt: 'y'.repeat(40) },
    );
    expect(reply).toEqual({ text: 'x'.repeat(400), inputTokens: 10, outputTokens: 100, tokens: 110 });
  });

  it('finding 8: usage that is no JSON counts as an estimate, and a fraction of a token as a token', async () => {
    const notANumber = await ask((response) => {
      begin(response);
      response.write(event({ content: TEXT }));
      response.write(event({}, 'stop'));
      response.end('data: {"id":"r","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":NaN}}\n\ndata: [DONE]\n\n');
    });
    expect(notANumber.reply).toMatchObject({ text: TEXT, tokens: 6 + 10 });
    const { reply } = await ask((response) => speak(response, TEXT, { prompt_tokens: 29.5, completion_tokens: 0.5 }));
    expect(reply).toEqual({ text: TEXT, inputTokens: 30, outputTokens: 1, tokens: 31 });
  });

  it('asks for no more tokens than are left', async () => {
    const request = { maxTokens: 1000, system: '', prompt: 'y'.repeat(400) };
    const { asked } = await ask((response) => speak(response, TEXT), {}, request);
    expect(asked[0]?.body['max_tokens']).toBe(900);
    const own = await ask((response) => speak(response, TEXT), { maxOutputTokens: 50, temperature: 0 }, request);
    expect(own.asked[0]?.body).toMatchObject({ max_tokens: 50, temperature: 0 });
  });

  it.each([
    ['llama.cpp', { grammar: 'root ::= "x"' }],
    ['vllm', { structured_outputs: { grammar: 'root ::= "x"' } }],
    ['vllm-guided', { guided_grammar: 'root ::= "x"' }],
    ['sglang', { ebnf: 'root ::= "x"' }],
  ] as const)('hands the grammar of a request to a server of the kind %s', async (grammar, fields) => {
    const { asked } = await ask((response) => speak(response, TEXT), { grammar }, { grammar: 'root ::= "x"' });
    expect(asked[0]?.body).toMatchObject({ ...fields, messages: expect.anything() });
  });

  it('hands no grammar to a server unless it is told how, and needs one then', async () => {
    const { asked } = await ask((response) => speak(response, TEXT), {}, { grammar: 'root ::= "x"' });
    expect(JSON.stringify(asked[0]?.body)).not.toContain('root ::=');
    const { error } = await ask((response) => speak(response, TEXT), { grammar: 'vllm' });
    expect(error?.message).toContain('needs a grammar');
    expect(() => openaiAgent({ model: 'm', baseUrl: 'http://h', grammar: 'other' as 'vllm' })).toThrow(ConfigError);
  });

  it('sends no key that it was not given', async () => {
    await using server = await modelServer((response) => speak(response, TEXT));
    await openaiAgent({ model: 'm', baseUrl: server.baseUrl }).reply(requestOf());
    expect(server.asked[0]?.authorization).toBeUndefined();
  });

  it.each([429, 500, 502, 503, 529, 408])('tries again when the server answers %i', async (status) => {
    const { reply, asked } = await ask(first((response) => refuse(response, status, 'busy')));
    expect(reply).toMatchObject({ text: TEXT });
    expect(asked).toHaveLength(2);
  });

  it.each([400, 401, 403, 404, 422])('does not try again when the server refuses with %i', async (status) => {
    const { error, asked } = await ask((response) => refuse(response, status, 'no such model'));
    expect(error).toMatchObject({
      code: 'ERR_AGENT',
      reason: 'ERR_AGENT',
      message: `turn 1 has no reply: the model's server answered ${status}: no such model`,
      retryable: ![400, 422].includes(status),
    });
    expect(asked).toHaveLength(1);
  });

  it('gives up after the retries that it may make', async () => {
    const { error, asked } = await ask((response) => refuse(response, 503, 'down'), { retry: { ...QUICK, retries: 2 } });
    expect(error).toMatchObject({ message: "turn 1 has no reply: the model's server answered 503: down", retryable: true });
    expect(asked).toHaveLength(3);
  });

  it('waits as long as the server asks, and not at all for one that asks too much', async () => {
    const soon = await ask(
      first((response) => refuse(response, 429, 'slow down', { 'retry-after': '0.4' })),
      { retry: { firstDelayMs: 1, maxDelayMs: 5000 } },
    );
    expect(soon.reply).toMatchObject({ text: TEXT });
    expect(soon.ms).toBeGreaterThan(390);
    const late = await ask((response) => refuse(response, 429, 'slow down', { 'retry-after': '3600' }));
    expect(late.error?.message).toContain('answered 429: slow down');
    expect(late.asked).toHaveLength(1);
  });

  it('tries again when the stream breaks off in the middle, and counts what was lost', async () => {
    const { reply, asked } = await ask(
      first(async (response) => {
        begin(response);
        response.write(event({ content: 'half a rep' }));
        await new Promise((done) => setTimeout(done, 30));
        response.destroy();
      }),
      {},
      { system: '', prompt: 'y'.repeat(40) },
    );
    expect(reply).toMatchObject({ text: TEXT, tokens: 42 + 10 + 3 });
    expect(asked).toHaveLength(2);
  });

  it('tries again when a stream ends without its end', async () => {
    const { reply, asked } = await ask(
      first((response) => {
        begin(response);
        response.end(event({ content: 'half a rep' }));
      }),
    );
    expect(reply).toMatchObject({ text: TEXT });
    expect(asked).toHaveLength(2);
  });

  it('issue 18: lets other work of the host have its turn, however many events of a reply come at once', async () => {
    const body = event({ content: 'x' }).repeat(1_000);
    const rounds = { count: 0, over: false };
    const more = (): void => {
      rounds.count += 1;
      if (!rounds.over) setImmediate(more);
    };
    const mocked = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => {
      setImmediate(more);
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    });
    onTestFinished(() => mocked.mockRestore());
    const agent = openaiAgent({ model: 'm', baseUrl: 'http://127.0.0.1:1/v1', retry: { retries: 0 } });
    // Without a last event the reply counts as broken off, after all others were read.
    await expect(agent.reply(requestOf())).rejects.toMatchObject({ code: 'ERR_AGENT' });
    rounds.over = true;
    expect(rounds.count).toBeGreaterThanOrEqual(Math.floor(body.length / 4096));
  });

  it('fails when nobody listens, after trying again', async () => {
    const server = await modelServer(() => {});
    await server[Symbol.asyncDispose]();
    const agent = openaiAgent({ model: 'm', baseUrl: server.baseUrl, retry: { ...QUICK, retries: 1 } });
    await expect(agent.reply(requestOf())).rejects.toMatchObject({
      code: 'ERR_AGENT',
      message: expect.stringMatching(/^turn 1 has no reply: /),
    });
  });

  it.each<readonly [string, Answer]>([
    ['JSON that is none', (response) => response.end('data: {"choices": [{"del\n\n')],
    ['another shape', (response) => response.end('data: {"choices": "many"}\n\ndata: [DONE]\n\n')],
    ['an error in the stream', (response) => response.end('data: {"error":{"message":"overloaded"}}\n\ndata: [DONE]\n\n')],
  ])('fails with a type, and once, when the stream holds %s', async (_, answer) => {
    const { error, asked } = await ask((response, ...rest) => {
      begin(response);
      return answer(response, ...rest);
    });
    expect(error).toMatchObject({ code: 'ERR_AGENT', reason: 'ERR_AGENT' });
    expect(asked).toHaveLength(1);
  });

  it('fails with a type when the server answers with a page', async () => {
    const { error } = await ask((response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>'), {
      retry: { ...QUICK, retries: 0 },
    });
    expect(error).toMatchObject({ code: 'ERR_AGENT' });
  });

  it('gives up a reply that drips', async () => {
    const { error, asked, ms } = await ask(
      (response) => {
        begin(response);
        const drip = setInterval(() => response.write(event({ content: '.' })), 20);
        response.on('close', () => clearInterval(drip));
      },
      { timeoutMs: 400 },
    );
    expect(error).toMatchObject({ reason: 'ERR_TIMEOUT', retryable: false, message: expect.stringContaining('within 400 ms') });
    expect(error?.tokens).toBeGreaterThan(0);
    expect(asked).toHaveLength(1);
    expect(ms).toBeLessThan(5000);
  });

  it('gives up a server that never answers', async () => {
    const { error } = await ask(() => {}, { timeoutMs: 300 });
    expect(error).toMatchObject({ reason: 'ERR_TIMEOUT', retryable: true });
  });

  it('takes of a reply that never ends no more than is refused for its size, and closes the connection', async () => {
    const { reply } = await ask((response) => {
      begin(response);
      const piece = event({ content: 'x'.repeat(10_000) });
      const pour = (): void => {
        while (response.write(piece));
        response.once('drain', pour);
      };
      pour();
    });
    const length = (reply as { text: string }).text.length;
    expect(length).toBeGreaterThan(1_048_576);
    expect(length).toBeLessThan(1_048_576 + 20_000);
  });

  it('gives up a line that never ends, in bounded memory', async () => {
    let sent = 0;
    const { error } = await ask((response) => {
      begin(response);
      const pour = (): void => {
        do sent += 65_536;
        while (response.write('x'.repeat(65_536)));
        response.once('drain', pour);
      };
      pour();
    });
    expect(error?.message).toContain('too large');
    expect(sent).toBeLessThan(16 * 1024 * 1024);
  }, 30_000);

  it.each([
    ['of many lines', `data: {"choices":[],"x":[{}\n${'data: ,{},{},{},{}\n'.repeat(20_000)}data: ]}\n\n`],
    ['that nests deep', `data: {"choices":${'['.repeat(200_000)}${']'.repeat(200_000)}}\n\n`],
    ['with many calls of tools', event({ tool_calls: Array.from({ length: 6000 }, (_, id) => call(id)) })],
  ])('finding 8: gives up an event %s before anything parses it', async (_, text) => {
    const { error } = await ask((response) => {
      begin(response);
      response.end(`${text}${event({}, 'stop')}`);
    });
    expect(error?.message).toContain('nests too deep, or has too many values');
  });

  it('finding 8: gives up a reply of many calls of tools, because the SDK compares each with all others', async () => {
    const { error } = await ask((response) => {
      begin(response);
      for (let id = 0; id < 5000; id++) response.write(event({ tool_calls: [call(id)] }));
      response.end(event({}, 'stop'));
    });
    expect(error?.message).toContain('the model calls tools, and none is offered');
  });

  it('finding 8: reads only the beginning of a refusal, and keeps its status', async () => {
    const body = `{"error":{"message":"no"},"x":[{}${',{}'.repeat(100_000)}]}`;
    const { error } = await ask((response) => response.writeHead(400).end(body));
    expect(error?.message).toBe("turn 1 has no reply: the model's server answered 400: Bad Request");
  });

  it('never shows the key, also when the server repeats it', async () => {
    const { error } = await ask((response, { authorization }) => refuse(response, 401, `wrong key: ${authorization}`));
    expect(error?.message).toContain('wrong key: Bearer [key]');
    const seen = new Set<unknown>();
    for (let at: unknown = error; at instanceof Error && !seen.has(at); at = at.cause) {
      seen.add(at);
      expect(JSON.stringify({ ...at, message: at.message, stack: at.stack })).not.toContain(KEY);
    }
  });

  it('never shows a part of the key either, where a long message is cut', async () => {
    for (const before of [450, 455, 460]) {
      const { error } = await ask((response) => refuse(response, 401, `${'x'.repeat(before)} ${KEY}`));
      expect(error?.message).not.toContain(KEY.slice(0, 4));
    }
  });

  it('does not follow a redirection, which would take the prompt elsewhere', async () => {
    await using other = await modelServer((response) => speak(response, TEXT));
    const { error, asked } = await ask((response) => response.writeHead(307, { location: other.baseUrl }).end());
    expect(error?.message).toContain('redirections are not followed');
    expect([asked.length, other.asked.length]).toEqual([1, 0]);
  });

  it('stops at once when the session is cancelled, also between two tries', async () => {
    const stop = new AbortController();
    const answer: Answer = (response) => {
      refuse(response, 503, 'down');
      setTimeout(() => stop.abort(), 50);
    };
    const { error, asked, ms } = await ask(
      answer,
      { retry: { firstDelayMs: 20_000, maxDelayMs: 30_000 } },
      { signal: stop.signal },
    );
    expect(error).toMatchObject({ code: 'ERR_AGENT' });
    expect(asked).toHaveLength(1);
    expect(ms).toBeLessThan(10_000);
  });

  it.each([
    [{ model: '' }],
    [{ baseUrl: 'ftp://x/v1' }],
    [{ baseUrl: 'nonsense' }],
    [{ baseUrl: 'http://user:pass@127.0.0.1/v1' }],
    [{ apiKey: 'line\nfeed' }],
    [{ timeoutMs: -1 }],
    [{ maxOutputTokens: 0 }],
    [{ temperature: Number.NaN }],
    [{ retry: { retries: -1 } }],
    [{ retry: { tries: 1 } }],
    [{ apikey: KEY }],
  ])('refuses %j, and does not repeat a key', (options) => {
    const make = () => openaiAgent({ model: 'm', baseUrl: 'http://127.0.0.1:1/v1', ...options } as OpenaiAgentOptions);
    expect(make).toThrow(ConfigError);
    expect(make).not.toThrow(/pass@|line/);
  });

  it('takes any model object of the AI SDK, and no name, which would go to a gateway', () => {
    expect(() => modelAgent('vendor/model' as never)).toThrow(ConfigError);
  });
});
