import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TurnContext, TurnInit } from '../../../src/context/index.ts';
import { runtimeExecutor } from '../../../src/loop/turn/executor.ts';
import { EventGate, type LoopInputEvent } from '../../../src/loop/v1/dedupe.ts';
import { capOutput, V1_HALT_REASONS } from '../../../src/loop/v1/diagnostics.ts';
import { AskLoop, type LoopAuditRecord, loopAudit } from '../../../src/loop/v1/loop.ts';
import { V1_EXAMPLE_ACTIONS, v1SystemPrompt } from '../../../src/loop/v1/prompt.ts';
import { secretHook } from '../../../src/loop/v1/secrets.ts';
import { planApplyPolicy } from '../../../src/loop/v1/session.ts';
import { executeV1Turn } from '../../../src/loop/v1/turn.ts';
import { defineTool, Policy, PolicyGuard } from '../../../src/tools/index.ts';
import { memoryTools, scratchTools } from '../../../stdlib-tools/index.ts';
import { agentOf, command, emits, outputOf, Stage, sections } from './bench.ts';

const effects: unknown[] = [];
const audit: LoopAuditRecord[] = [];
const tools = [
  ...memoryTools(),
  ...scratchTools(),
  defineTool({ name: 'tool.spy.Do', args: [{ name: 'what' }], run: ({ what }) => void effects.push(what) }),
  defineTool({ name: 'tool.spy.Twice', run: (_, runtime) => runtime.callTool('tool.spy.Do', ['nested']) }),
  defineTool({ name: 'tool.fs.Write', capabilities: ['fs:write'], run: () => void effects.push('written') }),
  defineTool({ name: 'tool.shell.Run', run: () => void effects.push('run') }),
];

let stage: Stage;
beforeAll(async () => {
  const policy = { allow: ['tool.memory.*', 'tool.scratch.*', 'tool.spy.*', 'tool.fs.*'], grants: ['memory:*', 'scratch:*'] };
  stage = await Stage.open({ tools, policy, audit: loopAudit((record) => audit.push(record)) });
});
afterAll(() => stage.runtime.close());
beforeEach(() => {
  effects.length = 0;
  audit.length = 0;
});

const CONTINUE = `emit '{"loop":"continue"}'`;
const DONE = 'emit "[[loop:done]]"';

describe('writes and plans', () => {
  it('AL1-2.10-1: memory can only be written with the version that was read; a stale version changes nothing', async () => {
    const writers = memoryTools().filter(({ effects: kind }) => kind === 'write');
    expect(writers.map(({ name, parameters }) => [name, parameters.map((each) => [each.name, each.required])])).toEqual([
      [
        'tool.memory.CAS',
        [
          ['path', true],
          ['version', true],
          ['value', false],
        ],
      ],
    ]);
    const { result } = await stage.play([
      command(
        'set ok, version = tool.memory.CAS("/a", 0, "first")',
        'emit [ok, version]',
        'set ok, version = tool.memory.CAS("/a", 0, "stale")',
        'emit [ok, version]',
        'emit tool.memory.Get("/a")',
        DONE,
      ),
    ]);
    expect(result.output.split('\n').slice(0, 3)).toEqual(['[true, 1]', '[false, 1]', '["first", 1]']);
  });

  it('AL1-2.10-2: with the Plan → Apply hook a risky tool runs only in the turn after a plan', async () => {
    const host = { applyTools: ['tool.spy.do'], ceilings: { maxTurns: 9 } };
    const apply = (last: string) => command('on error do', '  clear_error', 'endon', last, 'call tool.spy.Do("applied")');
    const plan = emits('{"loop":"continue","notes":"planned"}', 'PLAN [{"op":"set"}]');

    const planned = await stage.play([plan, apply(DONE)], { host });
    expect(planned.result.output).toBe('[[loop:done]]');
    expect(effects.splice(0)).toEqual(['applied']);

    const before = `emit '{"loop":"continue","notes":"no plan"}'`;
    for (const replies of [
      [apply(DONE)],
      [command(before, 'emit "PLAN tomorrow"'), apply(DONE)],
      [plan, command(before), apply(DONE)],
      [command('whisper self, "PLAN [1]"', before), apply(DONE)],
    ]) {
      const { result } = await stage.play(replies, { host });
      expect(result.output).toBe('[[loop:done]]\n[[denied:tool.spy.do:capability_missing]]');
      expect(effects).toEqual([]);
    }
    const off = await stage.play([apply(DONE)]);
    expect(off.result.output).toBe('[[loop:done]]');
    expect(effects).toEqual(['applied']);
  });

  it('AL1-2.10-2: the hook takes nothing away but the tools that apply, whatever they need', () => {
    const needy = defineTool({
      name: 'tool.x.Y',
      capabilities: ['net:read:a.example:443'],
      requiresTrust: true,
      run: () => null,
    });
    const admits = (mayApply: boolean, ...apply: string[]) =>
      new PolicyGuard(new Policy(planApplyPolicy(apply, mayApply))).denial(needy, false) === null;
    expect([admits(false), admits(true), admits(true, 'tool.x.*'), admits(false, 'tool.x.*')]).toEqual([true, true, true, false]);
  });

  it('AL1-2.10-2: the hook grants nothing that the policy of the host does not', async () => {
    const plan = emits('{"loop":"continue"}', 'PLAN [1]');
    const { result } = await stage.play([plan, command('call tool.shell.Run()')], { host: { applyTools: ['tool.spy.*'] } });
    expect(result).toMatchObject({ reason: 'policy', error: { kind: 'policy' } });
    expect(effects).toEqual([]);
  });

  it('AL1-2.11-1: what a turn keeps in scratch the next turn of the same loop reads, and no other loop', async () => {
    const put = command('set ok, v = tool.scratch.PutCAS("token", 0, "s3cr3t-value", 60)', CONTINUE);
    const get = command('set value, version = tool.scratch.Get("token")', 'emit [value == "s3cr3t-value", version]', DONE);
    const { result, asked } = await stage.play([put, get]);
    expect(result.output).toBe('[true, 1]\n[[loop:done]]');
    expect(asked.map(({ prompt }) => prompt).join()).not.toContain('s3cr3t');
    expect((await stage.play([get])).result.output).toBe('[false, 0]\n[[loop:done]]');
  });
});

describe('secrets', () => {
  const secrets = { api_key: 'sk-1234567890', longer: 'sk-1234567890-and-more' };
  const leak = command(`emit '{"loop":"continue","notes":"key sk-1234567890"}'`, 'emit "x sk-1234567890-and-more y"');

  it('AL1-2.11-2: a secret in an emit is named in a lint, never shown there', async () => {
    const { result } = await stage.play([leak, command(DONE)], { host: { screen: secretHook(secrets) } });
    const [turn, clean] = result.turns;
    expect(turn?.lints).toEqual([
      { code: 'LINT_SECRET_OUTPUT', name: 'longer' },
      { code: 'LINT_SECRET_OUTPUT', name: 'api_key' },
    ]);
    expect(turn?.output).toContain('sk-1234567890-and-more');
    expect(clean?.lints).toEqual([]);
  });

  it('AL1-7-3: with redaction it reaches neither the agent, nor the result, and control is still read', async () => {
    const { result, asked } = await stage.play([leak, command(DONE)], {
      host: { screen: secretHook(secrets, { redact: true }) },
    });
    expect(outputOf(asked[1]?.prompt ?? '')).toBe('{"loop":"continue","notes":"key <redacted:api_key>"}\nx <redacted:longer> y');
    expect(result.turns[0]?.control).toMatchObject({ signal: 'continue', notes: 'key <redacted:api_key>' });
    expect(
      JSON.stringify([asked, result.turns.map(({ output, nextOutput, control }) => [output, nextOutput, control])]),
    ).not.toContain('sk-');
  });

  it('a secret that would be found everywhere, and a name that could break a line, are refused', () => {
    expect(() => secretHook({ pin: '1234567' })).toThrow(expect.objectContaining({ code: 'ERR_CONFIG' }));
    expect(() => secretHook({ 'a]': '12345678' })).toThrow(expect.objectContaining({ code: 'ERR_CONFIG' }));
    expect(secretHook({ money: '$& costs' }, { redact: true })('it $& costs').output).toBe('it <redacted:money>');
  });
});

describe('events', () => {
  const handler = 'on event "job" as e do\n  call tool.spy.Do(e["payload"][0]["Payload"])\nendon';
  const reply = (last: string) => sections({ EVENTS: handler, ACTIONS: command(last) });
  const event = (eventId: string, payload: string): LoopInputEvent => ({ eventId, name: 'job', source: 'queue', payload });

  it('AL1-2.12-1: an event that is sent twice has one effect, and a handler under CAS has one even when it runs twice', async () => {
    const { result } = await stage.play([reply(DONE)], {
      run: { events: () => [event('e1', 'a'), event('e1', 'a'), event('e2', 'b')] },
    });
    expect(effects).toEqual(['a', 'b']);
    expect(result.turns[0]?.delivered).toEqual(['e1', 'e2']);

    const cas =
      'on event "job" as e do\n  set ok, v = tool.memory.CAS("/jobs/" + e["payload"][0]["Payload"], 0, "done")\n  if ok\n    call tool.spy.Do("once")\n  endif\nendon';
    effects.length = 0;
    const request = { loopId: 'cas', turn: 1, reply: sections({ EVENTS: cas, ACTIONS: command(DONE) }), userdata: {} };
    for (let sent = 0; sent < 2; sent++)
      await executeV1Turn(runtimeExecutor(stage.runtime), { ...request, events: [event('e9', 'j')] });
    expect(effects).toEqual(['once']);
  });

  it('AL1-2.12-2: the same event, loop and turn is dropped; another turn, loop or event is not', async () => {
    const gate = new EventGate();
    const admitted = (loop: string, turn: number, ...ids: string[]) =>
      gate
        .admit(
          loop,
          turn,
          ids.map((id) => event(id, '')),
        )
        .map(({ eventId }) => eventId);
    expect(admitted('l', 1, 'a', 'b', 'a')).toEqual(['a', 'b']);
    expect(admitted('l', 1, 'a', 'c')).toEqual(['c']);
    expect(admitted('other', 1, 'a')).toEqual(['a']);
    expect(admitted('l', 2, 'a', 'c')).toEqual(['a', 'c']);
    expect(admitted('l', 2, 'c')).toEqual([]);
    gate.dispose('l');
    expect(admitted('l', 2, 'c')).toEqual(['c']);

    await stage.play([reply(`emit '{"loop":"continue"}'`), reply(DONE)], {
      run: { events: (turn) => [event('e1', `turn ${turn}`)] },
    });
    expect(effects).toEqual(['turn 1', 'turn 2']);
  });

  it('AL1-2.12-2: a loop that has ended is forgotten: another one of its id gets its events', async () => {
    const loop = new AskLoop({ executor: runtimeExecutor(stage.runtime) });
    const run = {
      agent: agentOf(reply(DONE)),
      permitted: true,
      userdata: null,
      loopId: 'again',
      events: () => [event('e1', 'x')],
    };
    await loop.run(run);
    await loop.run(run);
    expect(effects).toEqual(['x', 'x']);
  });

  it('an event handler that fails does not fail the turn, and is not lost', async () => {
    const failing = sections({ EVENTS: 'on event "job" as e do\n  fail "broken"\nendon', ACTIONS: command(DONE) });
    const { result } = await stage.play([failing], { run: { events: () => [event('e', 'x')] } });
    expect(result).toMatchObject({ cause: 'done', turns: [{ eventErrors: [{ event: 'job', error: { message: 'broken' } }] }] });
  });

  it('a turn whose events broke a limit does not run its ACTIONS', async () => {
    const acted = command('call tool.spy.Do("actions")', DONE);
    for (const [body, limit] of [
      ['while true\n    set x = 1\n  endwhile', 'fuel'],
      ['emit "x" * 9000', 'lineBytes'],
    ]) {
      const program = sections({ EVENTS: `on event "job" as e do\n  ${body}\nendon`, ACTIONS: acted });
      const events = () => [event('e', 'x')];
      const { result } = await stage.play([program], { host: { ceilings: { turnFuel: 20_000 } }, run: { events } });
      expect(result).toMatchObject({ reason: 'policy', error: { limit }, output: '[[loop:halt:reason=policy]]' });
      expect(effects).toEqual([]);
    }
  });

  it('what events use is taken off the budget of their turn', async () => {
    const burn = 'on event "job" as e do\n  set i = 0\n  while i < 2000\n    set i = i + 1\n  endwhile\nendon';
    const program = sections({
      EVENTS: burn,
      ACTIONS: command('set i = 0', 'while i < 2000', '  set i = i + 1', 'endwhile', DONE),
    });
    const events = () => [event('e', 'x')];
    const used = (await stage.play([program], { run: { events } })).result.fuel;
    const enough = { ceilings: { turnFuel: used } };
    const little = { ceilings: { turnFuel: used - 5000 } };
    expect((await stage.play([program], { host: enough, run: { events } })).result.cause).toBe('done');
    expect((await stage.play([program], { host: little, run: { events } })).result).toMatchObject({
      reason: 'policy',
      error: { limit: 'fuel' },
    });
  });
});

describe('tracing', () => {
  it('AL1-2.13-1: every audit record of a tool call, nested ones included, has loop_id and turn_id', async () => {
    const program = (last: string) => command('call tool.spy.Do(1)', 'call tool.spy.Twice()', last);
    await stage.play([program(CONTINUE), program(DONE)], { run: { loopId: 'audited' } });
    expect(audit.map(({ loop_id, turn_id, tool, nested }) => [loop_id, turn_id, tool, nested])).toEqual(
      [1, 2].flatMap((turn) => [
        ['audited', turn, 'tool.spy.do', false],
        ['audited', turn, 'tool.spy.do', true],
        ['audited', turn, 'tool.spy.twice', false],
      ]),
    );
  });

  it('AL1-2.13-2: ids are in OUTPUT only when the host wants them there', async () => {
    const replies = [command(CONTINUE), command(DONE)];
    const off = await stage.play(replies, { run: { loopId: 'traced' } });
    expect(JSON.stringify([off.result.output, off.asked.map(({ prompt }) => prompt)])).not.toContain('traced');
    const on = await stage.play(replies, { run: { loopId: 'traced' }, host: { showIds: true } });
    expect(outputOf(on.asked[1]?.prompt ?? '')).toBe('{"loop":"continue"}\n[loop_id=traced turn_id=1]');
    expect(on.result.output).toBe('[[loop:done]]\n[loop_id=traced turn_id=2]');
  });
});

describe('diagnostics', () => {
  it('AL1-3-1: a denied call adds exactly its stub, once, with the name of the tool', async () => {
    const { result } = await stage.play([
      command(
        'on error do',
        '  clear_error',
        'endon',
        `emit '{"loop":"done"}'`,
        'call tool.fs.Write()',
        'call tool.fs.Write()',
        'call tool.shell.Run()',
        'call tool.spy.Do(1)',
      ),
    ]);
    expect(result).toMatchObject({ cause: 'done' });
    expect(result.output).toBe(
      '{"loop":"done"}\n[[denied:tool.fs.write:capability_missing]]\n[[denied:tool.shell.run:capability_missing]]',
    );
    expect(effects).toEqual([1]);
    const ended = await stage.play([command('emit "a"', 'call tool.fs.Write()')]);
    expect(ended.result.output).toBe('a\n[[denied:tool.fs.write:capability_missing]]\n[[loop:halt:reason=policy]]');
  });

  it('AL1-3-2: an OUTPUT over its cap is cut with a stub of both sizes, and control is read from all of it', async () => {
    const long = emits(...Array.from({ length: 10 }, () => 'x'.repeat(999)), '[[loop:continue]]');
    const { asked, result } = await stage.play([long, command(DONE)]);
    const fed = outputOf(asked[1]?.prompt ?? '');
    const stub = '\n[[truncated:OUTPUT:bytes=10017 allowed=4096]]';
    expect(fed.endsWith(stub)).toBe(true);
    expect(Buffer.byteLength(fed.slice(0, -stub.length))).toBe(4096);
    expect(result.cause).toBe('done');
    const fits = await stage.play([emits('x'.repeat(4096 - 18), '[[loop:continue]]'), command(DONE)]);
    expect(outputOf(fits.asked[1]?.prompt ?? '')).not.toContain('truncated');
  });

  it('AL1-3-2: a cut never goes through a character', () => {
    for (const allowed of [1, 2, 3, 4, 5, 6, 7]) {
      const { text, stubs } = capOutput('é😀é', allowed);
      expect('é😀é'.startsWith(text)).toBe(true);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(allowed);
      expect(stubs).toEqual([`[[truncated:OUTPUT:bytes=8 allowed=${allowed}]]`]);
    }
    expect(capOutput('é😀é', 8)).toEqual({ text: 'é😀é', stubs: [] });
  });

  it.each([
    ['no envelope', 'I would rather not.', 'missing_command'],
    ['no ACTIONS', sections({ OUTPUT: 'prose' }), 'missing_command'],
    ['definitions in ACTIONS', sections({ ACTIONS: 'func f() means\n  emit 1\nendfunc' }), 'missing_command'],
    ['two command blocks', sections({ ACTIONS: `${command(DONE)}\n${command(DONE)}` }), 'missing_command'],
    ['a syntax error', sections({ ACTIONS: command('let x = 1') }), 'parse_error'],
    ['a syntax error in IMPLEMENTATIONS', sections({ IMPLEMENTATIONS: 'func', ACTIONS: command(DONE) }), 'parse_error'],
    ['two ACTIONS', `${sections({ ACTIONS: command(DONE) })}${sections({ ACTIONS: command(DONE) })}`, 'duplicate_section'],
    ['two megabytes', `${sections({ ACTIONS: command(DONE) })}${'x'.repeat(2 ** 21)}`, 'too_large'],
    ['an empty v3 envelope', '<<<NSENV:V3:START>>>\n<<<NSENV:V3:END>>>', 'missing_command'],
  ])('AL1-3-3: %s gives the stub with its reason', async (_, reply, reason) => {
    const { result } = await stage.play([], {
      run: { agent: { reply: async () => reply } },
      host: { ceilings: { turnTokens: 1e9 } },
    });
    expect(result.output).toBe(`[[invalid:ACTIONS:${reason}]]\n[[loop:halt:reason=execute-error]]`);
    expect(result.turns).toMatchObject([{ invalid: reason, journal: [] }]);
  });

  it('AL1-3-4: each of the five reasons for a halt comes from its own cause, and there is no other', async () => {
    const never = { reply: () => new Promise<string>(() => {}) };
    const reasons = [
      (await stage.play([], { run: { agent: never }, host: { ceilings: { wallMs: 20 } } })).result,
      (await stage.play([command(CONTINUE)], { host: { ceilings: { maxTurns: 1 } } })).result,
      (await stage.play([command(CONTINUE)])).result,
      (await stage.play([command('call tool.shell.Run()')])).result,
      (await stage.play([command('fail "x"')])).result,
    ].map(({ output, reason }) => [output.split('\n').at(-1), reason]);
    const all = ['timeout', 'max-turns', 'no-progress', 'policy', 'execute-error'];
    expect(reasons).toEqual(all.map((reason) => [`[[loop:halt:reason=${reason}]]`, reason]));
    expect(Object.keys(V1_HALT_REASONS)).toEqual(all);
  });

  it('AL1-3-4: an agent that fails is an execute-error, a cancelled loop ends by policy', async () => {
    const broken = { reply: () => Promise.reject(new Error('no model')) };
    expect((await stage.play([], { run: { agent: broken } })).result).toMatchObject({
      reason: 'execute-error',
      error: { code: 'ERR_AGENT' },
    });
    const signal = AbortSignal.abort();
    expect((await stage.play([command(DONE)], { run: { signal } })).result).toMatchObject({
      reason: 'policy',
      error: { kind: 'cancelled' },
    });
    const cancel = new AbortController();
    const { result } = await stage.play([command(CONTINUE), command('while true', '  set x = 1', 'endwhile')], {
      run: { signal: cancel.signal, onEvent: ({ turn, type }) => void (turn === 2 && type === 'section' && cancel.abort()) },
    });
    expect(result).toMatchObject({ reason: 'policy', error: { kind: 'cancelled' }, turns: { length: 2 } });
  });

  it('the context of a turn is closed when it has ended, so nothing can go on in its name', async () => {
    const executor = runtimeExecutor(stage.runtime);
    const contexts: TurnContext[] = [];
    const watched = {
      ...executor,
      context: (init: TurnInit) => {
        expect(contexts.map(({ closed }) => closed)).not.toContain(false);
        const context = executor.context(init);
        contexts.push(context);
        return context;
      },
    };
    await stage.play([command(CONTINUE), command('fail "x"')], { host: { executor: watched } });
    expect(contexts.map(({ closed }) => closed)).toEqual([true, true]);
  });

  it('what a listener throws rejects the run once the turn has ended', async () => {
    const onEvent = (): never => {
      throw new Error('listener');
    };
    await expect(stage.play([command('call tool.spy.Do(1)', DONE)], { run: { onEvent } })).rejects.toThrow('listener');
    expect(effects).toEqual([1]);
  });
});

describe('what authors are told', () => {
  it('AL1-8-6: the bootstrap prompt asks for explicit control, Plan → Apply and repeatable writes, with an example that runs', async () => {
    const prompt = v1SystemPrompt();
    expect(prompt).toContain('{"loop":"continue"');
    expect(prompt).toContain('"[[loop:done]]"');
    expect(prompt).toMatch(/Control the loop explicitly[\s\S]*Plan, then apply[\s\S]*safe to repeat/);
    expect(prompt).toContain('tool.memory.CAS(path, version,');
    expect(prompt).toContain(V1_EXAMPLE_ACTIONS);
    const { result } = await stage.play([V1_EXAMPLE_ACTIONS, command(DONE)]);
    expect(result).toMatchObject({
      cause: 'done',
      turns: [{ control: { signal: 'continue', notes: 'plan ready', lints: [] } }, {}],
    });
    expect(result.turns[0]?.output).toMatch(/\nPLAN \[\{"op": "set"/);
  });
});
