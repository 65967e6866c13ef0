import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseEnvelope } from '../../../src/aeiou/index.ts';
import type { AgentRequest } from '../../../src/loop/agents/agent.ts';
import { SqliteStore } from '../../../src/loop/index.ts';
import { defineTool } from '../../../src/tools/index.ts';
import { folder, neuroscript } from '../../cli/spawn.ts';
import { SLOW } from '../../groups.ts';
import { askBench } from '../ask/bench.ts';
import { reply } from '../fake.ts';

const DONE = 'emit tool.aeiou.magic("LOOP", {"action": "done"})';
const program = (...lines: readonly string[]): string =>
  ['command', ...[...lines, DONE].map((line) => `  ${line}`), 'endcommand'].join('\n');
const CORRECT = program('emit tool.mail.Send("ada")');

/** What the agent must be told of each reason to ask it again. */
const REASONS: readonly (readonly [reason: string, text: string, told: object])[] = [
  ['no envelope', 'prose', { code: 'ERR_ENV_MARKERS_INVALID' }],
  [
    'a word of another language',
    reply('command\n  let x = 1\nendcommand'),
    { code: 'NS15', problems: [{ at: '2:3', text: '  let x = 1', hint: expect.stringContaining('set'), fix: '  set x = 1' }] },
  ],
  [
    'two command blocks',
    reply(`${CORRECT}\n${CORRECT}`),
    { code: 'NS15', problems: [{ at: '1:1', message: expect.stringContaining('2 command blocks') }] },
  ],
  [
    'an unknown tool',
    reply(program('emit tool.mail.Sent("ada")')),
    {
      code: 'NS3',
      problems: [
        { at: '2:8', hint: expect.stringContaining('tool.mail.send'), fix: expect.stringContaining('tool.mail.send("ada")') },
      ],
    },
  ],
  [
    'a wrong number of arguments',
    reply(program('emit tool.mail.Send("ada", 1, 2)')),
    { code: 'NS4', problems: [{ at: '2:8', text: '  emit tool.mail.Send("ada", 1, 2)' }] },
  ],
  [
    'a tool that the policy denies',
    reply(program('emit tool.secret.Read()')),
    { code: 'NS1003', problems: [{ at: '2:8', message: expect.stringContaining('denied') }] },
  ],
  [
    'no control token',
    reply('command\n  emit 1\nendcommand'),
    { code: 'ERR_TOKEN_MISSING', hint: expect.stringContaining('magic') },
  ],
  [
    'an error while it ran',
    reply(program('emit tool.mail.Send("ada")', 'emit nil.first')),
    { code: expect.stringMatching(/^NS/), at: '3:11', calls: ['line 2: tool.mail.send("ada") = "sent"'] },
  ],
];

/** What a driver shows of a session whose agent gives a wrong reply and, asked again, a correct one. */
interface Driven {
  /** The prompts, in order. */
  readonly prompts: readonly string[];
  /** Turn, attempt, decision and number of attempts of the stored turn. */
  readonly record: { readonly turn: number; readonly decision: string; readonly attempts: number; readonly asks: number };
  /** The mails that were sent. */
  readonly sent: number;
}

async function byAsk(text: string): Promise<Driven> {
  const asked: AgentRequest[] = [];
  let sent = 0;
  const mail = defineTool({
    name: 'tool.mail.Send',
    args: [{ name: 'to', type: 'string' }],
    run: () => {
      sent++;
      return 'sent';
    },
  });
  const secret = defineTool({ name: 'tool.secret.Read', run: () => 'secret' });
  const helper = {
    reply: async (request: AgentRequest) => {
      asked.push(request);
      return asked.length === 1 ? text : reply(CORRECT);
    },
  };
  const runtime = { tools: [mail, secret], policy: { allow: ['*'], deny: ['tool.secret.*'] }, concurrency: 1 };
  await using bench = await askBench({ agents: { helper }, runtime });
  const result = await bench.run('ask "helper", "go" into answer');
  expect(result.error).toBeNull();
  const [summary] = await bench.store.list();
  const [record] = await bench.store.turns(summary?.sid ?? '');
  if (record === undefined) throw new Error('no nested turn is stored');
  // The asking run pays for every attempt.
  const [entry] = result.journal;
  const fuel = (record.attempts ?? []).reduce((sum, { usage }) => sum + usage.fuel, record.usage.fuel);
  expect(entry?.kind === 'ask' ? entry.spent?.fuel : null).toBe(fuel);
  expect(asked.map(({ turn, attempt }) => [turn, attempt])).toEqual([
    [1, 1],
    [1, 2],
  ]);
  const { turn, decision, attempts = [], agent } = record;
  return {
    prompts: asked.map(({ prompt }) => prompt),
    record: { turn, decision, attempts: attempts.length, asks: agent?.asks ?? 0 },
    sent,
  };
}

const TOOLS = `import { appendFileSync } from 'node:fs';
export const tools = [
  { name: 'tool.mail.Send', args: [{ name: 'to', type: 'string' }], run: () => { appendFileSync('sent.txt', 'x'); return 'sent'; } },
  { name: 'tool.secret.Read', run: () => 'secret' },
];`;
/** A command as an agent: it keeps what it was asked, and gives the text of one file and then of the other. */
const AGENT = `import { existsSync, readFileSync, writeFileSync } from 'node:fs';
const turn = existsSync('1.txt') ? 2 : 1;
writeFileSync(turn + '.txt', readFileSync(0, 'utf8'));
process.stdout.write(readFileSync(turn === 1 ? 'first' : 'second', 'utf8'));`;

async function byCommand(text: string): Promise<Driven> {
  const cwd = folder({
    'tools.mjs': TOOLS,
    'agent.mjs': AGENT,
    first: text,
    second: reply(CORRECT),
    'sent.txt': '',
    'policy.json': '{"allow": ["tool.*"], "deny": ["tool.secret.*"]}',
  });
  const flags = ['--tools', 'tools.mjs', '--policy', 'policy.json', '--store', 's.db', '--sid', 's'];
  const ended = await neuroscript(['loop', '--agent', `command:${process.execPath} agent.mjs`, ...flags], { cwd });
  expect(ended).toMatchObject({ code: 0 });
  using store = await SqliteStore.open(join(cwd, 's.db'));
  const [record] = await store.turns('s');
  if (record === undefined) throw new Error('no turn is stored');
  const { turn, decision, attempts = [], agent } = record;
  return {
    prompts: [1, 2].map((each) => readFileSync(join(cwd, `${each}.txt`), 'utf8')),
    record: { turn, decision, attempts: attempts.length, asks: agent?.asks ?? 0 },
    sent: readFileSync(join(cwd, 'sent.txt'), 'utf8').length,
  };
}

/** The text from the envelope on: a command reads the system text before it. */
function problemIn(prompt: string): unknown {
  const envelope = prompt.slice(prompt.lastIndexOf('<<<NSENV:V3:START>>>\n'));
  const { fields } = JSON.parse(parseEnvelope(new TextEncoder().encode(envelope)).userdata);
  return fields.reply_problem;
}

async function expectRepair(driver: (text: string) => Promise<Driven>, text: string, told: object): Promise<void> {
  const { prompts, record, sent } = await driver(text);
  expect(problemIn(prompts[1] ?? '')).toMatchObject({ attempt: 1, left: 2, ...told });
  expect(record).toEqual({ turn: 1, decision: 'DONE', attempts: 1, asks: 2 });
  expect(sent).toBe(1);
}

describe('each reason to ask an agent again', () => {
  it.each(REASONS)('nested ask: %s', (_, text, told) => expectRepair(byAsk, text, told));

  it.each(REASONS)('the command loop: %s', SLOW, (_, text, told) => expectRepair(byCommand, text, told));
});
