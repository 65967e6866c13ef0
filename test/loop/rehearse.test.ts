import { describe, expect, it, vi } from 'vitest';
import { MemoryStore, replaySession, runtimeExecutor, type StepOptions } from '../../src/loop/index.ts';
import { createRuntime } from '../../src/runtime/index.ts';
import { Sandbox } from '../../src/sandbox/index.ts';
import { defineTool, loadMockTools, type ToolDefinition } from '../../src/tools/index.ts';
import { NeuroScriptError } from '../../src/wire/errors.ts';
import { reply } from './fake.ts';
import { openHost, SESSION } from './suspend/stage.ts';

const done = 'emit tool.aeiou.magic("LOOP", {"action": "done"})';
const command = (...lines: readonly string[]): string => `command\n${lines.join('\n')}\nendcommand`;

const MOCKS = `tools:
  tool.t.List: { args: [], effects: read, cases: [{ times: 1, returns: ["a", "b"] }] }
  tool.t.Send: { args: [to], cases: [{ when: { to: { $type: string } }, returns: sent }] }
  tool.t.Ask: { args: [], otherwise: { pending: "may I?" } }
`;

/** A host whose tools note what reaches the world, and that rehearses on mocks. */
async function host({ fails = false, policy = { allow: ['*'] } }: { readonly fails?: boolean; readonly policy?: object } = {}) {
  const world: string[] = [];
  const tool = (name: string, args: readonly { readonly name: string }[], effects: 'read' | 'write'): ToolDefinition =>
    defineTool({
      name,
      args,
      effects,
      setsVariables: false,
      run: (given) => {
        world.push([name, ...Object.values(given)].join(' '));
        if (fails && effects === 'write') throw new Error('the world is down');
        return effects === 'read' ? ['x'] : null;
      },
    });
  const tools = [
    tool('tool.t.List', [], 'read'),
    tool('tool.t.Send', [{ name: 'to' }], 'write'),
    tool('tool.t.Ask', [], 'write'),
  ];
  const store = new MemoryStore();
  const real = await openHost(tools, { store, runtime: { policy } });
  const stage = await createRuntime({ tools: loadMockTools(MOCKS, 'mocks.yaml'), policy, concurrency: 1 });
  const run = async (programs: readonly string[], options: Partial<StepOptions> = {}) => {
    const [left, prompts]: [string[], string[]] = [[...programs], []];
    const agent = {
      reply: async ({ prompt }: { readonly prompt: string }) => {
        prompts.push(prompt);
        return reply(left.shift() ?? '');
      },
    };
    const result = await real.loop.runLoop({ ...SESSION, agent, rehearse: runtimeExecutor(stage), keepTurns: true, ...options });
    return { ...result, prompts, record: result.turns[0] };
  };
  const replayed = async () => {
    await using replaying = await createRuntime({ concurrency: 1 });
    const { turns } = await replaySession(replaying, store, 's');
    return turns.map(({ verdict, attempts }) => [verdict, ...attempts.map((each) => each.verdict)]);
  };
  return {
    ...real,
    world,
    run,
    replayed,
    [Symbol.asyncDispose]: async () => {
      await real.runtime.close();
      await stage.close();
    },
  };
}

describe('issue 47, rehearse: each program runs first against mocks', () => {
  it('asks for repair until one comes to its end there, and then runs that one once for real', async () => {
    await using here = await host();
    const { decision, record, prompts } = await here.run([
      command('call tool.t.Send("a")', 'fail "x"', done),
      command('call tool.t.Send(7)', done),
      command('call tool.t.List()', 'call tool.t.List()', done),
      command('for each name in tool.t.List()', 'call tool.t.Send(name)', 'endfor', done),
    ]);
    expect(decision).toBe('DONE');
    // Nothing of the first three programs has reached the world, and the last one got the answers of the world.
    expect(here.world).toEqual(['tool.t.List', 'tool.t.Send x']);
    expect(record?.attempts?.map(({ end, journal }) => [end, journal.length])).toEqual([
      ['rehearsed', 1],
      ['rehearsed', 1],
      ['rehearsed', 2],
    ]);
    expect(record?.leftOver).toEqual([]);
    expect(prompts[1]).toContain('ran against mocks alone');
    expect(prompts[1]).toContain('tool.t.send(\\"a\\") = \\"sent\\"');
    expect(await here.replayed()).toEqual([['same', 'same', 'same', 'same']]);
  });

  it('rehearses a program again whose worker was killed, and asks nobody for another one', async () => {
    await using here = await host();
    const killed = new NeuroScriptError('ERR_WORKER', 'it was killed');
    const look = vi.spyOn(Sandbox.prototype, 'foresee').mockRejectedValueOnce(killed).mockRejectedValueOnce(killed);
    const { decision, prompts } = await here.run([command('call tool.t.Send("a")', done)]).finally(() => look.mockRestore());
    expect([decision, prompts.length, here.world]).toEqual(['DONE', 1, ['tool.t.Send a']]);
  });

  it('asks nobody for another program after a failure in the world', async () => {
    await using here = await host({ fails: true });
    const { decision, reason, prompts } = await here.run([command('call tool.t.Send("a")', done), command(done)]);
    expect([decision, reason, prompts.length]).toEqual(['HALT', 'ERR_EXEC', 1]);
    expect(here.world).toEqual(['tool.t.Send a']);
  });

  it('halts without running a program when no reply is left', async () => {
    await using here = await host();
    const { decision, reason, error, record } = await here.run([command('call tool.t.Send("a")', 'fail "x"', done)], {
      maxReasks: 0,
    });
    expect([decision, reason, error?.message]).toEqual(['HALT', 'ERR_POLICY', 'the program failed in its rehearsal: x']);
    expect([here.world, record?.journal]).toEqual([[], []]);
    expect(record?.attempts).toMatchObject([{ end: 'rehearsed', error: { message: 'x' } }]);
    expect(await here.replayed()).toEqual([['same', 'same']]);
  });

  it.each([
    ['the limit of a turn', command('while true', 'set i = 1', 'endwhile', done), 'fuel'],
    ['a program without a valid token', command('if tool.t.List() == 1', done, 'endif'), 'ERR_TOKEN_MISSING'],
    ['a call that mocks let wait', command('call tool.t.Ask()', done), 'wait'],
    ['a tool that the mocks lack', command('call tool.t.Other()', done), 'tool.t.Other'],
    ['a program that does not parse', 'command\nset\nendcommand', 'expected'],
  ])('asks again after %s', async (_, program, told) => {
    await using here = await host();
    const { decision, prompts } = await here.run([program, command(done)], { limits: { fuel: 5000 } });
    expect([decision, here.world]).toEqual(['DONE', []]);
    expect(prompts[1]).toContain(told);
  });

  it('a rehearsal begins with the mocks as they are, counts for no limit of the turn, and gives no token', async () => {
    await using here = await host();
    const using = [command('call tool.t.List()', 'set i = 0', 'while i < 300', 'set i = i + 1', 'endwhile', 'fail "x"', done)];
    const { decision, record } = await here.run([...using, command('call tool.t.List()', done)], { limits: { fuel: 5000 } });
    expect([decision, here.world]).toEqual(['DONE', ['tool.t.List']]);
    expect(record?.inputs.limits.fuel).toBe(5000);
  });

  it('comes before the approval of a plan, which is asked for the frozen program alone', async () => {
    await using here = await host();
    const programs = [command('call tool.t.Send("a")', 'fail "x"', done), command('call tool.t.Send("b")', done)];
    const waits = await here.run(programs, { approve: 'plan' });
    expect(waits.waiting?.plan?.calls).toMatchObject([{ tool: 'tool.t.send', when: { to: 'b' } }]);
    await here.loop.complete('s', 'plan', { result: true });
    const agent = { reply: () => Promise.reject(new Error('nobody is asked')) };
    expect(await here.loop.resume('s', { agent, approve: 'plan' })).toMatchObject({ decision: 'DONE' });
    expect(here.world).toEqual(['tool.t.Send b']);
  });
});

describe('issue 47: a session that is bound to a grant', () => {
  const grant = {
    version: 1,
    programs: [],
    calls: [{ number: 1, tool: 'tool.t.send', when: { to: 'a' }, times: 1, effects: 'write' }],
  } as const;

  it('refuses what the grant does not have', async () => {
    await using here = await host();
    const program = command('call tool.t.Send("a")', 'call tool.t.Send("b")', done);
    const { reason, error } = await here.run([program], { bound: grant, rehearse: undefined, maxReasks: 0 });
    expect([reason, error?.message]).toEqual(['ERR_POLICY', expect.stringContaining('outside of the grant')]);
    expect(here.world).toEqual(['tool.t.Send a']);
  });

  it.each([
    ['comes after it', ['call tool.t.List()', 'call tool.t.Send("a")'], 'DONE'],
    ['runs together with it', ['together', 'call tool.t.List()', 'call tool.t.Send("a")', 'endtogether'], 'DONE'],
    ['stands before it', ['together', 'call tool.t.Send("a")', 'call tool.t.List()', 'endtogether'], 'HALT'],
    ['was refused before it, and comes again', ['call again()', 'call tool.t.List()', 'call tool.t.Send("a")'], 'DONE'],
  ])('lets a call that needs another one be made where it %s', async (_, lines, ends) => {
    await using here = await host();
    await here.root.append(
      'func again() means\n  on error do\n    clear_error\n  endon\n  call tool.t.Send("a")\nendfunc\n',
      'lib.ns',
    );
    const order = [{ tool: 'tool.t.send', needs: 'tool.t.list' }];
    const bound = { ...grant, calls: [...grant.calls, { number: 2, tool: 'tool.t.list' }], order };
    const { decision, error } = await here.run([command(...lines, done)], { bound, rehearse: undefined, maxReasks: 0 });
    expect([decision, here.world.includes('tool.t.Send a')]).toEqual([ends, ends === 'DONE']);
    if (ends === 'HALT') expect(error?.message).toContain('outside of the grant: tool');
  });

  it('with approval of plans: waits for no call of the grant, and for the approval of the others', async () => {
    await using here = await host();
    const options = { bound: grant, approve: 'plan', rehearse: undefined } as const;
    expect(await here.run([command('call tool.t.Send("a")', done)], options)).toMatchObject({ decision: 'DONE' });
    expect(here.world).toEqual(['tool.t.Send a']);
    await using other = await host();
    const { waiting } = await other.run([command('call tool.t.Send("a")', 'call tool.t.Send("b")', done)], options);
    expect(waiting?.plan?.calls).toMatchObject([{ when: { to: 'b' } }]);
    expect(other.world).toEqual(['tool.t.Send a']);
    await other.loop.complete('s', 'plan', { result: true });
    const agent = { reply: () => Promise.reject(new Error('nobody is asked')) };
    expect(await other.loop.resume('s', { agent, ...options })).toMatchObject({ decision: 'DONE' });
    expect(other.world).toEqual(['tool.t.Send a', 'tool.t.Send b']);
  });

  it('what the policy asks about a call of the grant is asked', async () => {
    await using here = await host({
      policy: { allow: ['*'], order: [{ tool: 'tool.t.Send', needs: 'tool.t.List', else: 'ask' }] },
    });
    const options = { bound: grant, approve: 'plan', rehearse: undefined } as const;
    const { waiting } = await here.run([command('call tool.t.Send("a")', done)], options);
    expect(waiting).toMatchObject({ call: '1.1', reason: expect.stringContaining('answer true to allow this call') });
  });
});
