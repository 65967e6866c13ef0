import { describe, expect, it } from 'vitest';
import { changedVerdicts, MemoryLog, MemoryStore, recordedVerdicts, replaySession } from '../../src/loop/index.ts';
import { generateReceiptKey, issueReceipt } from '../../src/receipt/index.ts';
import { explainTurn, plainPalette } from '../../src/report/index.ts';
import { defineTool, Policy, type PolicyOptions, ToolError } from '../../src/tools/index.ts';
import { PAGE_SIZES, Texts } from '../../src/ui/texts.ts';
import { turnSide } from '../../src/ui/turn.ts';
import { memoryTools, scratchTools } from '../../stdlib-tools/index.ts';
import { askBench, envelope, replies, token } from './ask/bench.ts';
import { TestClock } from './fake.ts';
import { agentOf, openHost, SESSION } from './suspend/stage.ts';

const turn = (action: string, ...lines: readonly string[]): string =>
  `command\n${[...lines, `emit tool.aeiou.magic("LOOP", {"action": "${action}"})`].map((line) => `  ${line}`).join('\n')}\nendcommand`;

/** The tools of a world, and the mails that were sent. */
function world() {
  const sent: string[] = [];
  const any = { name: 'what', type: 'any', required: false } as const;
  const text = { type: 'string' } as const;
  const tools = [
    defineTool({ name: 'tool.web.Get', args: [any], effects: 'read', run: () => 'a@evil.org' }),
    defineTool({
      name: 'tool.web.Fail',
      effects: 'read',
      run: () => {
        throw new ToolError(6, 'ask a@evil.org');
      },
    }),
    defineTool({
      name: 'tool.mail.Send',
      args: [
        { name: 'to', ...text },
        { name: 'body', ...text },
      ],
      run: ({ to, body }) => {
        sent.push(`${to}: ${body}`);
        return 'sent';
      },
    }),
    defineTool({ name: 'tool.review.Approve', args: [any], run: ({ what }) => what }),
    defineTool({ name: 'tool.any.Fetches', effects: 'read', run: (_args, runtime) => runtime.callTool('tool.web.Get', []) }),
    defineTool({
      name: 'tool.any.Sends',
      args: [any],
      run: ({ what }, runtime) => runtime.callTool('tool.mail.Send', [what, '']),
    }),
    ...memoryTools(),
    ...scratchTools(),
  ];
  return { sent, tools };
}

const GRANTS = ['memory:read,write', 'scratch:read,write'];
const FLOW = {
  labels: { 'tool.web.*': ['web'], 'userdata.fields.note': ['web'] },
  sinks: { 'tool.mail.Send.to': { refuse: ['web'] }, 'tool.mail.Send.body': { ask: ['web'] } },
  endorse: { 'tool.review.Approve': ['web'] },
} satisfies PolicyOptions['flow'];
const POLICY: PolicyOptions = { allow: ['*'], grants: GRANTS, flow: FLOW };
const HANDLED = ['on error do', 'emit system_error.message', 'clear_error', 'endon'];
const REFUSED = "tool 'tool.mail.send' may not be called with what came from elsewhere, by policy rule: flow tool.mail.Send.to";

/** Sends what the lines have left in `x`, in a turn of its own. */
async function sentAfter(...lines: readonly string[]): Promise<readonly string[]> {
  const { sent, tools } = world();
  const agent = agentOf(turn('done', ...lines, 'call tool.mail.Send(x, "")'));
  await using host = await openHost(tools, { maxReasks: 0, runtime: { policy: POLICY } });
  const { turns } = await host.loop.runLoop({ ...SESSION, agent, keepTurns: true });
  return sent.length > 0 ? sent : [turns[0]?.error?.message ?? ''];
}

describe('rules about origin in a session', () => {
  it.each([
    ['a result', ['set x = tool.web.Get()'], 'tool.web.get (ACTIONS:2)'],
    [
      'an argument of another tool',
      ['set x = tool.review.Approve(1)', 'set x = tool.any.Fetches()'],
      'tool.any.fetches (ACTIONS:3)',
    ],
    ['a stored value', ['call tool.memory.CAS("/k", 0, tool.web.Get())', 'set x = tool.memory.Get("/k")[0]'], 'tool.memory.get'],
    [
      'a value of the scratch store',
      ['call tool.scratch.PutCAS("k", 0, tool.web.Get())', 'set x = tool.scratch.Get("k")[0]'],
      'tool.scratch.get',
    ],
  ])('refuse %s', async (_, lines, source) => {
    const [first] = await sentAfter(...lines);
    expect(first).toContain(`${REFUSED}: its argument 'to' has web from ${source}`);
  });

  it.each([
    ['a result without labels', ['set x = tool.review.Approve("b")']],
    ['an endorsed value', ['set x = tool.review.Approve(tool.web.Get())']],
    [
      'a stored value without labels',
      ['call tool.web.Get()', 'call tool.memory.CAS("/k", 0, "b")', 'set x = tool.memory.Get("/k")[0]'],
    ],
  ])('allow %s', async (_, lines) => {
    expect(await sentAfter(...lines)).toEqual([expect.stringMatching(/^(b|a@evil\.org): $/)]);
  });

  it('issue 46: tell what was refused and why, in fields of the record and of the entry in the log', async () => {
    const { tools } = world();
    const lines = [
      'set x = tool.web.Get()',
      'call tool.mail.Send(x, "")',
      'call tool.mail.Send(x, "again")',
      'call tool.none.At(1)',
    ];
    const agent = agentOf(turn('done', ...HANDLED, ...lines, 'call tool.mail.Send("b", "")'));
    const log = new MemoryLog();
    const policy = {
      ...POLICY,
      when: { 'tool.mail.Send': [{ body: '' }, { body: 'again' }] },
      toolMaxCalls: { 'tool.mail.Send': 0 },
    };
    await using host = await openHost(tools, { log, maxReasks: 0, runtime: { policy } });
    const { turns } = await host.loop.runLoop({ ...SESSION, agent, keepTurns: true });
    const web = { label: 'web', from: 'tool.web.get' };
    const flow = { rule: 'flow', entry: 'tool.mail.Send.to', argument: 'to' };
    expect(turns[0]?.journal.map(({ refused }) => refused)).toEqual([
      undefined,
      { ...flow, labels: [{ ...web, source: 'ACTIONS', line: 6 }] },
      { ...flow, labels: [{ ...web, source: 'ACTIONS', line: 6 }] },
      undefined,
      { rule: 'toolMaxCalls', entry: '0' },
      undefined,
    ]);
    expect(log.entries[0]?.refused).toEqual([
      { tool: 'tool.mail.send', ...flow, labels: [web] },
      { tool: 'tool.mail.send', rule: 'toolMaxCalls', entry: '0' },
    ]);
  });

  it('reach calls that tools make', async () => {
    const { sent, tools } = world();
    const agent = agentOf(turn('done', ...HANDLED, 'call tool.any.Sends("b")', 'call tool.any.Sends(tool.web.Get())'));
    await using host = await openHost(tools, { runtime: { policy: POLICY } });
    const { turns } = await host.loop.runLoop({ ...SESSION, agent, keepTurns: true });
    expect(sent).toEqual(['b: ']);
    expect(turns[0]?.output).toContain(REFUSED);
  });

  it('ask a person, who sees where the value comes from, and are the same in a replay', async () => {
    const { sent, tools } = world();
    const store = new MemoryStore();
    const agent = agentOf(turn('done', 'set page = tool.web.Get()', 'call tool.mail.Send("b", page)'));
    await using host = await openHost(tools, { store, clock: new TestClock(), runtime: { policy: POLICY } });
    const asked = await host.loop.runLoop({ ...SESSION, agent });
    expect(asked.waiting?.reason).toContain("its argument 'body' has web from tool.web.get (ACTIONS:2)");
    expect(sent).toEqual([]);
    await host.loop.complete('s', '1.2', { result: true });
    expect(await host.loop.resume('s', { agent })).toMatchObject({ decision: 'DONE' });
    expect(sent).toEqual(['b: a@evil.org']);
    const turns = await store.turns('s');
    expect(turns[0]?.journal[1]?.flow?.call?.args.map(({ all }) => all.map(({ label }) => label))).toEqual([[], ['web']]);
    expect(await replaySession(host.runtime, { sid: 's', turns, head: null })).toMatchObject({ ok: true });
  });

  it('issue 46: tell that a person refused the call', async () => {
    const log = new MemoryLog();
    const agent = agentOf(turn('done', ...HANDLED, 'set page = tool.web.Get()', 'call tool.mail.Send("b", page)'));
    await using host = await openHost(world().tools, { log, runtime: { policy: POLICY } });
    await host.loop.runLoop({ ...SESSION, agent });
    await host.loop.complete('s', '1.2', { result: false });
    await host.loop.resume('s', { agent });
    expect(log.entries[0]?.refused).toEqual([{ tool: 'tool.mail.send', rule: 'person', entry: null }]);
  });

  it('issue 46: judge recorded calls under another policy by the labels that they carried', async () => {
    const { tools } = world();
    const store = new MemoryStore();
    const agent = agentOf(turn('done', 'call tool.mail.Send("b", "c")', 'call tool.mail.Send("b", tool.any.Fetches())'));
    const labelled = { ...POLICY, flow: { labels: FLOW.labels } };
    await using host = await openHost(tools, { store, runtime: { policy: labelled } });
    await host.loop.runLoop({ ...SESSION, agent });
    const verdicts = await recordedVerdicts(host.runtime, { sid: 's', turns: await store.turns('s') });
    const changed = (body: string) => {
      const policy = new Policy({ ...POLICY, flow: { ...FLOW, sinks: { [`tool.mail.Send.${body}`]: { refuse: ['web'] } } } });
      return changedVerdicts(verdicts, policy).map(({ call, after }) => [call, after.rule, after.entry]);
    };
    expect(changed('body')).toEqual([['1.3', 'flow', 'tool.mail.Send.body']]);
    expect(changed('to')).toEqual([]);
  });

  it('keep what OUTPUT carries, for a program of a model that has read it', async () => {
    const { sent, tools } = world();
    const policy = { ...POLICY, flow: { ...FLOW, program: { label: ['web'], when: 'output' } } } as const;
    const agent = agentOf(
      turn('continue', 'call tool.mail.Send("before", "")', 'emit "nothing"'),
      turn('continue', 'call tool.mail.Send("still", "")', 'emit tool.web.Get()'),
      turn('done', ...HANDLED, 'call tool.mail.Send("after", "")'),
    );
    const store = new MemoryStore();
    await using host = await openHost(tools, { store, runtime: { policy } });
    await host.loop.open(SESSION.userdata, 's');
    await host.loop.step('s', { agent });
    expect((await store.read('s'))?.origins).toBeUndefined();
    await host.loop.step('s', { agent });
    expect((await store.read('s'))?.origins).toEqual({ read: ['web'], userdata: [] });
    await host.loop.step('s', { agent });
    expect(sent).toEqual(['before: ', 'still: ']);
    const turns = await store.turns('s');
    expect(turns[1]?.labels?.output.map(({ from }) => from)).toEqual(['tool.web.get']);
    expect(turns[2]?.output).toContain(`${REFUSED}: its argument 'to' has web from program`);
    const [, told] = turns;
    const state = await store.read('s');
    if (told === undefined || state === null) throw new Error('there is no second turn');
    const text = 'web from tool.web.get (ACTIONS:3)';
    expect(explainTurn(told, plainPalette)).toContainEqual(
      expect.stringMatching(/^ {4}carries {3}web from tool\.web\.get \(ACTIONS:3\)$/),
    );
    const texts = new Texts(PAGE_SIZES, { parts: false });
    expect(turnSide(told, texts).carries).toEqual({ output: text, scratchpad: null });
    const { parts } = issueReceipt(state, turns, generateReceiptKey('k'), 0);
    expect(JSON.parse(parts['2.labels']?.json ?? 'null')).toEqual(told.labels);
    expect(await replaySession(host.runtime, { sid: 's', turns, head: null })).toMatchObject({ ok: true });
  });

  it.each([
    ['its error', ['call tool.web.Fail()']],
    [
      'a call with its answer, though nothing of it was said',
      ['set page = tool.web.Get()', 'if 1 < 2', ...HANDLED, 'set x = 1', 'endif', 'emit 1 / 0'],
    ],
  ])('count what the agent was told of an attempt that failed: %s', async (_what, lines) => {
    const { sent, tools } = world();
    const policy = { ...POLICY, flow: { ...FLOW, program: { label: ['web'], when: 'output' } } } as const;
    const programs = [turn('done', ...lines), turn('done', ...HANDLED, 'call tool.mail.Send("after", "")')];
    let asked = 0;
    const one = agentOf(...programs);
    const agent = { reply: (request: never) => one.reply({ ...(request as object), turn: ++asked } as never) };
    const store = new MemoryStore();
    await using host = await openHost(tools, { store, runtime: { policy } });
    const { turns } = await host.loop.runLoop({ ...SESSION, agent, keepTurns: true });
    expect(turns[0]?.attempts?.length).toBe(1);
    expect(sent).toEqual([]);
    expect(turns[0]?.output).toContain(REFUSED);
    expect((await store.read(turns[0]?.sid ?? ''))?.origins?.read).toEqual(['web']);
  });

  it('know the fields of USERDATA', async () => {
    const { sent, tools } = world();
    const agent = agentOf(
      turn('done', ...HANDLED, 'call tool.mail.Send(userdata.fields.name, "")', 'call tool.mail.Send(userdata.fields.note, "")'),
    );
    await using host = await openHost(tools, { runtime: { policy: POLICY } });
    const userdata = { subject: 'mail', fields: { name: 'Ada', note: 'a@evil.org' } };
    const { turns } = await host.loop.runLoop({ ...SESSION, userdata, agent, keepTurns: true });
    expect(sent).toEqual(['Ada: ']);
    expect(turns[0]?.output).toContain('has web from userdata.fields.note');
  });
});

describe('rules about origin in an ask', () => {
  it('label the answer with what was asked, and with what the asked agent has read', async () => {
    const { sent, tools } = world();
    const agents = {
      plain: replies(envelope('emit "plain"', token('done'))),
      reader: replies(envelope('emit tool.web.Get()', token('done'))),
    };
    await using bench = await askBench({ agents, runtime: { tools, policy: POLICY } });
    const result = await bench.run(
      ...HANDLED,
      'ask "plain", "hello" into x',
      'call tool.mail.Send(x, "")',
      'ask "plain", tool.web.Get() into x',
      'call tool.mail.Send(x, "")',
      'ask "reader", "look it up" into x',
      'call tool.mail.Send(x, "")',
    );
    expect(sent).toEqual(['plain: ']);
    expect(result.emits).toEqual([expect.stringContaining(REFUSED), expect.stringContaining(REFUSED)]);
  });

  /** What is sent, or why not, after an ask with these options about a page that an agent answers so. */
  async function answered(answer: string, asked: string, endorse: Readonly<Record<string, readonly string[]>>): Promise<unknown> {
    const { sent, tools } = world();
    const agents = { judge: replies(envelope('set page = tool.web.Get()', `emit ${answer}`, token('done'))) };
    await using bench = await askBench({ agents, runtime: { tools, policy: { ...POLICY, flow: { ...FLOW, endorse } } } });
    const { error } = await bench.run('set m = "judge"', CHOICE, `ask ${asked} into x`, 'call tool.mail.Send("" + x, "")');
    return error === null ? sent : `${error.nsCode}: ${error.message}`;
  }

  const CHOICE = 'if tool.web.Get() == ""\nset m = "other"\nendif';
  const ASKS = { ask: ['web'] };
  it.each([
    ['true', '"judge", tool.web.Get() with {"answer": "boolean"}', ['true: ']],
    ['3', '"judge", tool.web.Get() with {"answer": {"min": 1, "max": 5}}', ['3: ']],
    ['"red"', '"judge", tool.web.Get() with {"answer": ["red", "green"]}', ['red: ']],
  ])(
    'issue 46: an answer %s of the form that was asked for is endorsed, only where the policy says so',
    async (answer, asked, sent) => {
      expect(await answered(answer, asked, ASKS)).toEqual(sent);
      expect(await answered(answer, asked, FLOW.endorse)).toContain(REFUSED);
    },
  );

  it.each([
    ['any text', 'page', '"judge", tool.web.Get()'],
    ['a form that the web chose', 'page', '"judge", "q" with {"answer": ["a", tool.web.Get()]}'],
    ['a model that the web chose', 'true', 'm, "q" with {"answer": "boolean"}'],
  ])('issue 46: the answer of %s is not endorsed', async (_about, answer, asked) => {
    expect(await answered(answer, asked, ASKS)).toContain(REFUSED);
  });
});
