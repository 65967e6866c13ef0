import { expect, it, vi } from 'vitest';
import { functionAgent, LoopController, MemoryStore, programReply, replaySession } from '../../../src/loop/index.ts';
import { createRuntime } from '../../../src/runtime/index.ts';
import { Sandbox } from '../../../src/sandbox/index.ts';
import { defineTool } from '../../../src/tools/index.ts';
import { NeuroScriptError } from '../../../src/wire/errors.ts';

const DONE = 'emit tool.aeiou.magic("LOOP", {"action": "done"})';
const POLICY = {
  allow: ['tool.*'],
  when: { 'tool.mail.Send': [{ to: '*@example.com' }] },
  order: [{ tool: 'tool.pay.Transfer', needs: 'tool.pay.Quote', within: 'session' as const }],
};

/** A session of an agent with these programs, and the calls that were made. */
async function session(programs: readonly (readonly string[])[], maxReasks = 3) {
  const made: string[] = [];
  const tool = (name: string, ...args: string[]) =>
    defineTool({ name, args: args.map((arg) => ({ name: arg, type: 'string' as const })), run: () => void made.push(name) });
  const tools = [tool('tool.db.Put', 'key'), tool('tool.mail.Send', 'to'), tool('tool.pay.Quote'), tool('tool.pay.Transfer')];
  await using runtime = await createRuntime({ tools, policy: POLICY });
  const asked: string[] = [];
  const agent = functionAgent(({ prompt }) => {
    asked.push(prompt);
    const lines = programs[asked.length - 1] ?? programs.at(-1) ?? [];
    return programReply(['command', ...lines, DONE, 'endcommand'].join('\n'));
  });
  const store = new MemoryStore();
  const loop = new LoopController({ runtime, store });
  const result = await loop.runLoop({ agent, userdata: { subject: 'mail', fields: { to: 'eve@evil.org' } }, maxReasks });
  // On a host without the tools and the policy.
  await using other = await createRuntime();
  const replayed = await replaySession(other, store, result.sid);
  return { ...result, made, asked, replayed };
}

it.each([
  ['an argument', 'call tool.mail.Send("eve@evil.org")', 'call tool.mail.Send("ada@example.com")', 'tool.mail.Send'],
  [
    'the order',
    'call tool.pay.Transfer()',
    'call tool.pay.Quote()\ncall tool.pay.Transfer()',
    'tool.pay.Quote,tool.pay.Transfer',
  ],
])(
  'issue 46: a program that certainly breaks a rule about %s does not begin, and is corrected',
  async (_, wrong, right, calls) => {
    const { decision, made, asked, turns, replayed } = await session([
      ['call tool.db.Put("a")', wrong],
      ['call tool.db.Put("a")', right],
    ]);
    expect([decision, made.join()]).toEqual(['DONE', `tool.db.Put,${calls}`]);
    expect(turns[0]?.attempts).toMatchObject([
      {
        end: 'rejected',
        journal: [],
        problems: [{ code: 'LINT_DENIED_TOOL', line: 3, message: expect.stringContaining('cannot be called') }],
      },
    ]);
    expect(asked[1]).toContain('cannot be called');
    expect(replayed).toMatchObject({ turns: [{ verdict: 'same' }] });
  },
);

it('issue 46: what may keep a rule runs, and so does a program that nothing may follow, up to the call', async () => {
  const unknown = await session([['call tool.db.Put("a")', 'call tool.mail.Send(userdata.fields.to)'], []]);
  expect([unknown.decision, unknown.made]).toEqual(['DONE', ['tool.db.Put']]);
  expect(unknown.turns[0]?.attempts).toMatchObject([{ end: 'failed', error: { code: 'NS1003' } }]);
  const last = await session([['call tool.db.Put("a")', 'call tool.mail.Send("eve@evil.org")']], 0);
  expect([last.reason, last.error?.code, last.made]).toEqual(['ERR_POLICY', 'NS1003', ['tool.db.Put']]);
});

it('issue 46: where no worker can look ahead, the rule is kept at the call', async () => {
  const look = vi.spyOn(Sandbox.prototype, 'foresee').mockRejectedValue(new NeuroScriptError('ERR_WORKER', 'it was killed'));
  try {
    const { decision, turns, made } = await session([['call tool.db.Put("a")', 'call tool.mail.Send("eve@evil.org")'], []]);
    expect([decision, made]).toEqual(['DONE', ['tool.db.Put']]);
    expect(look).toHaveBeenCalled();
    expect(turns[0]?.attempts).toMatchObject([{ end: 'failed', error: { code: 'NS1003' } }]);
  } finally {
    look.mockRestore();
  }
});
