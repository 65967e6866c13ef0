import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defineTool, loadMockTools, recordTools, type ToolDefinition, ToolError } from '../../src/tools/index.ts';
import { isSecretName, withoutSecrets } from '../../src/tools/mock/secrets.ts';
import { encode } from '../../src/wire/codec.ts';
import type { JournalEntry, JournalOutcome } from '../../src/wire/journal.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { Bench, SITE } from './probe.ts';

const price = defineTool({
  name: 'tool.shop.Price',
  description: 'Price: of "one" # item',
  args: [
    { name: 'item', type: 'string' },
    { name: 'count', type: 'int', default: 1 },
  ],
  effects: 'read',
  capabilities: ['shop:read'],
  run: ({ item, count }) => {
    if (item === 'gold') throw new ToolError(9, "we do not sell 'gold'");
    return { item, total: count * 3.5 };
  },
});

let seq = 0;
function entry(name: string, args: readonly TaggedJson[], outcome: JournalOutcome): JournalEntry {
  return { kind: 'tool', seq: ++seq, name, args, at: SITE, outcome, begin: 0, ms: 1 };
}

/** Makes real calls, and gives what each of them came to and the journal of them all. */
async function real(tools: readonly ToolDefinition[], calls: readonly (readonly [string, readonly unknown[]])[]) {
  const bench = new Bench(tools, { policy: { allow: ['*'], grants: ['*:*'] } });
  const replies = [];
  for (const [name, args] of calls) replies.push(await bench.call(name, args));
  return { replies, journal: bench.dispatcher.finish(null).entries };
}

const CALLS: readonly (readonly [string, readonly unknown[]])[] = [
  ['tool.shop.price', ['tea']],
  ['tool.shop.price', ['tea', 2]],
  ['tool.shop.price', ['tea', '2']],
  ['tool.shop.price', ['gold']],
  ['tool.shop.price', []],
  ['tool.shop.price', [null]],
  ['tool.shop.price', ['tea', 1, 'surplus']],
  ['tool.shop.price', ['tea']],
];

describe('a recording', () => {
  it('answers the calls that were made as they were answered, failures and refusals included', async () => {
    const { replies, journal } = await real([price], CALLS);
    const { text, calls } = recordTools(journal, [price]);
    expect(calls).toBe(CALLS.length);
    const replayed = await real(loadMockTools(text, 'calls.yaml'), CALLS);
    expect(replayed.replies).toEqual(replies);
    expect(replayed.journal.map(({ begin: _, ms: __, ...rest }) => rest)).toEqual(
      journal.map(({ begin: _, ms: __, ...rest }) => rest),
    );
  });

  it('is written for people', async () => {
    const { journal } = await real([price], [...CALLS.slice(0, 2), ['tool.shop.price', ['gold']], ['tool.shop.price', ['tea']]]);
    expect(recordTools(journal, [price]).text.split('\n').slice(2).join('\n')).toBe(`tools:
  tool.shop.Price:
    description: "Price: of \\"one\\" # item"
    args: ["item?", "count?"]
    effects: read
    capabilities: ["shop:read"]
    cases:
      - when: { "item": "tea", "count": null }
        returns: { "item": "tea", "total": 3.5 }
        times: 2
      - when: { "item": "tea", "count": 2 }
        returns: { "item": "tea", "total": 7 }
        times: 1
      - when: { "item": "gold", "count": null }
        throws: { "code": 9, "message": "we do not sell 'gold'" }
        times: 1
`);
  });

  it('the same call with different answers is a sequence, and one call more than was recorded is an error', async () => {
    let count = 0;
    const next = defineTool({ name: 'tool.t.Next', run: () => ++count });
    const call = ['tool.t.next', []] as const;
    const { journal } = await real([next], [call, call]);
    const replayed = await real(loadMockTools(recordTools(journal, [next]).text, 'f'), [call, call, call]);
    expect(replayed.replies).toEqual([
      { t: 'ok', value: 1 },
      { t: 'ok', value: 2 },
      {
        t: 'error',
        code: 21,
        message:
          'the mock tool.t.Next expects no call with no arguments; the nearest is case 1 of 1, which has given all its answers already',
      },
    ]);
  });

  it('is under the same policy as the real tools', () => {
    const careful = defineTool({
      name: 'tool.t.Pay',
      capabilities: ['pay:use:eu'],
      requiresTrust: true,
      requiresApproval: true,
      run: () => 1,
    });
    const { text } = recordTools([entry('tool.t.pay', [], { ok: true, value: 1 })], [careful]);
    const [again] = loadMockTools(text, 'f');
    const facts = ({ capabilities, effects, requiresTrust, requiresApproval }: ToolDefinition) => ({
      capabilities,
      effects,
      requiresTrust,
      requiresApproval,
    });
    expect(again === undefined ? null : facts(again)).toEqual(facts(careful));
  });

  it('any values come back as they were', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue(), async (argument, result) => {
        // As a script would hold it: tagged, so that a key of its own may start with $ or be __proto__.
        const [arg, value] = [encode(argument), encode(result)];
        const tool = defineTool({ name: 'tool.t.Any', args: [{ name: 'a', required: false }], run: () => null });
        const { text, redacted } = recordTools([entry('tool.t.any', [arg], { ok: true, value })], [tool]);
        fc.pre(redacted === 0);
        expect(await new Bench(loadMockTools(text, 'f')).call('tool.t.any', [argument])).toEqual({ t: 'ok', value });
      }),
      { numRuns: 150 },
    );
  });

  it('leaves out tools that it was not made for, prompts, and calls without an answer, and counts those', () => {
    const halted = {
      kind: 'quota',
      code: 'ERR_QUOTA',
      nsCode: null,
      name: 'Quota',
      message: 'm',
      source: null,
      line: null,
      column: null,
      stack: [],
    } as const;
    const { text, calls, unanswered } = recordTools(
      [
        entry('tool.aeiou.magic', ['LOOP'], { ok: true, value: 'token' }),
        entry('tool.nobody.knows', [], { ok: false, code: 3, message: 'not found' }),
        { kind: 'prompt', seq: 1, text: 'q', at: SITE, outcome: { ok: true, value: 'a' }, begin: 0, ms: 1 },
        entry('tool.shop.price', ['x'], { ok: false, halted }),
        entry('tool.shop.price', ['y'], { ok: false, halted: { ...halted, kind: 'timeout', code: 'ERR_TIMEOUT' } }),
      ],
      [price],
    );
    expect({ calls, unanswered }).toEqual({ calls: 1, unanswered: 1 });
    expect(text).toContain('delayMs: "never"');
    expect(text).not.toMatch(/magic|nobody|"x"/);
    expect(loadMockTools(text, 'f')).toHaveLength(1);
    expect(loadMockTools(recordTools([], [price]).text, 'f')).toEqual([]);
  });
});

describe('secrets in a recording', () => {
  it('finding 13: are found by the same forms as with patterns that go back', () => {
    const forms = [
      /\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*/,
      /\b(?:sk|pk|rk)[-_](?:[a-z]+[-_])*[A-Za-z0-9]{16,}/,
      /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]+:[^\s/@]+@/i,
    ];
    const long = 'a'.repeat(16);
    const pieces = [
      'sk',
      'rk',
      '-',
      '_',
      'a',
      'Z9',
      long,
      long.toUpperCase(),
      'eyJ',
      'abcde',
      '.',
      '://',
      ':',
      '@',
      '/',
      ' ',
      '+',
      '1',
      'é',
    ];
    const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 14 }).map((parts) => parts.join(''));
    const property = fc.property(texts, (text) => {
      expect(withoutSecrets(text).found).toBe(Number(forms.some((form) => form.test(text))));
    });
    fc.assert(property, { numRuns: 20_000, seed: 1 });
  });

  it('are known by the name of what holds them', () => {
    const secret = [
      'password',
      'apiKey',
      'api_key',
      'API-KEY',
      'accessToken',
      'Authorization',
      'x-auth',
      'clientSecret',
      'Set-Cookie',
      'privateKey',
      'awsCredentials',
    ];
    const plain = ['path', 'tokens', 'keyboard', 'key', 'author', 'secretary', 'tokenCount', 'cookies_ok', 'monkey'];
    expect([secret.filter((name) => !isSecretName(name)), plain.filter(isSecretName)]).toEqual([[], []]);
  });

  it('and by their form', () => {
    const forms = [
      'Authorization: Bearer abcdefgh12345678',
      'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln',
      `sk-proj-${'a1'.repeat(12)}`,
      `ghp_${'A'.repeat(36)}`,
      '-----BEGIN EC PRIVATE KEY-----\nMHc',
      'postgres://app:hunter2@db/x',
      'at_a.postgres://app:hunter2@db/x',
    ];
    expect(forms.filter((text) => withoutSecrets({ note: [text] }).found !== 1)).toEqual([]);
    expect(
      ['skip this', 'https://example.org/a:b@c', 'at_postgres://app:hunter2@db/x', 'Basic facts', 'eyJ'].filter(
        (text) => withoutSecrets(text).found > 0,
      ),
    ).toEqual([]);
  });

  it('are not written, wherever they stand, and the recording still answers', async () => {
    const login = defineTool({
      name: 'tool.t.Login',
      args: [{ name: 'user' }, { name: 'password', required: false }],
      run: () => null,
    });
    const value = { session: { token: 's3cr3t-2' }, list: ['Bearer s3cr3t-3s3cr3t'], ok: true };
    const { text, redacted } = recordTools(
      [
        entry('tool.t.login', ['ann', 's3cr3t-1'], { ok: true, value }),
        entry('tool.t.login', [{ apiKey: 's3cr3t-4' }], { ok: false, code: 9, message: 'Bearer s3cr3t-5s3cr3t' }),
        entry('tool.t.login', ['ann'], { ok: true, value: 1 }),
      ],
      [login],
    );
    expect(text).not.toContain('s3cr3t');
    expect(redacted).toBe(5);
    const bench = new Bench(loadMockTools(text, 'f'));
    // The call that names all its arguments is not taken for the one whose argument was secret.
    expect(await bench.call('tool.t.login', ['ann'])).toEqual({ t: 'ok', value: 1 });
    expect(await bench.call('tool.t.login', ['ann', 'other'])).toEqual({
      t: 'ok',
      value: { session: { token: '<redacted>' }, list: ['<redacted>'], ok: true },
    });
    expect(await bench.call('tool.t.login', [{ apiKey: 'x' }])).toMatchObject({ t: 'error', code: 9, message: '<redacted>' });
  });
});
