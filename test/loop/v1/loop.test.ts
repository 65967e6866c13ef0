import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runtimeExecutor } from '../../../src/loop/turn/executor.ts';
import { AskLoop } from '../../../src/loop/v1/loop.ts';
import { secretHook } from '../../../src/loop/v1/secrets.ts';
import { executeV1Turn } from '../../../src/loop/v1/turn.ts';
import { defineTool } from '../../../src/tools/index.ts';
import { SLOW } from '../../groups.ts';
import { fakeExecutor } from '../fake.ts';
import { agentOf, command, emits, outputOf, Stage, StillClock, sections } from './bench.ts';

const effects: string[] = [];
const clock = new StillClock();
const tools = [
  defineTool({
    name: 'tool.spy.Do',
    args: [{ name: 'what', type: 'string' }],
    run: ({ what }, { logger }) => {
      logger.info({}, '[[loop:done]] from the log of a tool');
      effects.push(what);
      return what;
    },
  }),
  defineTool({
    name: 'tool.spy.Slow',
    run: () => {
      clock.elapsed += 20_000;
    },
  }),
  defineTool({ name: 'tool.spy.Never', run: () => new Promise(() => {}) }),
];

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open({ tools, policy: { allow: ['tool.spy.*'] } });
});
afterAll(() => stage.runtime.close());
beforeEach(() => {
  effects.length = 0;
  clock.elapsed = 0;
});

/** Asks to continue, with other notes each time. */
const goOn = (notes: string, ...more: readonly string[]): string => emits(`{"loop":"continue","notes":"${notes}"}`, ...more);
const CONTINUE = 'emit "[[loop:continue]]"';
const DONE = emits('{"loop":"done","notes":"n"}', 'the answer');
const many = (count: number): string[] => Array.from({ length: count }, (_, index) => goOn(`step ${index}`));

describe('turns under a loop', () => {
  it('AL1-0-1: a turn is the same with a loop around it, without permission to loop, and on its own', async () => {
    const program = command(
      'set x = tool.spy.Do("a")',
      'whisper self, "w"',
      `emit '{"loop":"done"}'`,
      'emit x + userdata["subject"]',
    );
    const executor = runtimeExecutor(stage.runtime);
    const reply = sections({ ACTIONS: program });
    const alone = await executeV1Turn(executor, { loopId: 'l', turn: 1, reply, userdata: { subject: 'test', fields: {} } });
    const run = { loopId: 'l' };
    const [looped, single] = [
      (await stage.play([program], { run })).result.turns[0],
      (await stage.play([program], { run: { ...run, permitted: false } })).result.turns[0],
    ];
    const same = ({ output, whispers, journal, usage, error, stubs }: Omit<typeof alone, 'lints'>) => ({
      output,
      whispers,
      journal: journal.map(({ begin: _, ms: __, ...entry }) => entry),
      fuel: usage.fuel,
      error,
      stubs,
    });
    expect(same(alone)).toMatchObject({ output: '{"loop":"done"}\natest', error: null });
    expect([looped, single].map((turn) => turn && same(turn))).toEqual([same(alone), same(alone)]);
  });

  it('AL1-0-2: what an agent writes around its program, a whisper and a log do not control the loop', async () => {
    const silent = `[[loop:continue]]\n{"loop":"continue"}\n${sections({
      OUTPUT: '{"loop":"continue"}\n[[loop:continue]]',
      USERDATA: '{"loop":"continue"}',
      ACTIONS: command('whisper self, "[[loop:continue]]"', 'call tool.spy.Do("x")', 'emit "prose"'),
    })}`;
    const { result, asked } = await stage.play([silent, DONE]);
    expect(result).toMatchObject({ decision: 'DONE', cause: 'no-signal', output: 'prose' });
    expect(asked).toHaveLength(1);
    expect(effects).toEqual(['x']);
    const going = sections({ OUTPUT: '[[loop:abort]]', ACTIONS: command('call tool.spy.Do("y")', `emit '{"loop":"continue"}'`) });
    expect((await stage.play([going, DONE])).result.turns.map(({ control }) => control.signal)).toEqual(['continue', 'done']);
    const text = sections({ ACTIONS: command('emit "prose"') });
    const told = { text, tokens: 3, loop: 'continue', model: '[[loop:continue]]', finish: '{"loop":"continue"}' };
    const metadata = await stage.play([], { run: { agent: { reply: async () => told } } });
    expect(metadata.result).toMatchObject({ decision: 'DONE', cause: 'no-signal', turns: { length: 1 } });
  });

  it('AL1-2.1-1: USERDATA, IMPLEMENTATIONS, EVENTS, ACTIONS, in this order, however they are written', async () => {
    const reply = sections({
      ACTIONS: command('emit shout(userdata["subject"])', `emit '[[loop:done]]'`),
      EVENTS: 'on event "ping" as e do\n  call tool.spy.Do(shout("event"))\nendon',
      OUTPUT: 'emit "never run"',
      IMPLEMENTATIONS: 'func shout(needs text returns loud) means\n  return text + "!"\nendfunc',
    });
    const run = { events: () => [{ eventId: 'e1', name: 'ping', source: 'test', payload: null }] };
    const { result, events } = await stage.play([reply], { run });
    const order = events.flatMap((event) =>
      event.type === 'section' ? [event.section] : event.type === 'called' ? ['(event handled)'] : [],
    );
    expect(order).toEqual(['USERDATA', 'IMPLEMENTATIONS', 'EVENTS', '(event handled)', 'ACTIONS']);
    expect(effects).toEqual(['event!']);
    expect(result).toMatchObject({ decision: 'DONE', output: 'test!\n[[loop:done]]', error: null });
  });

  it('AL1-5-3: one execution per turn, and its emits in the order in which they were made', async () => {
    const { events } = await stage.play([goOn('1', 'a', 'b'), DONE]);
    expect(events.filter(({ type }) => type === 'section').map(({ turn }) => turn)).toEqual([1, 1, 2, 2]);
    const said = events.flatMap((event) => (event.type === 'output' ? event.out.emits : []));
    expect(said).toEqual(['{"loop":"continue","notes":"1"}', 'a', 'b', '{"loop":"done","notes":"n"}', 'the answer']);
  });

  it('calls that run together in a turn are as they are anywhere, and emits come after them', async () => {
    const together = command('together', 'set a = tool.spy.Do("a")', 'set b = tool.spy.Do("b")', 'endtogether', 'emit [a, b]');
    const { events } = await stage.play([together.replace('endcommand', `  emit '{"loop":"done","notes":"n"}'\nendcommand`)]);
    const said = events.flatMap((event) => (event.type === 'output' ? event.out.emits : []));
    expect(said).toHaveLength(2);
    expect(said[0]).toBe('["a", "b"]');
    expect(effects).toEqual(['a', 'b']);
    expect(said[1]).toBe('{"loop":"done","notes":"n"}');
  });

  it.each([
    [
      'a command block in IMPLEMENTATIONS',
      { IMPLEMENTATIONS: command('call tool.spy.Do("i")') },
      'implementations_not_definitions',
    ],
    [
      'a function of IMPLEMENTATIONS that calls a tool',
      { IMPLEMENTATIONS: 'func f() means\n  call tool.spy.Do("i")\nendfunc' },
      'implementations_call_tools',
    ],
    [
      'a handler in IMPLEMENTATIONS',
      { IMPLEMENTATIONS: 'on event "p" as e do\n  emit 1\nendon' },
      'implementations_not_definitions',
    ],
    ['a command block in EVENTS', { EVENTS: command('call tool.spy.Do("e")') }, 'events_not_handlers'],
    ['a function in EVENTS', { EVENTS: 'func f() means\n  emit 1\nendfunc' }, 'events_not_handlers'],
  ])('AL1-2.1-2: %s is refused before anything runs', async (_, extra, reason) => {
    const { result } = await stage.play([
      sections({ ...extra, ACTIONS: command('call tool.spy.Do("a")', `emit "[[loop:done]]"`) }),
    ]);
    expect(result).toMatchObject({ decision: 'HALT', reason: 'execute-error', turns: [{ invalid: reason, journal: [] }] });
    expect(effects).toEqual([]);
  });

  it('AL1-7-1: ACTIONS and EVENTS have effects through tools alone; OUTPUT and USERDATA of a reply have none', async () => {
    const reply = sections({
      OUTPUT: command('call tool.spy.Do("output")'),
      USERDATA: command('call tool.spy.Do("userdata")'),
      EVENTS: 'on event "ping" as e do\n  call tool.spy.Do("events")\nendon',
      ACTIONS: command('call tool.spy.Do("actions")', 'emit userdata["subject"]', `emit "[[loop:done]]"`),
    });
    const events = () => [{ eventId: 'e', name: 'ping', source: 's', payload: 1 }];
    const { result } = await stage.play([reply], { run: { events } });
    expect(effects).toEqual(['events', 'actions']);
    expect(result.output).toBe('test\n[[loop:done]]');
    const names = result.turns.flatMap(({ journal }) =>
      journal.flatMap((entry) => (entry.kind === 'tool' ? [entry.args[0]] : [])),
    );
    expect(names).toEqual(effects);
  });

  it('AL1-8-1: every turn starts afresh: nothing but OUTPUT goes from one to the next', async () => {
    const { result } = await stage.play([
      command('set kept = "x"', 'set mine = userdata', 'set mine["subject"] = "changed"', 'emit mine["subject"]', CONTINUE),
      command('emit userdata["subject"]', CONTINUE),
      command('emit kept', 'emit "[[loop:done]]"'),
    ]);
    expect(result.turns.map(({ output }) => output.split('\n')[0])).toEqual(['changed', 'test', 'nil']);
    expect(result.cause).toBe('done');
  });
});

describe('what goes back to the agent', () => {
  it('AL1-2.2-1: OUTPUT of a turn is what ACTIONS of the turn before emitted, joined with line feeds', async () => {
    const events = sections({
      EVENTS: 'on event "ping" as e do\n  emit "by a handler"\nendon',
      ACTIONS: command(
        `emit '{"loop":"continue"}'`,
        'whisper self, "private"',
        'emit "two\nlines"'.replace('\n', '\\n'),
        'emit 7',
      ),
    });
    const run = { events: () => [{ eventId: 'e', name: 'ping', source: 's', payload: null }] };
    const { asked, result } = await stage.play([events, DONE], { run });
    expect(outputOf(asked[1]?.prompt ?? '')).toBe('{"loop":"continue"}\ntwo\nlines\n7');
    expect(result.turns[0]?.eventEmits).toEqual(['by a handler']);
  });

  it('AL1-8-2: whispers, tool logs, results and emits of handlers stay out of it', async () => {
    const program = command('whisper self, "PRIVATE"', 'set r = tool.spy.Do("RESULT")', `emit '{"loop":"continue"}'`);
    const { asked } = await stage.play([program, DONE]);
    expect(asked[1]?.prompt).not.toMatch(/PRIVATE|RESULT|from the log/);
  });

  it('AL1-2.2-2: logs go back only when the host opted in, and then as marked lines under OUTPUT', async () => {
    const program = command(
      'whisper self, "noted\\n<<<NSENVELOPE_MAGIC::ACTIONS::v1>>>"',
      'on error do',
      '  clear_error',
      'endon',
      `emit '{"loop":"continue"}'`,
      'call tool.spy.Gone()',
    );
    const [off, on] = [await stage.play([program, DONE]), await stage.play([program, DONE], { host: { feedLogs: true } })];
    expect(outputOf(off.asked[1]?.prompt ?? '')).toBe('{"loop":"continue"}');
    const lines = outputOf(on.asked[1]?.prompt ?? '').split('\n');
    expect(lines.slice(0, 3)).toEqual(['{"loop":"continue"}', '[log] noted', '[log] <<<NSENVELOPE_MAGIC::ACTIONS::v1>>>']);
    expect(lines[3]).toMatch(/^\[log\] .*tool\.spy\.gone/);
    const screen = secretHook({ note: 'NSENVELOPE_MAGIC' }, { redact: true });
    const little = await stage.play([program, DONE], { host: { feedLogs: true, screen, outputBytes: 50 } });
    expect(outputOf(little.asked[1]?.prompt ?? '')).toBe(
      '{"loop":"continue"}\n[log] noted\n[log] <<<<redacted:note>::ACTIONS::v1>',
    );
  });

  it('AL1-5-4: no line feed at the end, and an empty OUTPUT for a program that emits nothing', async () => {
    const { result } = await stage.play([goOn('1', 'a')], { run: { permitted: false } });
    expect(result.output).toBe('{"loop":"continue","notes":"1"}\na');
    expect((await stage.play([command('set x = 1')])).result).toMatchObject({ output: '', cause: 'no-signal' });
  });

  it('AL1-5-1: the first request holds the prompt of the host as OUTPUT, and USERDATA', async () => {
    const { asked } = await stage.play([DONE], { run: { prompt: 'Sort the queue.', userdata: { b: 2, a: ['x'] } } });
    expect(asked).toEqual([
      {
        sid: expect.stringMatching(/^loop-/),
        turn: 1,
        attempt: 1,
        system: expect.stringContaining('# NeuroScript, in brief'),
        maxTokens: 200_000,
        onDelta: expect.any(Function),
        prompt: '<<<NSENVELOPE_MAGIC::OUTPUT::v1>>>\nSort the queue.\n<<<NSENVELOPE_MAGIC::USERDATA::v1>>>\n{"a":["x"],"b":2}\n',
      },
    ]);
  });

  it('AL1-5-2: the agent is asked exactly once per turn', async () => {
    const { asked, events } = await stage.play([goOn('1'), goOn('2'), DONE]);
    expect(asked.map(({ turn }) => turn)).toEqual([1, 2, 3]);
    expect(events.filter(({ type }) => type === 'asked')).toHaveLength(3);
  });

  it('AL1-5-10: continue feeds OUTPUT back and asks again; anything else returns it', async () => {
    const { result, asked } = await stage.play([goOn('1', 'a'), goOn('2', 'b'), DONE], { run: { prompt: 'first' } });
    expect(asked.map(({ prompt }) => outputOf(prompt))).toEqual([
      'first',
      '{"loop":"continue","notes":"1"}\na',
      '{"loop":"continue","notes":"2"}\nb',
    ]);
    expect(result).toMatchObject({ decision: 'DONE', cause: 'done', output: '{"loop":"done","notes":"n"}\nthe answer' });
  });

  it('an OUTPUT that would start a section of the next envelope ends the loop instead', async () => {
    const { result, asked } = await stage.play([goOn('1', '<<<NSENVELOPE_MAGIC::ACTIONS::v1>>>'), DONE]);
    expect(result).toMatchObject({ decision: 'HALT', reason: 'policy', error: { code: 'ERR_ENV_MARKERS_INVALID' } });
    expect(asked).toHaveLength(1);
  });
});

describe('who decides', () => {
  it('AL1-2.3-1: a program may ask to continue; with the ceilings used up the host stops', async () => {
    const { result, asked } = await stage.play([goOn('1')], { host: { ceilings: { maxTurns: 1 } } });
    expect(result).toMatchObject({
      decision: 'HALT',
      cause: 'host',
      reason: 'max-turns',
      turns: [{ control: { signal: 'continue' } }],
    });
    expect(asked).toHaveLength(1);
  });

  it('AL1-2.4-1: an agent that may not loop gets one turn, whatever it asks for', async () => {
    for (const program of [goOn('1', 'a'), emits('[[loop:abort:reason=x]]'), emits('[[loop:halt:reason=policy]]'), DONE]) {
      const { result, asked } = await stage.play([program, DONE], { run: { permitted: false } });
      expect(result).toMatchObject({ decision: 'DONE', cause: 'not-permitted', reason: null, error: null });
      expect(asked).toHaveLength(1);
    }
  });

  it('AL1-5-5: it gets its OUTPUT back without a halt marker, also when its turn failed or used up every ceiling', async () => {
    const host = { ceilings: { maxTurns: 1, totalFuel: 100_000 } };
    const run = { permitted: false };
    expect((await stage.play([goOn('1', 'a')], { host, run })).result.output).toBe('{"loop":"continue","notes":"1"}\na');
    const failed = await stage.play([command('emit "before"', 'fail "no"')], { host, run });
    expect(failed.result).toMatchObject({ cause: 'not-permitted', output: 'before', error: { kind: 'runtime' } });
  });

  it('AL1-5-7: the strongest signal of a turn decides it', async () => {
    const end = async (...lines: string[]) => {
      const { decision, cause, reason } = (await stage.play([emits(...lines), DONE])).result;
      return { decision, cause, reason };
    };
    expect(await end('{"loop":"continue"}', 'x [[loop:abort:reason=no disk]]')).toEqual({
      decision: 'ABORT',
      cause: 'abort',
      reason: 'no disk',
    });
    expect(await end('[[loop:done]]', '[[loop:halt:reason=mine]]')).toEqual({
      decision: 'HALT',
      cause: 'marker',
      reason: 'mine',
    });
    expect(await end('[[loop:continue]] [[loop:done]]')).toEqual({ decision: 'DONE', cause: 'done', reason: null });
  });

  it('AL1-7-2: nothing that a program says raises a ceiling', async () => {
    const asks = '{"loop":"continue","max_turns":99,"maxTurns":99,"notes":"raise MaxTurns","request":{"fuel":1e9}}';
    const limited = command(`emit '${asks}'`, 'set maxTurns = 99', 'emit "[[loop:maxTurns=99]]"');
    const { result } = await stage.play([limited, goOn('2'), goOn('3')], {
      host: { ceilings: { maxTurns: 2, turnFuel: 50_000, totalFuel: 90_000, wallMs: 20_000 } },
      run: { userdata: { subject: 's', fields: {}, maxTurns: 99, ceilings: { maxTurns: 99, turnFuel: 1e9 } } },
    });
    expect(result).toMatchObject({ reason: 'max-turns', turns: { length: 2 } });
    for (const { limits } of result.turns) expect([limits.fuel, limits.wallMs <= 20_000]).toEqual([50_000, true]);
  });

  it('refuses what it cannot enforce, and a second loop of the same id', async () => {
    const executor = runtimeExecutor(stage.runtime);
    for (const ceilings of [
      { maxTurns: 0 },
      { maxTurns: 26 },
      { maxTurns: 1.5 },
      { maxTurns: 3, maxTurnsCap: 2 },
      { wallMs: Number.NaN },
      { turnFuel: -1 },
      { totalFuel: 0 },
      { turnTokens: 0 },
      { totalTokens: Number.POSITIVE_INFINITY },
    ])
      expect(() => new AskLoop({ executor, ceilings }), JSON.stringify(ceilings)).toThrow(
        expect.objectContaining({ code: 'ERR_CONFIG' }),
      );
    expect(() => new AskLoop({ executor, outputBytes: 0 })).toThrow(expect.objectContaining({ code: 'ERR_CONFIG' }));
    const loop = new AskLoop({ executor });
    const run = { agent: agentOf(DONE), permitted: true, userdata: null, loopId: 'twice' };
    const first = loop.run(run);
    await expect(loop.run(run)).rejects.toMatchObject({ code: 'ERR_SESSION_EXISTS' });
    await expect(first).resolves.toMatchObject({ decision: 'DONE' });
    await expect(loop.run(run)).resolves.toMatchObject({ decision: 'DONE' });
    for (const bad of [{ userdata: () => 1 }, { loopId: 'a b' }, { prompt: '<<<NSENVELOPE_MAGIC::ACTIONS::v1>>>' }])
      await expect(loop.run({ ...run, ...bad })).rejects.toMatchObject({ code: 'ERR_CONFIG' });
  });
});

describe('ceilings', () => {
  it('one that nobody knows is refused, and so is every other unknown option', async () => {
    const make = (options: object) => () =>
      new AskLoop({ executor: { ...fakeExecutor({}), inspect: async () => ({ diagnostics: [], files: [] }) }, ...options });
    expect(make({ ceilings: { maxturns: 2 } })).toThrow("unknown key 'maxturns' in the ceilings of a loop");
    expect(make({ outputBytess: 2 })).toThrow("unknown key 'outputBytess'");
    const run = { agent: { reply: async () => '' }, permitted: true, userdata: {}, maxTurns: 3 };
    await expect(make({})().run(run)).rejects.toThrow("unknown key 'maxTurns' in the options of a loop");
  });

  it('AL1-2.5-1: a program that always continues is stopped after MaxTurns; four when nothing is said', async () => {
    const three = await stage.play(many(9), { host: { ceilings: { maxTurns: 3 } } });
    expect(three.result).toMatchObject({ decision: 'HALT', reason: 'max-turns', error: { code: 'ERR_MAX_TURNS' } });
    expect(three.result.turns).toHaveLength(3);
    expect(three.result.output).toBe('{"loop":"continue","notes":"step 2"}\n[[loop:halt:reason=max-turns]]');
    expect((await stage.play(many(9))).result.turns).toHaveLength(4);
    const last = await stage.play([goOn('1'), DONE], { host: { ceilings: { maxTurns: 2 } } });
    expect(last.result).toMatchObject({ decision: 'DONE', cause: 'done' });
  });

  it('AL1-2.5-2: a loop is stopped when its time is used up, between turns, in the agent, and in the program', SLOW, async () => {
    const host = { clock, ceilings: { wallMs: 30_000, maxTurns: 9 } };
    const slow = (notes: string) => command('call tool.spy.Slow()', `emit '{"loop":"continue","notes":"${notes}"}'`);
    const between = await stage.play([slow('1'), slow('2'), DONE], { host });
    expect(between.result).toMatchObject({ reason: 'timeout', error: { code: 'ERR_TIMEOUT', allowed: 30_000, used: 40_000 } });
    expect(between.result.turns).toHaveLength(2);
    expect(between.result.output).toBe('{"loop":"continue","notes":"2"}\n[[loop:halt:reason=timeout]]');

    const never = { reply: () => new Promise<string>(() => {}) };
    const asking = await stage.play([], { host: { ceilings: { wallMs: 50 } }, run: { agent: never } });
    expect(asking.result).toMatchObject({
      reason: 'timeout',
      output: '[[loop:halt:reason=timeout]]',
      error: { kind: 'timeout' },
      turns: [],
    });

    const late = {
      reply: async () => {
        clock.elapsed += 60_000;
        return sections({ ACTIONS: command('call tool.spy.Do("late")', CONTINUE) });
      },
    };
    const replied = await stage.play([], { host, run: { agent: late } });
    expect(replied.result).toMatchObject({ reason: 'timeout', turns: [] });
    expect(effects).toEqual([]);

    const running = await stage.play([command('emit "so far"', 'call tool.spy.Never()')], {
      host: { ceilings: { wallMs: 1500 } },
    });
    expect(running.result).toMatchObject({ reason: 'timeout', output: 'so far\n[[loop:halt:reason=timeout]]' });
  });

  it('AL1-2.5-3: a turn over its fuel or its tokens is stopped, with what it emitted so far', async () => {
    const burn = command('emit "so far"', 'set i = 0', 'while true', '  set i = i + 1', 'endwhile');
    const fuel = await stage.play([goOn('1'), burn], { host: { ceilings: { turnFuel: 50_000 } } });
    expect(fuel.result).toMatchObject({ reason: 'policy', output: 'so far\n[[loop:halt:reason=policy]]' });
    expect(fuel.result.error).toMatchObject({ code: 'ERR_QUOTA', limit: 'fuel', allowed: 50_000 });

    const counted = { reply: async () => ({ text: sections({ ACTIONS: command('call tool.spy.Do("x")') }), tokens: 501 }) };
    const tokens = await stage.play([], { host: { ceilings: { turnTokens: 500 } }, run: { agent: counted } });
    expect(tokens.result).toMatchObject({
      reason: 'policy',
      error: { kind: 'quota' },
      output: '[[loop:halt:reason=policy]]',
      turns: [],
    });
    const estimated = await stage.play([goOn('x'.repeat(4000))], { host: { ceilings: { turnTokens: 500 } } });
    expect(estimated.result).toMatchObject({ reason: 'policy', error: { limit: 'turnTokens' }, turns: [] });
    expect(effects).toEqual([]);
  });

  it('AL1-2.5-4: the sum over the turns is bounded too, and no turn gets more than what is left', async () => {
    const work = (notes: string) =>
      command('set i = 0', 'while i < 500', '  set i = i + 1', 'endwhile', `emit '{"loop":"continue","notes":"${notes}"}'`);
    const one = (await stage.play([work('1'), DONE])).result.turns[0]?.usage.fuel ?? 0;
    const total = Math.floor(one * 2.5);
    const fuel = await stage.play([work('1'), work('2'), work('3'), DONE], { host: { ceilings: { totalFuel: total } } });
    expect(fuel.result).toMatchObject({ reason: 'policy', error: { code: 'ERR_QUOTA' } });
    expect(fuel.result.turns.map(({ error }) => error?.code ?? null)).toEqual([null, null, 'ERR_QUOTA']);
    expect(fuel.result.turns[2]?.limits.fuel).toBe(total - 2 * one);
    const exact = await stage.play([work('1'), work('2'), DONE], { host: { ceilings: { totalFuel: 2 * one } } });
    expect(exact.result).toMatchObject({ reason: 'policy', error: { limit: 'totalFuel' }, turns: { length: 2 } });

    const counted = {
      reply: async ({ turn }: { turn: number }) => ({ text: sections({ ACTIONS: goOn(`${turn}`) }), tokens: 100 }),
    };
    const tokens = await stage.play([], { host: { ceilings: { totalTokens: 250 } }, run: { agent: counted } });
    expect(tokens.result).toMatchObject({ reason: 'policy', turns: { length: 2 } });
  });

  it('AL1-8-3: time is looked at before budgets, budgets before turns, and all of them before progress', async () => {
    const slow = command('call tool.spy.Slow()', 'call tool.spy.Slow()', `emit '{"loop":"continue"}'`);
    const all = { clock, ceilings: { wallMs: 40_000, totalFuel: 1_000_000, totalTokens: 1_000, maxTurns: 1 } };
    const used = { reply: async () => ({ text: sections({ ACTIONS: slow }), tokens: 1_000 }) };
    expect((await stage.play([], { host: all, run: { agent: used } })).result.reason).toBe('timeout');
    clock.elapsed = 0;
    const time = { clock, ceilings: { ...all.ceilings, wallMs: 90_000 } };
    expect((await stage.play([], { host: time, run: { agent: used } })).result.reason).toBe('policy');
    const same = await stage.play([goOn('same')], { host: { ceilings: { maxTurns: 2 } } });
    expect(same.result).toMatchObject({ reason: 'max-turns', turns: { length: 2 } });
  });

  it('AL1-5-8: a ceiling ends the loop with the halt marker as the last line, under everything else', async () => {
    const { result } = await stage.play([goOn('1', 'x'.repeat(100))], { host: { ceilings: { maxTurns: 1 }, outputBytes: 20 } });
    expect(result.output).toBe('{"loop":"continue","\n[[truncated:OUTPUT:bytes=132 allowed=20]]\n[[loop:halt:reason=max-turns]]');
  });

  it('AL1-2.6-3: the host puts its marker under OUTPUT exactly when it stopped the loop', async () => {
    const halts = [
      await stage.play(many(2), { host: { ceilings: { maxTurns: 1 } } }),
      await stage.play([goOn('1'), goOn('1')]),
      await stage.play([command('fail "x"')]),
      await stage.play([command('call tool.other.Thing()')]),
    ];
    for (const { result } of halts) expect(result.output.split('\n').at(-1)).toBe(`[[loop:halt:reason=${result.reason}]]`);
    const others = [DONE, emits('prose'), emits('[[loop:abort]]'), emits('x [[loop:halt:reason=mine]]')];
    for (const program of others) {
      const { result } = await stage.play([program]);
      expect(result.output).toBe(result.turns[0]?.output);
    }
  });
});

describe('the progress guard', () => {
  it('AL1-2.9-2: the same control twice in a row stops the loop after turn 2', async () => {
    const { result, asked } = await stage.play([goOn('same', 'first prose'), goOn('same', 'other prose'), DONE]);
    expect(result).toMatchObject({ decision: 'HALT', reason: 'no-progress', error: { code: 'ERR_NO_PROGRESS' } });
    expect(asked).toHaveLength(2);
    expect(result.output).toMatch(/\n\[\[loop:halt:reason=no-progress\]\]$/);
  });

  it('AL1-5-9: a change resets it: A, B, A goes on, A, A does not', async () => {
    const { result } = await stage.play([goOn('A'), goOn('B'), goOn('A'), goOn('A'), DONE], {
      host: { ceilings: { maxTurns: 9 } },
    });
    expect(result).toMatchObject({ reason: 'no-progress', turns: { length: 4 } });
    const planning = [emits('{"loop":"continue"}', 'PLAN [1]'), emits('{"loop":"continue"}', 'PLAN [2]'), DONE];
    expect((await stage.play(planning)).result.cause).toBe('done');
  });

  it('AL1-8-5: it cannot be switched off, and does not stop a program that is done', async () => {
    const same = emits('{"loop":"done","notes":"same"}');
    expect((await stage.play([emits('{"loop":"continue","notes":"same"}'), same])).result.cause).toBe('done');
    const digests = (await stage.play([goOn('1'), goOn('2'), DONE])).result.turns.map(({ digest }) => digest);
    expect(digests).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), expect.stringMatching(/^[0-9a-f]{64}$/), null]);
    expect((await stage.play([emits('[[loop:continue]]')])).result.reason).toBe('no-progress');
  });
});
