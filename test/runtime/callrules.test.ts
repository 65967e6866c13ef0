import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createRuntime, defineTool, type PolicyOptions, ToolError } from '../../src/entries/index.ts';
import { definePure } from '../../src/tools/index.ts';

const made: string[] = [];
const tool = (name: string, args: readonly string[] = [], run: () => unknown = () => null) =>
  defineTool({
    name,
    args: args.map((each) => ({ name: each, type: 'any', required: false }) as const),
    run: async () => {
      made.push(name);
      return run();
    },
  });
const TOOLS = [
  tool('tool.mail.Send', ['to', 'body']),
  tool('tool.pay.Quote'),
  tool('tool.pay.Transfer', ['amount', 'currency']),
  tool('tool.web.Get'),
  tool('tool.web.Slow', [], () => sleep(20)),
  tool('tool.web.Fails', [], () => {
    throw new ToolError(6, 'it is not there');
  }),
  tool('tool.db.Write', ['rows']),
  defineTool({
    name: 'tool.any.Calls',
    args: [{ name: 'tool', type: 'string' }],
    run: ({ tool: name }, runtime) => runtime.callTool(name, []),
  }),
  // As the tools of MCP servers are: all arguments stand in one map.
  defineTool({
    name: 'tool.hub.Close',
    args: [{ name: 'arguments', type: 'map', required: false }],
    run: () => made.push('tool.hub.Close'),
  }),
];

async function run(policy: PolicyOptions, body: string, session?: string) {
  await using runtime = await createRuntime({ tools: TOOLS, policy: { allow: ['*'], ...policy } });
  made.length = 0;
  return await runtime.run(`command\n${body}\nendcommand`, { ...(session !== undefined && { session }) });
}

const WHEN: PolicyOptions = {
  when: {
    'tool.mail.Send': [{ to: '*@example.com' }, { TO: { in: ['ops@partner.org'] }, body: { maxLength: 5 } }],
    'tool.pay.*': [{ amount: { max: 500 }, currency: { in: ['EUR', null] } }],
    'tool.hub.Close': [{ reason: { in: ['done', null] } }],
  },
};
// Every tool of the pattern must have the argument.
const OF_TRANSFER: PolicyOptions = {
  when: { ...WHEN.when, 'tool.pay.*': undefined as never, 'tool.pay.Transfer': WHEN.when?.['tool.pay.*'] ?? [] },
};
delete (OF_TRANSFER.when as Record<string, unknown>)['tool.pay.*'];

describe('rules about arguments', () => {
  it.each<[call: string, problem: RegExp | null]>([
    ['tool.mail.Send("a@example.com", "any text")', null],
    ['tool.MAIL.send("ops@partner.org", "short")', null],
    ['tool.mail.Send("ops@partner.org", "too long")', /its argument 'body' is "too long"$/],
    [
      'tool.mail.Send("x@evil.org")',
      /^tool 'tool.mail.send' may not be called with these arguments, by policy rule: when tool.mail.Send: its argument 'to' is "x@evil.org"$/,
    ],
    ['tool.mail.Send()', /its argument 'to' is nil$/],
    ['tool.pay.Transfer(500, "EUR")', null],
    ['tool.pay.Transfer(500)', null],
    ['tool.pay.Transfer("500", "EUR")', /its argument 'amount' is "500"$/],
    ['tool.pay.Transfer(500.01)', /its argument 'amount' is 500.01$/],
    ['tool.pay.Transfer(1, "USD")', /its argument 'currency' is "USD"$/],
    ['tool.hub.Close({"reason": "done"})', null],
    ['tool.hub.Close()', null],
    ['tool.hub.Close({"Reason": "spam", "reason": "done"})', /its argument 'reason' is "spam"$/],
    ['tool.hub.Close({"reason": "spam"})', /its argument 'reason' is "spam"$/],
  ])('%s', async (call, problem) => {
    const { ok, error } = await run(OF_TRANSFER, `call ${call}`);
    expect(made).toHaveLength(problem === null ? 1 : 0);
    if (problem === null) expect(ok).toBe(true);
    else expect(error).toMatchObject({ code: 'NS1003', kind: 'policy', message: expect.stringMatching(problem) });
  });

  it('say what would be allowed, and can be handled or end the run', async () => {
    const refused = await run(OF_TRANSFER, 'call tool.mail.Send("x@evil.org")');
    expect(refused.error?.hint).toBe(`allowed: to "*@example.com"; or TO "ops@partner.org", body at most 5 long`);
    const handled = 'on error do\n emit system_error.code\n clear_error\nendon\ncall tool.mail.Send("x@evil.org")\nemit "on"';
    expect(await run(OF_TRANSFER, handled)).toMatchObject({ ok: true, emits: ['1003', 'on'] });
    expect(await run({ ...OF_TRANSFER, onPolicyBreach: 'halt' }, handled)).toMatchObject({
      ok: false,
      emits: [],
      error: { code: 'NS1003' },
    });
  });

  it('hold for calls that tools make, and for a policy of a fork beside that of the runtime', async () => {
    expect((await run(OF_TRANSFER, 'call tool.any.Calls("tool.mail.Send")')).error?.message).toContain("'to' is nil");
    await using runtime = await createRuntime({ tools: TOOLS, policy: { allow: ['*'] } });
    const policy: PolicyOptions = { allow: ['*'], ...OF_TRANSFER };
    const { error } = await runtime.run('command\ncall tool.mail.Send("x")\nendcommand', { policy });
    expect(error?.code).toBe('NS1003');
  });

  it('do not count a refused call for its limit', async () => {
    const body =
      'on error do\n clear_error\nendon\ncall tool.mail.Send("x")\ncall tool.mail.Send("x")\ncall tool.mail.Send("a@example.com")';
    await run({ ...OF_TRANSFER, toolMaxCalls: { 'tool.mail.Send': 1 } }, body);
    expect(made).toEqual(['tool.mail.Send']);
  });

  it.each<[PolicyOptions, RegExp]>([
    [
      { when: { 'tool.mail.Send': [{ too: 'x' }] } },
      /when\.tool\.mail\.Send\[0\]\.too: tool\.mail\.send has the arguments to, body/,
    ],
    [{ when: { 'tool.mail.Sent': [{ to: 'x' }] } }, /there is no tool of this name; did you mean tool\.mail\.send\?/],
    [WHEN, /when\.tool\.pay\.\*\[0\]\.amount: tool\.pay\.quote has no arguments/],
    [{ order: [{ tool: 'tool.pay.Transfer', needs: 'tool.pay.Qote' }] }, /order\[0\]\.needs: .* did you mean tool\.pay\.quote\?/],
    [{ when: { 'tool.p.*': [{ a: 1 }] } }, /when cannot bound tool\.p\.\*: it runs inside the isolate/],
  ])('are refused where they name what no tool has: %j', async (policy, problem) => {
    const pure = definePure('tool.p.Pure', {
      description: 'Pure.',
      args: [],
      returns: 'nil',
      example: ['emit tool.p.Pure()', 'nil'],
    });
    await expect(createRuntime({ tools: [...TOOLS, pure], policy })).rejects.toThrow(problem);
  });

  it('may name tools that a host does not have', async () => {
    expect(
      await run({ when: { 'tool.other.Thing': [{ a: 1 }] }, order: [{ tool: 'tool.other.*', needs: '*' }] }, 'emit 1'),
    ).toMatchObject({ ok: true });
  });
});

const ORDER: PolicyOptions = {
  order: [
    { tool: 'tool.pay.Transfer', needs: 'tool.pay.Quote' },
    { tool: 'tool.db.*', 'not-after': 'tool.web.*' },
  ],
};

describe('rules about order', () => {
  it.each<[body: string, refused: RegExp | null]>([
    ['call tool.pay.Quote()\ncall tool.pay.Transfer(1)', null],
    [
      'call tool.pay.Transfer(1)\ncall tool.pay.Quote()',
      /^tool 'tool.pay.transfer' may not be called now, by policy rule: order tool.pay.Transfer needs tool.pay.Quote: no tool.pay.Quote has been called in this session$/,
    ],
    ['call tool.db.Write(1)\ncall tool.web.Get()', null],
    [
      'call tool.web.Get()\ncall tool.db.Write(1)',
      /order tool.db.\* not-after tool.web.\*: tool.web.get has been called in this session$/,
    ],
    // Calls that failed or were refused do not count.
    ['on error do\n clear_error\nendon\ncall tool.web.Fails()\ncall tool.db.Write(1)\ncall tool.web.Get()', null],
    ['on error do\n clear_error\nendon\ncall tool.web.Unknown()\ncall tool.db.Write(1)', null],
    // Calls of tools count, and those that tools make.
    ['call tool.any.Calls("tool.web.Get")\ncall tool.db.Write(1)', /tool.web.get has been called/],
    ['call tool.web.Get()\ncall tool.any.Calls("tool.db.Write")', /tool.web.get has been called/],
    ['call tool.any.Calls("tool.pay.Quote")\ncall tool.pay.Transfer(1)', null],
    // Calls that run together count in the order of the lines, whichever ends first.
    ['together\ncall tool.web.Slow()\ncall tool.db.Write(1)\nendtogether', /tool.web.slow has been called/],
    ['together\ncall tool.db.Write(1)\ncall tool.web.Get()\nendtogether', null],
    ['together\ncall tool.pay.Quote()\ncall tool.pay.Transfer(1)\nendtogether', null],
    ['together\ncall tool.pay.Transfer(1)\ncall tool.pay.Quote()\nendtogether', /no tool.pay.Quote has been called/],
    ['together\ncall tool.db.Write(1)\ncall tool.any.Calls("tool.web.Get")\nendtogether', null],
    [
      'together\ncall tool.any.Calls("tool.web.Slow")\ncall tool.web.Get()\ncall tool.db.Write(1)\nendtogether',
      /has been called/,
    ],
  ])('%s', async (body, refused) => {
    const { ok, error } = await run(ORDER, body);
    if (refused === null) expect(error).toBeNull();
    else expect(error).toMatchObject({ code: 'NS1003', message: expect.stringMatching(refused) });
    expect(ok).toBe(refused === null);
  });

  it('count the calls of a session in this process, and outside of one those of the run', async () => {
    await using runtime = await createRuntime({ tools: TOOLS, policy: { allow: ['*'], ...ORDER } });
    const one = (call: string, session?: string) =>
      runtime.run(`command\ncall ${call}\nendcommand`, { ...(session !== undefined && { session }) });
    await one('tool.web.Get()', 's');
    expect((await one('tool.db.Write(1)', 's')).error?.code).toBe('NS1003');
    expect((await one('tool.db.Write(1)', 'other')).ok).toBe(true);
    await one('tool.web.Get()');
    expect((await one('tool.db.Write(1)')).ok).toBe(true);
    await runtime.endSession('s');
    expect((await one('tool.db.Write(1)', 's')).ok).toBe(true);
  });

  it('refuse a call about which nobody can be asked', async () => {
    const order = [{ tool: 'tool.db.*', 'not-after': 'tool.web.*', else: 'ask' }] as const;
    const { error } = await run({ order }, 'call tool.web.Get()\ncall tool.db.Write(1)');
    expect(error).toMatchObject({ code: 'NS1003', hint: expect.stringContaining('a person could allow it') });
    expect(made).toEqual(['tool.web.Get']);
  });
});
