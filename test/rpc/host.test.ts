import { PassThrough } from 'node:stream';
import { setImmediate as nextRound } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { MESSAGE_BYTES } from '../../src/rpc/messages.ts';
import { MOST_REQUESTS, MOST_UNREAD, Peer } from '../../src/rpc/peer.ts';
import { reply } from '../loop/fake.ts';
import { Client, type Message } from './client.ts';

const block = (...lines: readonly string[]): string => `command\n${lines.join('\n')}\nendcommand`;
const FIND = {
  name: 'tool.crm.Find',
  description: 'Finds a person.',
  inputSchema: {
    type: 'object',
    properties: { name: { type: 'string' }, most: { type: 'integer', default: 3 } },
    required: ['name'],
  },
  effects: 'read',
};
const ENDLESS = { src: block('while true', 'set x = 1', 'endwhile'), limits: { fuel: 1_000_000_000_000 } };

async function initialized(params: object = { tools: [FIND] }): Promise<Client> {
  const client = new Client();
  expect((await client.ask('init', 'initialize', params)).result).toMatchObject({ protocol: 1, limits: { toolCalls: 1000 } });
  return client;
}

describe('programs over JSON-RPC', () => {
  it('a run calls the tools of its client, by name and with defaults, and hands on its output as it comes', async () => {
    await using client = await initialized();
    const seen: Message[] = [];
    const src = block('emit tool.crm.Find("Ada")', 'emit {"10": 1, "2": nil}', 'whisper self, "note"');
    const { result } = await client.ask(7, 'run', { src, session: 's-1' }, (message) => {
      seen.push(message);
      if (message.method === 'tool.call') client.send({ id: message.id, result: { $bytes: 'AP8=' } });
    });
    expect(seen[0]).toMatchObject({
      method: 'tool.call',
      params: { id: 7, name: 'tool.crm.Find', args: { name: 'Ada', most: 3 }, session: 's-1' },
    });
    expect(seen.slice(1).map(({ method, params }) => [method, params])).toEqual([
      ['output', { id: 7, kind: 'emit', text: expect.any(String), value: { $bytes: 'AP8=' } }],
      ['output', { id: 7, kind: 'emit', text: '{"10": 1, "2": nil}', value: { 10: 1, 2: null } }],
      ['output', { id: 7, kind: 'whisper', to: 'default_self_buffer', text: 'note' }],
    ]);
    expect(result).toMatchObject({ id: 7, ok: true, values: [{ $bytes: 'AP8=' }, { 10: 1, 2: null }], usage: { toolCalls: 1 } });
    expect(JSON.stringify(seen)).not.toContain('"key"');
  });

  it('an error of a tool has the code and the hint that its client gives; one without them is code 21', async () => {
    await using client = await initialized();
    const answers = [
      { code: 1, message: 'no such person', data: { nsCode: 9, hint: 'List() names all' } },
      { code: 1, message: 'broken' },
      'nonsense',
      { code: 1, message: 'own', data: { nsCode: 99_899 } },
      { code: 1, message: 'quarantined', data: { nsCode: 99_905 } },
      ...[99_999, 99_900, 44, 1.5, -1, '9'].map((nsCode) => ({ code: 1, message: `not ${nsCode}`, data: { nsCode } })),
    ];
    for (const [index, error] of answers.entries()) {
      const { result } = await client.ask(index, 'run', { src: block('emit tool.crm.Find("Ada")') }, ({ id }) =>
        client.send({ id, error }),
      );
      expect(result).toMatchObject({
        ok: false,
        error: [
          { code: 'NS9', message: 'no such person', hint: 'List() names all' },
          { code: 'NS21', message: expect.stringContaining('broken') },
          { code: 'NS21', message: expect.stringContaining('without a message') },
          { code: 'NS99899', message: 'own' },
          { code: 'NS99905', message: 'quarantined' },
        ][index] ?? {
          code: 'NS21',
          message: expect.stringMatching(/^not .* \(the client gave the code .* from 1000 to 99899\)$/),
        },
      });
    }
  });

  it('a call that had no effect is made again when the client says so', async () => {
    await using client = await initialized();
    const answers = [{ error: { code: 1, message: 'away', data: { nsCode: 1002, retryAfterMs: 1 } } }, { result: 7 }];
    const { result } = await client.ask(1, 'run', { src: block('emit tool.crm.Find("Ada")') }, ({ id }) =>
      client.send({ id, ...answers.shift() }),
    );
    expect(result).toMatchObject({ ok: true, values: [7], usage: { toolCalls: 1 } });
  });

  it('what is not JSON of a value is refused as the answer of a tool', async () => {
    await using client = await initialized();
    const { result } = await client.ask(1, 'run', { src: block('emit tool.crm.Find("Ada")') }, ({ id }) =>
      client.send({ id, result: { $num: 'seven' } }),
    );
    expect(result).toMatchObject({ ok: false, error: { code: 'NS21' } });
  });

  it.each([
    ['has neither result nor error', {}, "the client's answer cannot be read: a message has a method, a result or an error"],
    ['is of another version', { jsonrpc: '1.0', result: 1 }, 'a message has "jsonrpc": "2.0"'],
  ])('an answer that %s fails its call at once', async (_, answer, words) => {
    await using client = await initialized();
    const { result } = await client.ask(1, 'run', { src: block('emit tool.crm.Find("Ada")') }, ({ id }) =>
      client.send({ id, ...answer }),
    );
    expect(result).toMatchObject({ ok: false, error: { code: 'NS21', message: expect.stringContaining(words) } });
  });

  it('an answer or a request that is too large to be read fails alone, when it begins with its id', async () => {
    await using client = await initialized();
    const deep = `${'['.repeat(2000)}${']'.repeat(2000)}`;
    const { result } = await client.ask(1, 'run', { src: block('emit tool.crm.Find("Ada")') }, ({ id }) =>
      client.line(`{"jsonrpc": "2.0", "id": ${JSON.stringify(id)}, "result": ${deep}}`),
    );
    expect(result).toMatchObject({ ok: false, error: { code: 'NS21', message: expect.stringContaining('nests too deep') } });
    client.line(`{"jsonrpc":"2.0","id":2,"method":"run","params":${deep}}`);
    expect(await client.next()).toMatchObject({ id: 2, error: { code: -32600 } });
  });

  it('requests are served together, and one that is cancelled ends and cancels its call', async () => {
    await using client = await initialized();
    client.send({ id: 1, method: 'run', params: ENDLESS });
    client.send({ id: 2, method: 'run', params: { src: block('emit tool.crm.Find("Ada")') } });
    const call = await client.next();
    expect(call).toMatchObject({ method: 'tool.call', params: { id: 2 } });
    expect((await client.ask(3, 'run', { src: block('emit 3') }, () => {})).result).toMatchObject({ ok: true });
    const seen: Message[] = [];
    expect((await client.ask(4, 'cancel', { id: 2 }, (message) => seen.push(message))).result).toBe(true);
    expect((await client.ask(5, 'cancel', { id: 1 }, (message) => seen.push(message))).result).toBe(true);
    while (seen.filter(({ id }) => id === 1 || id === 2).length < 2) seen.push(await client.next());
    expect(seen.find(({ method }) => method === 'cancel')?.params).toEqual({ id: call.id });
    for (const id of [1, 2])
      expect(seen.find((message) => message.id === id)?.result).toMatchObject({ error: { code: 'ERR_CANCELLED' } });
    expect((await client.ask(6, 'cancel', { id: 1 })).result).toBe(false);
    // An answer that comes too late has no place.
    client.send({ id: call.id, result: 1 });
    expect((await client.ask(7, 'run', { src: block('emit 7') })).result).toMatchObject({ ok: true });
  });

  it('limits and policies only tighten', async () => {
    await using client = await initialized({
      tools: [FIND],
      policy: { allow: ['tool.crm.*'] },
      limits: { toolCalls: 1000, fuel: 500 },
    });
    expect((await client.ask(1, 'run', ENDLESS)).result).toMatchObject({
      error: { code: 'ERR_QUOTA', limit: 'fuel', allowed: 500 },
    });
    const denied = { src: block('emit tool.crm.Find("Ada")'), policy: { deny: ['tool.crm.find'] } };
    expect((await client.ask(2, 'run', denied)).result).toMatchObject({ error: { code: 'NS1003' } });
  });

  it('check and foresee tell what they know without running anything', async () => {
    await using client = await initialized();
    expect((await client.ask(1, 'check', { src: block('let x = 1') })).result).toMatchObject({
      findings: [{ code: 'NS15', line: 2, fix: { safe: true } }],
    });
    expect((await client.ask(2, 'foresee', { src: block('call tool.crm.Find("Ada")') })).result).toMatchObject({
      ok: true,
      calls: [{ name: 'tool.crm.find', most: 1, verdict: { allowed: true } }],
    });
    expect((await client.ask(3, 'foresee', { src: 'command' })).result).toMatchObject({ ok: false, errors: [{ code: 'NS15' }] });
  });
});

describe('sessions and turns over JSON-RPC', () => {
  const DONE = 'emit tool.aeiou.magic("LOOP", {"action": "done"})';

  it('a session asks the client for programs, and its calls have keys', async () => {
    await using client = await initialized();
    const programs = [block('let p = 1', DONE), block('emit tool.crm.Find("Ada")', DONE)];
    const seen: Message[] = [];
    const { result } = await client.ask(1, 'session.run', { userdata: { subject: 's', fields: {} }, sid: 'sid-1' }, (message) => {
      seen.push(message);
      const answer = message.method === 'agent.reply' ? { text: reply(programs.shift() ?? ''), tokens: 5 } : 'found';
      client.send({ id: message.id, result: answer });
    });
    expect(seen.map(({ method, params }) => [method, params?.['id'], params?.['attempt'] ?? params?.['key']])).toEqual([
      ['agent.reply', 1, 1],
      ['agent.reply', 1, 2],
      ['tool.call', 1, expect.stringContaining('sid-1')],
    ]);
    expect(seen[1]?.params).toMatchObject({ prompt: expect.stringContaining('set p = 1') });
    expect(result).toMatchObject({ sid: 'sid-1', decision: 'DONE', turns: [{ agent: { asks: 2, tokens: 10 } }] });
  });

  it.each([
    ['an error', { error: { code: 1, message: '401 Unauthorized' } }, '401 Unauthorized'],
    ['no text', { result: { tokens: 5 } }, 'reply'],
    ['negative tokens', { result: { text: 'x', tokens: -1 } }, 'at least 0'],
  ])('an agent that gives %s ends its session', async (_, answer, words) => {
    await using client = await initialized();
    const { result } = await client.ask(1, 'session.run', { userdata: { subject: 's', fields: {} } }, ({ id }) =>
      client.send({ id, ...answer }),
    );
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_AGENT', error: { message: expect.stringContaining(words) } });
  });

  it('a call that waits for a person is completed, and the session resumed', async () => {
    await using client = await initialized({ tools: [{ ...FIND, effects: 'write', requiresApproval: true }] });
    const answer = ({ id, method }: Message) =>
      client.send({ id, result: method === 'agent.reply' ? reply(block('emit tool.crm.Find("Ada")', DONE)) : 'found' });
    const { result } = await client.ask(1, 'session.run', { userdata: { subject: 's', fields: {} }, maxReasks: 0 }, answer);
    expect(result).toMatchObject({ decision: 'HALT' });
    expect((await client.ask(2, 'session.resume', { sid: 'nobody' }, answer)).error?.data).toEqual({ code: 'ERR_SESSION_STATE' });
    expect((await client.ask(3, 'session.cancel', { sid: 'nobody' })).result).toBe(false);
    expect((await client.ask(4, 'session.complete', { sid: 'nobody', call: 'c', answer: {} })).error?.code).toBe(-32602);
    expect((await client.ask(5, 'session.end', { session: 's-1' })).result).toBe(null);
  });

  it('a turn is executed and decided', async () => {
    await using client = await initialized();
    const turn = { envelope: reply(block('emit "out"', DONE), '{"subject":"s","fields":{}}'), sid: 'sid-2', turn: 2 };
    expect((await client.ask(1, 'turn', turn)).result).toMatchObject({ sid: 'sid-2', turn: 2, decision: 'DONE' });
    expect((await client.ask(2, 'turn', { ...turn, nonce: '!' })).error?.code).toBe(-32602);
  });
});

describe('clients that do wrong', () => {
  const USAGE = { code: 'ERR_USAGE' };

  it('a request that comes while the runtime starts waits for it', async () => {
    await using client = new Client();
    client.send({ id: 'init', method: 'initialize', params: {} });
    const seen: Message[] = [];
    expect((await client.ask(1, 'run', { src: block('emit 1') }, (message) => seen.push(message))).result).toMatchObject({
      ok: true,
    });
    expect(seen[0]).toMatchObject({ id: 'init', result: { protocol: 1 } });
  });

  it('a request before initialize, a second one, and a wrong one are refused', async () => {
    await using client = new Client();
    expect((await client.ask(1, 'run', { src: '' })).error).toMatchObject({ code: -32002, data: USAGE });
    const wrong = await client.ask(2, 'initialize', { tools: [{ ...FIND, colour: 'red' }] });
    expect(wrong.error).toMatchObject({ code: -32602, message: expect.stringContaining('tools[0].colour: unknown key') });
    expect((await client.ask(3, 'initialize', { tools: [{ name: 'no tool' }] })).error).toMatchObject({
      code: -32602,
      data: { code: 'ERR_CONFIG' },
    });
    expect((await client.ask(4, 'initialize', { policy: { allows: [] } })).error).toMatchObject({ code: -32602 });
    expect((await client.ask(5, 'initialize')).result).toMatchObject({ protocol: 1 });
    expect((await client.ask(6, 'initialize')).error).toMatchObject({ code: -32600, data: USAGE });
  });

  it.each([
    ['not JSON', 'nonsense', -32700],
    ['not UTF-8', Buffer.from([0xff]), -32700],
    ['a batch', '[]', -32600],
    ['a number', '7', -32600],
    ['no version', '{"id":null,"method":"run"}', -32600],
    ['a fractional id', '{"jsonrpc":"2.0","id":1.5,"method":"run"}', -32600],
    ['neither method nor answer', '{"jsonrpc":"2.0"}', -32600],
    ['too deep', `{"jsonrpc":"2.0","params":${'['.repeat(2000)}${']'.repeat(2000)}}`, -32600],
    ['too long', Buffer.alloc(MESSAGE_BYTES + 1, 0x20), -32600],
    ['too deep, with an id that is no JSON', `{"jsonrpc":"2.0","id":007,"params":${'['.repeat(2000)}`, -32600],
  ])('a line that is %s is answered, and the connection goes on', async (_, line, code) => {
    await using client = new Client();
    client.line(line);
    expect(await client.next()).toMatchObject({ id: null, error: { code, data: USAGE } });
    expect((await client.ask(1, 'initialize')).result).toMatchObject({ protocol: 1 });
  });

  it('an unknown method, the name of an object, wrong parameters and a used id are refused', async () => {
    await using client = await initialized();
    expect((await client.ask(1, 'nope')).error).toMatchObject({ code: -32601, data: USAGE });
    expect((await client.ask(2, 'toString')).error?.code).toBe(-32601);
    const wrong = await client.ask(3, 'run', { src: '', sauce: 1 });
    expect(wrong.error).toMatchObject({ message: expect.stringContaining('sauce: unknown key'), data: USAGE });
    expect((await client.ask(4, 'run', { src: 7 })).error?.message).toContain('src: must be a text');
    expect((await client.ask(5, 'run', { src: '', globals: { 'a b': 1 } })).error?.code).toBe(-32602);
    client.send({ id: 6, method: 'run', params: ENDLESS });
    client.send({ id: 6, method: 'run', params: ENDLESS });
    expect(await client.next()).toMatchObject({ id: 6, error: { code: -32600 } });
  });

  it('more open requests than are allowed are refused, and the others go on', async () => {
    await using client = await initialized();
    for (let id = 0; id <= MOST_REQUESTS; id += 1)
      client.send({ id, method: 'run', params: { src: block('emit tool.crm.Find("Ada")') } });
    const refused: Message[] = [];
    while (refused.length === 0) {
      const message = await client.next();
      if (message.error !== undefined) refused.push(message);
    }
    expect(refused[0]).toMatchObject({ id: MOST_REQUESTS, error: { data: { code: 'ERR_BUSY' } } });
  });

  it('one that reads nothing is hung up on before its output fills the memory, and what it began ends', async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const peer = new Peer({ input, output }, () => async (_params, { signal }) => {
      const part = JSON.stringify('x'.repeat(MOST_UNREAD / 8));
      for (let most = 9; most > 0 && !signal.aborted; most -= 1) {
        peer.notifyJson('output', part);
        await nextRound();
      }
      return String(signal.aborted);
    });
    const served = peer.serve(new AbortController().signal);
    input.write('{"jsonrpc":"2.0","id":1,"method":"run"}\n');
    await served;
    expect(output.destroyed).toBe(true);
  });

  it('what a client began ends when it hangs up, also in the middle of a call', async () => {
    await using client = await initialized();
    client.send({ id: 1, method: 'run', params: ENDLESS });
    client.send({ id: 2, method: 'run', params: { src: block('emit tool.crm.Find("Ada")') } });
    expect(await client.next()).toMatchObject({ method: 'tool.call' });
    await client.hangUp();
  });
});
