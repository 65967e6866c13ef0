import { describe, expect, it } from 'vitest';
import { changedVerdicts, MemoryStore, recordedVerdicts, replaySession, tryOut } from '../../src/loop/index.ts';
import { defineTool, Policy, type PolicyOptions, ToolError } from '../../src/tools/index.ts';
import { askBench, envelope, replies, token } from './ask/bench.ts';
import { TestClock } from './fake.ts';
import { agentOf, openHost, SESSION } from './suspend/stage.ts';

const turn = (action: string, ...lines: readonly string[]): string =>
  `command\n${[...lines, `emit tool.aeiou.magic("LOOP", {"action": "${action}"})`].map((line) => `  ${line}`).join('\n')}\nendcommand`;

/** The tools of a world, and the calls that they had. */
function world() {
  const calls: string[] = [];
  const tool = (name: string, run: () => unknown = () => null) =>
    defineTool({
      name,
      args: [{ name: 'what', type: 'any', required: false }],
      run: () => {
        calls.push(name);
        return run();
      },
    });
  const fails = () => {
    throw new ToolError(6, 'it is not there');
  };
  const nested = defineTool({ name: 'tool.any.Calls', run: (_args, runtime) => runtime.callTool('tool.web.Get', []) });
  const tools = ['tool.web.Get', 'tool.db.Write', 'tool.pay.Quote', 'tool.pay.Transfer'].map((name) => tool(name));
  return { calls, tools: [...tools, tool('tool.web.Fails', fails), nested] };
}

const POLICY: PolicyOptions = {
  allow: ['*'],
  order: [
    { tool: 'tool.pay.Transfer', needs: 'tool.pay.Quote' },
    { tool: 'tool.db.*', 'not-after': 'tool.web.*', else: 'ask' },
  ],
};
const HANDLED = ['on error do', 'emit system_error.message', 'clear_error', 'endon'];

describe('the order of calls in a session', () => {
  it('spans its turns and hosts, with calls that tools made, and is the same in a replay', async () => {
    const store = new MemoryStore();
    const clock = new TestClock();
    const { tools, calls } = world();
    const agent = agentOf(
      turn('continue', ...HANDLED, 'call tool.pay.Transfer(1)', 'call tool.pay.Quote()', 'call tool.any.Calls()'),
      turn('continue', 'call tool.pay.Transfer(1)', 'emit "paid"'),
      turn('done', 'call tool.db.Write(1)', 'emit "written"'),
    );
    const runtime = { policy: POLICY };
    {
      await using host = await openHost(tools, { store, clock, runtime });
      await host.loop.open(SESSION.userdata, 's');
      for (let turns = 0; turns < 2; turns++) await host.loop.step('s', { agent });
    }
    expect((await store.read('s'))?.called).toEqual(['tool.any.calls', 'tool.pay.quote', 'tool.pay.transfer', 'tool.web.get']);
    await using host = await openHost(tools, { store, clock, runtime });
    const asked = await host.loop.resume('s', { agent });
    expect(asked).toMatchObject({ decision: 'SUSPENDED', waiting: { tool: 'tool.db.write', args: [1] } });
    expect(asked.waiting?.reason).toBe(
      "tool 'tool.db.write' may not be called now, by policy rule: order tool.db.* not-after tool.web.*: tool.web.get has been called in this session; answer true to allow this call, false to refuse it",
    );
    await host.loop.complete('s', '3.1', { result: true });
    expect(await host.loop.resume('s', { agent })).toMatchObject({ decision: 'DONE' });
    expect(calls).toEqual(['tool.pay.Quote', 'tool.web.Get', 'tool.pay.Transfer', 'tool.db.Write']);
    const turns = await store.turns('s');
    expect(turns.map(({ output }) => output.split('\n')[0])).toEqual([
      expect.stringContaining('no tool.pay.Quote has been called in this session'),
      'paid',
      'written',
    ]);
    expect(await replaySession(host.runtime, { sid: 's', turns, head: null })).toMatchObject({ ok: true });
  });

  it('makes no call that a person refuses, and refuses one where a turn cannot wait', async () => {
    const { tools, calls } = world();
    const agent = agentOf(turn('done', ...HANDLED, 'call tool.web.Get()', 'call tool.db.Write(1)', 'emit "on"'));
    await using host = await openHost(tools, { runtime: { policy: POLICY } });
    expect(await host.loop.runLoop({ ...SESSION, agent })).toMatchObject({ decision: 'SUSPENDED' });
    await host.loop.complete('s', '1.2', { result: false });
    const { turns } = await host.loop.resume('s', { agent, keepTurns: true });
    expect(turns[0]?.output).toContain('the call of tool.db.write was not made: a person refused it\non');
    expect(calls).toEqual(['tool.web.Get']);
  });

  it('counts calls of an attempt that failed, and no failed or refused call', async () => {
    const { tools, calls } = world();
    const programs = [
      turn('done', 'call tool.pay.Quote()', 'fail "slip"'),
      turn('done', ...HANDLED, 'call tool.web.Fails()', 'call tool.pay.Transfer(1)', 'call tool.db.Write(1)'),
    ];
    let asked = 0;
    const one = agentOf(...programs);
    const agent = { reply: (request: never) => one.reply({ ...(request as object), turn: ++asked } as never) };
    await using host = await openHost(tools, { runtime: { policy: POLICY } });
    const result = await host.loop.runLoop({ ...SESSION, agent, keepTurns: true });
    expect(result).toMatchObject({ decision: 'DONE', turns: [{ attempts: [{ end: 'failed' }] }] });
    expect(calls).toEqual(['tool.pay.Quote', 'tool.web.Fails', 'tool.pay.Transfer', 'tool.db.Write']);
  });

  it('counts only the calls of the turn for a rule within it', async () => {
    const { tools } = world();
    const order = [{ tool: 'tool.db.*', 'not-after': 'tool.web.*', within: 'turn' }] as const;
    const agent = agentOf(
      turn('continue', 'call tool.web.Get()'),
      turn('done', ...HANDLED, 'call tool.db.Write(1)', 'emit "written"', 'call tool.web.Get()', 'call tool.db.Write(2)'),
    );
    await using host = await openHost(tools, { runtime: { policy: { allow: ['*'], order } } });
    const { turns } = await host.loop.runLoop({ ...SESSION, agent, keepTurns: true });
    expect(turns[1]?.output).toMatch(/^written\ntool 'tool.db.write' may not be called now, .* called in this turn\n/);
  });

  it('and the arguments of calls are judged in recorded sessions, and in trials of them', async () => {
    const { tools } = world();
    const agent = agentOf(
      turn('continue', 'call tool.any.Calls()', 'emit "one"'),
      turn('done', ...HANDLED, 'call tool.db.Write(1)', 'emit "written"', 'call tool.pay.Transfer(2)'),
    );
    const store = new MemoryStore();
    await using host = await openHost(tools, { store });
    await host.loop.runLoop({ ...SESSION, agent });
    const session = { sid: 's', turns: await store.turns('s'), head: null };
    const policy = new Policy({
      ...POLICY,
      order: POLICY.order?.slice(1) ?? [],
      when: { 'tool.pay.Transfer': [{ what: { max: 1 } }] },
    });
    const verdicts = await recordedVerdicts(host.runtime, session);
    expect(changedVerdicts(verdicts, policy).map(({ call, tool, after }) => [call, tool, after.rule, after.entry])).toEqual([
      ['2.1', 'tool.db.write', 'order', 'tool.db.* not-after tool.web.*'],
      ['2.2', 'tool.pay.transfer', 'when', 'tool.pay.Transfer'],
    ]);
    const { turns } = await tryOut(host.runtime, session, { fromTurn: 2, policy });
    expect(turns[0]?.tried.output).toMatch(
      /^tool 'tool.db.write' may not be called now, .*\nwritten\ntool 'tool.pay.transfer' may not/,
    );
  });

  it('counts what agents called for an ask, and holds for them', async () => {
    const { tools, calls } = world();
    const order = [
      { tool: 'tool.db.*', 'not-after': 'tool.web.*' },
      { tool: 'tool.pay.Transfer', needs: 'tool.pay.Quote' },
    ] as const;
    await using bench = await askBench({
      agents: {
        reader: replies(envelope('call tool.web.Get()', token('continue')), envelope('call tool.pay.Transfer(1)', token('done'))),
        writer: replies(envelope('call tool.db.Write(1)', token('done'))),
      },
      runtime: { tools, policy: { allow: ['*'], order } },
    });
    const asks = ['ask "reader", "go"', 'on error do', 'emit system_error.message', 'clear_error', 'endon'];
    const after = await bench.run('call tool.pay.Quote()', ...asks, 'call tool.db.Write(1)', 'ask "writer", "go"');
    expect(after.emits).toEqual([
      expect.stringMatching(/tool.db.write' may not be called now, .* tool.web.get has been called/),
      expect.stringMatching(/tool.db.write' may not be called now, .* tool.web.get has been called/),
    ]);
    expect(after.journal.find(({ kind }) => kind === 'ask')?.called).toEqual(['tool.pay.transfer', 'tool.web.get']);
    expect((await bench.run('ask "writer", "go"')).ok).toBe(true);
    expect((await bench.run('ask "reader", "go"')).error?.message).toContain('tool.pay.Transfer needs tool.pay.Quote');
    expect(calls).toEqual(['tool.pay.Quote', 'tool.web.Get', 'tool.pay.Transfer', 'tool.db.Write', 'tool.web.Get']);
  });
});
