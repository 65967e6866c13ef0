import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseEnvelope } from '../../../src/aeiou/index.ts';
import type { Agent, AgentRequest } from '../../../src/loop/agents/agent.ts';
import { LoopController } from '../../../src/loop/controller.ts';
import type { LoopEvent } from '../../../src/loop/events.ts';
import { seededIds } from '../../../src/loop/ids.ts';
import { MemoryLog } from '../../../src/loop/log/log.ts';
import type { LoopControllerOptions, LoopOptions } from '../../../src/loop/options.ts';
import { recordProblem } from '../../../src/loop/record/viewed.ts';
import { MemoryStore } from '../../../src/loop/sessions/sqlite.ts';
import { createRuntime, type Runtime } from '../../../src/runtime/index.ts';
import { defineTool } from '../../../src/tools/index.ts';
import { pureTools } from '../../../stdlib-tools/index.ts';
import { newKeyring } from '../../aeiou/kit.ts';
import { reply, TestClock, USERDATA } from '../fake.ts';

const DONE = 'emit tool.aeiou.magic("LOOP", {"action": "done"})';
/** A program of these statements that ends the session. */
const program = (...lines: readonly string[]): string =>
  ['command', ...[...lines, DONE].map((line) => `  ${line}`), 'endcommand'].join('\n');

let sent: string[] = [];
const mail = defineTool({
  name: 'tool.mail.Send',
  args: [{ name: 'to', type: 'string' }],
  run: ({ to }) => {
    sent.push(to);
    return `sent to ${to}`;
  },
});
const read = defineTool({
  name: 'tool.db.Read',
  effects: 'read',
  args: [{ name: 'key', type: 'string' }],
  run: ({ key }) => key.length,
});
const secret = defineTool({ name: 'tool.secret.Read', args: [], run: () => 'secret' });

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ tools: [mail, read, secret], policy: { allow: ['*'], deny: ['tool.secret.*'] } });
});
afterAll(() => runtime.close());
beforeEach(() => {
  sent = [];
});

/** An agent that replies with these programs, one after the other, and keeps what it was asked. */
function writer(...programs: readonly string[]): Agent & { readonly asked: AgentRequest[] } {
  const asked: AgentRequest[] = [];
  return {
    name: 'writer',
    asked,
    reply: async (request) => {
      asked.push(request);
      return { text: programs[asked.length - 1] ?? programs.at(-1) ?? '', tokens: 10 };
    },
  };
}

/** A session of an agent with these programs as ACTIONS. */
async function session(
  programs: readonly string[],
  options: Partial<LoopOptions> = {},
  more: Partial<LoopControllerOptions> = {},
) {
  const clock = new TestClock();
  const [log, store] = [new MemoryLog(), new MemoryStore()];
  const loop = new LoopController({
    runtime,
    keyring: newKeyring('k', clock),
    clock,
    ids: seededIds('repair'),
    log,
    store,
    ...more,
  });
  const agent = writer(...programs.map((each) => (each.includes('<<<') || each === 'prose' ? each : reply(each))));
  const events: LoopEvent[] = [];
  const onEvent = (event: LoopEvent) => void events.push(event);
  const result = await loop.runLoop({ sid: 's', userdata: USERDATA, agent, onEvent, ...options });
  const [record] = await store.turns('s');
  // Whatever the loop has recorded can be shown.
  if (record !== undefined) expect(recordProblem(record)).toBeNull();
  return { loop, agent, events, result, record, log, store, told: agent.asked.slice(1).map(problemOf) };
}

function problemOf({ prompt }: AgentRequest): Record<string, unknown> {
  const { fields } = JSON.parse(parseEnvelope(new TextEncoder().encode(prompt)).userdata);
  return fields.reply_problem;
}

describe('A3-3.3-8 AMB-32: a program that is rejected before it runs', () => {
  it('tells every problem at once, with the program in numbered lines', async () => {
    const slip = program('let x = 1', 'emit tool.mail.Sent("a")');
    const { told } = await session([slip, program()]);
    expect(told[0]?.['program']).toContain('2|   let x = 1\n3|   emit tool.mail.Sent("a")');
    const both = program('call f()', 'emit tool.mail.Sent("a")');
    expect((await session([both, program()])).told[0]?.['problems']).toHaveLength(2);
  });

  it('names every line that a correction changes, and problems of one line have its text in common', async () => {
    const elif = program('if n > 9:', '  emit 1', 'elif n > 4:', '  emit 2', 'endif');
    expect((await session([elif, program()])).told).toMatchObject([
      { problems: [{ fix: { 2: '  if n > 9', 4: '  else\n  if n > 4', 6: '  endif\n  endif' } }, {}] },
    ]);
    const twice = program('emit tool.mail.Sent("a") + tool.mail.Sent("b")');
    const fix = { 2: '  emit tool.mail.send("a") + tool.mail.send("b")' };
    expect((await session([twice, program()])).told).toMatchObject([{ problems: [{ fix }, { fix }] }]);
  });

  it('ends the turn with its own code when no reply is left', async () => {
    const { result, agent, record } = await session(['command\n  let x = 1\nendcommand']);
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_ACTIONS_INVALID' });
    expect(agent.asked).toHaveLength(4);
    expect(record?.attempts).toHaveLength(3);
  });

  it('is not asked for again with maxReasks 0, on the controller or on the step', async () => {
    const slip = 'command\n  let x = 1\nendcommand';
    expect((await session([slip], { maxReasks: 0 })).agent.asked).toHaveLength(1);
    expect((await session([slip], {}, { maxReasks: 0 })).agent.asked).toHaveLength(1);
    expect((await session([slip], { maxReasks: 1 }, { maxReasks: 0 })).agent.asked).toHaveLength(2);
  });

  it('is not asked for again of an agent that always says the same', async () => {
    const agent: Agent = { fixed: true, reply: async () => reply('command\n  let x = 1\nendcommand') };
    expect((await session([], { agent })).result).toMatchObject({ decision: 'HALT', reason: 'ERR_ACTIONS_INVALID' });
  });

  it('runs as it is when no reply is left: what may fail need not', async () => {
    const unreached = program('if false', '  call greet()', 'endif', 'emit "ran"');
    expect((await session([unreached], { maxReasks: 0 })).result).toMatchObject({ decision: 'DONE' });
  });

  it.each<[slip: string, program: string, line: string]>([
    ['a default by `or`', program('set x = nil', 'set n = x or 10', 'emit n'), '3'],
    ['a key without quotes', program('emit {name: 1}'), '2'],
    ['a changed copy that is dropped', program('set xs = [1]', 'call tool.list.Append(xs, 2)', 'emit xs'), '3'],
  ])('with %s is asked for again, and runs as it is when no reply is left', async (_, slip, line) => {
    await using whole = await createRuntime({ tools: pureTools(), policy: { allow: ['*'] } });
    const { record, told } = await session([slip], { maxReasks: 1 }, { runtime: whole });
    expect(told).toMatchObject([{ problems: [{ fix: { [line]: expect.any(String) } }] }]);
    expect(record).toMatchObject({ decision: 'DONE', attempts: [{ end: 'rejected' }] });
    const spent = await session([slip], { maxTokens: 10 }, { runtime: whole });
    expect(spent).toMatchObject({ told: [], result: { decision: 'DONE' } });
  });

  it('runs with its safe corrections without a further reply, where that is asked for, and the record has both programs', async () => {
    const slip = program('let x = 1', 'emit "is " + x');
    const { agent, result, record } = await session([slip], { repair: { fix: 'safe' } });
    expect(result).toMatchObject({ decision: 'DONE', output: 'is 1' });
    expect(agent.asked).toHaveLength(1);
    expect(record?.attempts).toMatchObject([
      { end: 'rejected', problems: [{ line: 2, fix: [{ line: 2, endLine: 2, text: '  set x = 1' }] }] },
    ]);
    expect(record?.inputs.envelope).toContain('set x = 1');
    expect((await session([slip], { repair: { fix: 'safe' }, maxReasks: 0 })).result.decision).toBe('DONE');
    expect((await session([slip], { maxReasks: 0 })).result.reason).toBe('ERR_ACTIONS_INVALID');
  });
});

describe('a program that fails while it runs', () => {
  it('is written again, and a call that was made is not made again', async () => {
    const fails = program('emit tool.mail.Send("ada")', 'emit nil.first');
    const { result, told, record, events } = await session([fails, program('emit tool.mail.Send("ada")', 'emit "mended"')]);
    expect(result.decision).toBe('DONE');
    expect(sent).toEqual(['ada']);
    expect(told[0]).toMatchObject({
      attempt: 1,
      code: expect.stringMatching(/^NS/),
      at: '3:11',
      calls: ['line 2: tool.mail.send("ada") = "sent to ada"'],
      rule: expect.stringContaining('output of this program was discarded'),
    });
    expect(record?.output).toContain('mended');
    expect(record?.output.match(/sent to ada/g)).toHaveLength(1);
    expect(record?.attempts).toMatchObject([{ end: 'failed', journal: [{ name: 'tool.mail.send' }] }]);
    expect(record?.journal).toMatchObject([{ from: { attempt: 1, seq: 1 } }, { name: 'tool.aeiou.magic' }]);
    expect(record?.leftOver).toEqual([]);
    expect(record?.usage.toolCalls).toBe(1);
    expect(events.filter(({ type }) => type === 'undecided')).toMatchObject([{ attempt: 1, end: 'failed' }]);
  });

  it('names the effects that the corrected program left over', async () => {
    const fails = program('emit tool.mail.Send("ada")', 'emit tool.db.Read("x")', 'fail "no"');
    const { record } = await session([fails, program('emit "without"')]);
    expect(record?.leftOver).toEqual([{ attempt: 1, seq: 1, tool: 'tool.mail.send' }]);
  });

  it('A3-6.5-3: its tokens are void, even if a later attempt emits one', async () => {
    const memo: { token?: string } = {};
    const keep = defineTool({
      name: 'tool.memo.Put',
      effects: 'none',
      args: [{ name: 'text', type: 'string' }],
      run: ({ text }) => {
        memo.token = text;
      },
    });
    const get = defineTool({ name: 'tool.memo.Get', effects: 'none', args: [], run: () => memo.token ?? '' });
    await using own = await createRuntime({ tools: [keep, get], policy: { allow: ['*'] } });
    const first =
      'command\n  set t = tool.aeiou.magic("LOOP", {"action": "done"})\n  call tool.memo.Put(t)\n  fail "no"\nendcommand';
    const second =
      'command\n  if false\n    emit tool.aeiou.magic("LOOP", {"action": "done"})\n  endif\n  emit tool.memo.Get()\nendcommand';
    const { result, record } = await session([first, second], {}, { runtime: own });
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_TOKEN_REPLAY' });
    expect(record?.candidates).toMatchObject([{ ok: false, code: 'ERR_TOKEN_REPLAY' }]);
  });

  it('waits for a person before another call of a tool with effects, and the refusal is an error that the program sees', async () => {
    const fails = program('emit tool.mail.Send("ada")', 'fail "no"');
    const other = program('on error do', '  emit "refused"', '  clear_error', 'endon', 'emit tool.mail.Send("bob")');
    for (const [answer, expected] of [
      [true, ['ada', 'bob']],
      [false, ['ada']],
    ] as const) {
      sent = [];
      const { result, loop, agent, store } = await session([fails, other]);
      expect(result).toMatchObject({ decision: 'SUSPENDED', waiting: { tool: 'tool.mail.send', args: ['bob'] } });
      expect(sent).toEqual(['ada']);
      await loop.complete('s', result.waiting?.call ?? '', { result: answer });
      expect(await loop.resume('s', { agent })).toMatchObject({ decision: 'DONE' });
      expect(sent).toEqual(expected);
      const [record] = await store.turns('s');
      expect(record?.output.includes('refused')).toBe(!answer);
      expect(record?.leftOver).toEqual([{ attempt: 1, seq: 1, tool: 'tool.mail.send' }]);
    }
  });

  it('with `halt` ends before such a call; with `proceed` makes it', async () => {
    const programs = [program('emit tool.mail.Send("ada")', 'fail "no"'), program('emit tool.mail.Send("bob")')];
    const halted = await session(programs, { repair: { changed: 'halt' } });
    expect(halted.result).toMatchObject({ decision: 'HALT', reason: 'ERR_EFFECT_CHANGED' });
    expect(sent).toEqual(['ada']);
    sent = [];
    expect((await session(programs, {}, { repair: { changed: 'proceed' } })).result.decision).toBe('DONE');
    expect(sent).toEqual(['ada', 'bob']);
  });

  it('AL3-7-1: a quota holds for all attempts together, and its breach decides', async () => {
    const fails = program('emit tool.db.Read("x")', 'fail "no"');
    const again = program('emit tool.db.Read("y")', 'emit tool.db.Read("z")');
    const { result } = await session([fails, again], { limits: { toolCalls: 3 } });
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_QUOTA', error: { limit: 'toolCalls' } });
    const busy = program('set n = 0', 'while n < 3000', '  set n = n + 1', 'endwhile', 'fail "no"');
    const { record } = await session([busy, busy], { limits: { fuel: 30_000 }, maxReasks: 5 });
    const spent = [...(record?.attempts ?? []).map(({ usage }) => usage.fuel), record?.usage.fuel ?? 0];
    expect(spent.reduce((sum, fuel) => sum + fuel, 0)).toBeLessThanOrEqual(30_000);
    expect(record?.reason).toBe('ERR_QUOTA');
  });

  it('ends the turn with its own code when no reply is left', async () => {
    const { result, record, agent } = await session([program('fail "no"')], { maxReasks: 2 });
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_EXEC' });
    expect(agent.asked).toHaveLength(3);
    expect(record?.attempts).toHaveLength(2);
  });

  it('is not corrected after a breach of a limit', async () => {
    const { result, agent } = await session([program('while true', '  set x = 1', 'endwhile')], { limits: { fuel: 10_000 } });
    expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_QUOTA' });
    expect(agent.asked).toHaveLength(1);
  });
});

describe('a session whose process ended between two attempts', () => {
  it('goes on in another process: the agent is asked again, and what the attempts used is counted once', async () => {
    const clock = new TestClock();
    const store = new MemoryStore({ clock });
    const keyring = newKeyring('k', clock);
    const controllerOf = (owner: string) =>
      new LoopController({ runtime, keyring, clock, ids: seededIds('repair'), store, owner, leaseMs: 1000 });
    const fails = program('emit tool.mail.Send("ada")', 'fail "no"');
    // The first process dies when it is about to ask again: its agent never answers.
    let asked = 0;
    const dying: Agent = {
      name: 'writer',
      reply: async () => (asked++ === 0 ? { text: reply(fails), tokens: 10 } : new Promise<never>(() => {})),
    };
    const first = controllerOf('first');
    await first.open(USERDATA, 's');
    void first.step('s', { agent: dying }).catch(() => {});
    while (asked < 2) await new Promise((resolve) => setImmediate(resolve));
    clock.ms += 2000;
    const agent = writer(reply(fails), reply(program('emit tool.mail.Send("ada")', 'emit "mended"')));
    expect(await controllerOf('second').resume('s', { agent })).toMatchObject({ decision: 'DONE' });
    expect(sent).toEqual(['ada']);
    expect(agent.asked.map(problemOf)).toMatchObject([
      { attempt: 1, left: 2 },
      { attempt: 2, left: 1 },
    ]);
    const [record] = await store.turns('s');
    expect(record).toMatchObject({
      agent: { asks: 3, tokens: 30 },
      attempts: [{ end: 'failed' }, { end: 'failed' }],
      leftOver: [],
    });
    const [one, two] = record?.attempts ?? [];
    const spent = (one?.usage.fuel ?? 0) + (two?.usage.fuel ?? 0);
    expect(record?.inputs.limits.fuel).toBe((one?.limits.fuel ?? 0) - spent);
  });
});

describe('why a session ended is stored and logged', () => {
  it('for an agent that gave no reply', async () => {
    const agent: Agent = { reply: () => Promise.reject(new Error('401 Unauthorized')) };
    const { store, log } = await session([], { agent });
    expect(await store.read('s')).toMatchObject({ reason: 'ERR_AGENT', message: expect.stringContaining('401 Unauthorized') });
    expect(log.entries).toMatchObject([{ reason: 'ERR_AGENT', message: expect.stringContaining('401 Unauthorized') }]);
  });

  it('for an agent that gave no second reply, with the attempt that it had made', async () => {
    let asked = 0;
    const agent: Agent = {
      reply: async () => {
        if (asked++ > 0) throw new Error('503 overloaded');
        return { text: reply(program('emit tool.mail.Send("ada")', 'fail "no"')), tokens: 7 };
      },
    };
    const { store, log, record } = await session([], { agent });
    expect(await store.read('s')).toMatchObject({
      reason: 'ERR_AGENT',
      message: expect.stringContaining('503'),
      spent: { tokens: 7 },
    });
    expect(record).toMatchObject({ decision: 'HALT', reason: 'ERR_AGENT', attempts: [{ end: 'failed' }], agent: { tokens: 7 } });
    expect(record?.leftOver).toEqual([{ attempt: 1, seq: 1, tool: 'tool.mail.send' }]);
    expect(log.entries).toMatchObject([{ reason: 'ERR_AGENT', attempts: 2, message: expect.stringContaining('503') }]);
  });
});
