import { expect } from 'vitest';
import { parseEnvelope } from '../../../src/aeiou/index.ts';
import type { AgentRequest } from '../../../src/loop/agents/agent.ts';
import type { Agent, SessionStore, TurnRecord } from '../../../src/loop/index.ts';
import type { RuntimeOptions } from '../../../src/runtime/index.ts';
import { defineTool } from '../../../src/tools/index.ts';
import { reply } from '../fake.ts';

const DONE = 'emit tool.aeiou.magic("LOOP", {"action": "done"})';

/** A program of these statements that ends the session. */
export const program = (...lines: readonly string[]): string =>
  ['command', ...[...lines, DONE].map((line) => `  ${line}`), 'endcommand'].join('\n');

/** The reply to the second request. */
export const CORRECT = reply(program('emit tool.mail.Send("ada")'));

/** A reason to ask an agent again: its first reply, and what it must be told of it. */
export type Reason = readonly [reason: string, text: string, told: object];

export const REASONS: readonly Reason[] = [
  ['no envelope', 'prose', { code: 'ERR_ENV_MARKERS_INVALID' }],
  [
    'a word of another language',
    reply('command\n  let x = 1\nendcommand'),
    {
      code: 'NS15',
      problems: [{ at: '2:3', text: '  let x = 1', hint: expect.stringContaining('set'), fix: { 2: '  set x = 1' } }],
    },
  ],
  [
    'two command blocks',
    reply(`${program('emit 1')}\n${program('emit 2')}`),
    {
      code: 'NS15',
      problems: [{ at: '1:1', message: expect.stringContaining('2 command blocks'), fix: { '1-8': expect.any(String) } }],
    },
  ],
  [
    'a procedure beside the block',
    reply(`func f() means\n  return 1\nendfunc\n${program()}`),
    {
      code: 'NS15',
      message: expect.stringContaining('command block'),
      problems: [{ hint: expect.stringContaining('in place of its calls'), fix: { '1-6': `${program()}\n` } }],
    },
  ],
  [
    'an unknown tool',
    reply(program('emit tool.mail.Sent("ada")')),
    {
      code: 'NS3',
      problems: [
        {
          at: '2:8',
          hint: expect.stringContaining('tool.mail.send'),
          fix: { 2: expect.stringContaining('tool.mail.send("ada")') },
        },
      ],
    },
  ],
  [
    'an unknown procedure',
    reply(program('call greet("ada")')),
    { code: 'NS2', problems: [{ at: '2:8', message: expect.stringContaining('greet') }] },
  ],
  [
    'a wrong number of arguments',
    reply(program('emit tool.mail.Send("ada", 1, 2)')),
    { code: 'NS4', problems: [{ at: '2:8', text: '  emit tool.mail.Send("ada", 1, 2)' }] },
  ],
  [
    'a misspelt variable',
    reply(program('set total = 3', 'emit totl')),
    { code: 'NS7', problems: [{ at: '3:8', code: 'LINT_NEVER_SET', fix: { 3: '  emit total' } }] },
  ],
  [
    'a default by `or`',
    reply(program('set x = nil', 'set n = x or 10', 'emit n')),
    { code: 'NS7', problems: [{ at: '3:16', code: 'LINT_LOGIC_VALUE', fix: { 3: expect.stringContaining('set n = 10') } }] },
  ],
  [
    'a key without quotes',
    reply(program('emit {name: 1}')),
    { code: 'NS7', problems: [{ at: '2:9', code: 'LINT_MAP_KEY', fix: { 2: '  emit {"name": 1}' } }] },
  ],
  [
    'a tool that the policy denies',
    reply(program('emit tool.secret.Read()')),
    { code: 'NS1003', problems: [{ at: '2:8', message: expect.stringContaining('denied') }] },
  ],
  [
    'no control token',
    reply('command\n  emit 1\nendcommand'),
    { code: 'ERR_TOKEN_MISSING', hint: expect.stringContaining('tool.aeiou.magic') },
  ],
  [
    'an error while it ran',
    reply(program('emit tool.mail.Send("ada")', 'set xs = [1]', 'emit xs.length')),
    {
      code: 'NS7',
      at: '4:10',
      calls: ['line 2: tool.mail.send("ada") = "sent"'],
      problems: [{ at: '4:10', code: 'NS7', hint: expect.stringContaining('len('), fix: { 4: '  emit len(xs)' } }],
    },
  ],
];

/** What a session shows whose agent gives a wrong reply and, asked again, a correct one. */
export interface Driven {
  /** The prompts, in order. */
  readonly prompts: readonly string[];
  readonly record: TurnRecord | undefined;
  /** The mails that were sent. */
  readonly sent: number;
}

/** An agent that gives a wrong reply first, and the tools of its programs. */
export class Desk {
  readonly asked: AgentRequest[] = [];
  #sent = 0;
  readonly agent: Agent;

  constructor(text: string) {
    this.agent = {
      reply: async (request) => {
        this.asked.push(request);
        return this.asked.length === 1 ? text : CORRECT;
      },
    };
  }

  /** Of a runtime with the tools. */
  readonly options: RuntimeOptions = {
    tools: [
      defineTool({
        name: 'tool.mail.Send',
        args: [{ name: 'to', type: 'string' }],
        run: () => {
          this.#sent++;
          return 'sent';
        },
      }),
      defineTool({ name: 'tool.secret.Read', run: () => 'secret' }),
    ],
    policy: { allow: ['*'], deny: ['tool.secret.*'] },
    concurrency: 1,
  };

  /** What the only turn of a session in a store shows. */
  async driven(store: Pick<SessionStore, 'turns'>, sid: string): Promise<Driven> {
    expect(this.asked.map(({ turn, attempt }) => [turn, attempt])).toEqual([
      [1, 1],
      [1, 2],
    ]);
    const [record] = await store.turns(sid);
    return { prompts: this.asked.map(({ prompt }) => prompt), record, sent: this.#sent };
  }
}

/** What an agent is told in a prompt. A command as an agent reads the system text before the envelope. */
function problemIn(prompt: string): unknown {
  const envelope = prompt.slice(prompt.lastIndexOf('<<<NSENV:V3:START>>>\n'));
  const { fields } = JSON.parse(parseEnvelope(new TextEncoder().encode(envelope)).userdata);
  return fields.reply_problem;
}

/** Checks that the agent was told everything, and that the second attempt decided the turn without a second effect. */
export function expectRepaired({ prompts, record, sent }: Driven, told: object): void {
  expect(prompts).toHaveLength(2);
  expect(problemIn(prompts[1] ?? '')).toMatchObject({ attempt: 1, left: 2, ...told });
  expect(record).toMatchObject({ turn: 1, decision: 'DONE', attempts: [{}], agent: { asks: 2 }, leftOver: [] });
  expect(record?.attempts).toHaveLength(1);
  expect(sent).toBe(1);
}
