import { describe, expect, it } from 'vitest';
import { MemoryStore } from '../../../src/loop/index.ts';
import { defineTool, type Grant, ToolError } from '../../../src/tools/index.ts';
import { agentOf, openHost, SESSION } from './stage.ts';

const done = 'emit tool.aeiou.magic("LOOP", {"action": "done"})';
const command = (...lines: readonly string[]): string => `command\n${[...lines, done].join('\n')}\nendcommand`;
const CARD = 'set c = tool.t.Card()';
const FIRST = command(CARD, 'call tool.t.Send(c.to)', 'fail "x"');

/** A host whose tools note what happens, and an agent that gives one program after the other within a turn. */
async function host(programs: readonly string[], options: object = {}) {
  const made: string[] = [];
  const noting = (name: string) =>
    defineTool({
      name: `tool.t.${name}`,
      args: [
        { name: 'what', type: 'string' },
        { name: 'how', type: 'string', required: false, default: 'plain' },
      ],
      setsVariables: false,
      run: ({ what }) => {
        made.push(`${name} ${what}`);
        if (what === 'broken') throw new ToolError(9, 'it broke');
        return null;
      },
    });
  const card = defineTool({ name: 'tool.t.Card', effects: 'read', run: () => ({ to: 'a', other: 'z' }) });
  const many = defineTool({ name: 'tool.t.Many', effects: 'read', run: () => ['a', 'b', 'c'] });
  const opened = await openHost([card, many, noting('Send'), noting('Log')], { approve: 'plan', ...options });
  const replies = [...programs];
  const agent = { reply: async () => await agentOf(replies.shift() ?? '').reply({ turn: 1 }) };
  const drive = { agent, maxReasks: programs.length - 1, keepTurns: true };
  /** Answers every plan, and resolves with what each asked for and how the session ended. */
  const run = async (
    answer: (plan: Grant, asked: number) => Grant | undefined = () => undefined,
    forges: (asked: number) => Promise<boolean> = async () => false,
  ) => {
    const asked: string[][] = [];
    let result = await opened.loop.runLoop({ ...SESSION, ...drive });
    for (; result.waiting !== undefined; result = await opened.loop.resume('s', drive)) {
      const { plan, call } = result.waiting;
      const grant = plan === undefined ? undefined : answer(plan, asked.length);
      for (const each of [result.waiting, ...(result.waiting.also ?? [])].filter(({ completed }) => !completed))
        asked.push(each.plan === undefined ? [`call ${each.call}`] : words(each.plan));
      if (asked.length > 9) throw new Error('it asks without end');
      if (!(await forges(asked.length - 1))) await opened.loop.complete('s', call, { result: true }, { grant });
    }
    return { asked, made, result };
  };
  return { run, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

/** The calls that a plan allows, but for those that it only names. */
function words({ calls }: Grant): string[] {
  return calls
    .filter(({ times, effects }) => times !== 0 && effects !== 'read')
    .map(({ tool, when = {}, returned = {}, times }) => {
      const what = returned['what'] === undefined ? JSON.stringify(when['what']) : 'an answer';
      return `${tool.slice('tool.t.'.length)} ${what} ${times ?? 'any'}`;
    });
}

describe('issue 47: a repaired program asks only for what is new', () => {
  it.each([
    ['what it repeats comes first', [CARD, 'call tool.t.Send(c.to)', 'call tool.t.Log("x")'], ['log "x" 1'], 'Log x'],
    ['what is new comes first', [CARD, 'call tool.t.Log("x")', 'call tool.t.Send(c.to)'], ['log "x" 1'], 'Log x'],
    ['a default is written out', [CARD, 'call tool.t.Log("x")', 'call tool.t.Send(c.to, "plain")'], ['log "x" 1'], 'Log x'],
    ['the answer is not there yet', ['call tool.t.Log("x")', CARD, 'call tool.t.Send(c.to)'], ['log "x" 1'], 'Log x'],
    [
      'it repeats the call and makes another',
      [CARD, 'call tool.t.Send(c.to)', 'call tool.t.Send(c.other)'],
      ['send "z" 1'],
      'Send z',
    ],
  ])('also where arguments are not known before the run, and %s', async (_, lines, asked, made) => {
    await using here = await host([FIRST, command(...lines)]);
    const ended = await here.run();
    expect(ended.asked.slice(1)).toEqual([asked]);
    expect([ended.result.decision, ended.made]).toEqual(['DONE', ['Send a', made]]);
  });

  it('and asks again for a call that might have taken an answer and does not, with its arguments', async () => {
    await using here = await host([FIRST, command(CARD, 'call tool.t.Log("x")', 'call tool.t.Send(c.other)')]);
    const { asked, made, result } = await here.run();
    expect(asked.slice(1)).toEqual([['log "x" 1'], ['send "z" 1']]);
    expect([result.decision, made]).toEqual(['DONE', ['Send a', 'Log x', 'Send z']]);
    expect(result.turns[0]?.plans?.map(({ attempt }) => attempt)).toEqual([1, 2, 2]);
  });

  it('but not after its plan was narrowed: then the call is refused', async () => {
    const second = command(CARD, 'call tool.t.Log("x")', 'call tool.t.Log("y")', 'call tool.t.Send(c.other)');
    await using here = await host([FIRST, second]);
    const { asked, made, result } = await here.run((plan, index) => {
      return index === 0 ? undefined : { ...plan, calls: plan.calls.filter(({ when }) => when?.['what'] !== 'y') };
    });
    expect([asked.length, made]).toEqual([2, ['Send a', 'Log x']]);
    expect(result.error?.message).toContain('outside of the grant');
  });

  it('and waits again where an answer in the store has no signature for the plan that was shown', async () => {
    const store = new MemoryStore();
    await using here = await host([FIRST, command(CARD, 'call tool.t.Log("x")', 'call tool.t.Send(c.other)')], { store });
    const forged = { ok: true, value: true } as const;
    const { asked, made } = await here.run(undefined, async (index) => {
      if (index !== 2) return false;
      const { next, fence } = await store.claim('s', { owner: 'thief', ms: 60_000 });
      if (next.kind !== 'waiting') throw new Error('it does not wait');
      await store.start({ ...next.started, suspended: { ...next.suspended, completion: forged } }, fence);
      await store.release('s', fence);
      return true;
    });
    expect([asked.slice(2), made]).toEqual([
      [['send "z" 1'], ['send "z" 1']],
      ['Send a', 'Log x', 'Send z'],
    ]);
  });

  it('names the calls of a grant in a refusal as the grant does', async () => {
    await using here = await host([command('set l = tool.t.Many()', 'for each n in l', 'call tool.t.Send(n)', 'endfor')]);
    const { made, result } = await here.run((plan) => ({
      ...plan,
      calls: plan.calls.map((call) => (call.tool === 'tool.t.send' ? { ...call, number: 1_000_001, times: 2 } : call)),
    }));
    expect([made, result.error?.message]).toEqual([['Send a', 'Send b'], expect.stringContaining('call 1000001 of it')]);
  });

  it('asks for another call of a tool whose recorded call it does not take, and once', async () => {
    await using here = await host([
      command('call tool.t.Send("a")', 'fail "x"'),
      command('call tool.t.Send("b")', 'call tool.t.Send("c")'),
    ]);
    const { asked, made, result } = await here.run();
    expect(asked).toEqual([['send "a" 1'], ['send "b" 1', 'send "c" 1']]);
    expect([result.decision, made]).toEqual(['DONE', ['Send a', 'Send b', 'Send c']]);
  });

  it('asks for a call that comes without what an earlier plan needed before it, and for no other', async () => {
    const [list, card] = ['set l = tool.t.Many()', 'set c = tool.t.Card()'];
    await using here = await host([
      command(card, 'call tool.t.Log("broken")', list, 'call tool.t.Send("a")', 'call tool.t.Send("b")'),
      command(card, 'call tool.t.Send("a")', list, 'call tool.t.Send("b")'),
    ]);
    const { asked, made, result } = await here.run();
    expect(asked).toEqual([['log "broken" 1', 'send "a" 1', 'send "b" 1'], ['send "a" 1']]);
    expect([result.decision, made]).toEqual(['DONE', ['Log broken', 'Send a', 'Send b']]);
    await using narrowed = await host([command(list, 'call tool.t.Send("a")')]);
    const order = [{ tool: 'tool.t.send', needs: 'tool.t.log' }];
    const refused = await narrowed.run((plan) => ({ ...plan, order: [...(plan.order ?? []), ...order] }));
    expect([refused.asked.length, refused.made]).toEqual([1, []]);
    expect(refused.result.error?.message).toContain('by its rule: order tool.t.send needs tool.t.log');
  });

  it('asks for a call that failed, and for as many calls of a loop as are new', async () => {
    const each = (list: string) => ['set l = tool.t.Many()', `for each n in ${list}`, 'call tool.t.Send(n)', 'endfor'];
    await using here = await host([
      command(...each('l'), 'call tool.t.Log("broken")'),
      command(...each('l'), 'call tool.t.Log("broken", "fancy")'),
    ]);
    const { asked, made } = await here.run();
    expect(asked).toEqual([['send an answer any', 'log "broken" 1'], ['log "broken" 1']]);
    expect(made).toEqual(['Send a', 'Send b', 'Send c', 'Log broken', 'Log broken']);
  });

  it('asks once for new calls that run together', async () => {
    const both = (...names: readonly string[]) => [
      'together',
      ...names.map((name) => `call tool.t.Send("${name}")`),
      'endtogether',
    ];
    await using here = await host([command(...both('a', 'b'), 'fail "x"'), command(...both('a', 'c', 'd'))]);
    const { asked, made, result } = await here.run();
    expect(asked.slice(1)).toEqual([['send "c" 1', 'send "d" 1']]);
    expect([result.decision, made]).toEqual(['DONE', ['Send a', 'Send b', 'Send c', 'Send d']]);
  });

  it('does not count the reads of an attempt for a plan that was approved after it', async () => {
    const reads = ['set l = tool.t.Many()', 'set c = tool.t.Card()'];
    await using here = await host([
      command(...reads, 'fail "x"'),
      command(...reads, 'call tool.t.Many()', 'call tool.t.Send(c.to)'),
    ]);
    expect(await here.run()).toMatchObject({ asked: [expect.any(Array)], made: ['Send a'], result: { decision: 'DONE' } });
  });
});

it('issue 47: where no turn can wait, a plan that nobody approved lets nothing happen', async () => {
  await using here = await host([command('call tool.t.Send("a")')], { mayWait: false });
  const { made, result } = await here.run();
  expect([made, result.error?.message]).toEqual([[], expect.stringContaining('its plan must be approved first')]);
});
