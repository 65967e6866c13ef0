import { AssertionError } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { defineTool, loadMockTools, TimeDate, ToolError } from '../../src/entries/index.ts';
import { seededIds } from '../../src/loop/index.ts';
import { Sandbox } from '../../src/sandbox/index.ts';
import { callTool, FakeClock, journalText, runScript, ScriptBench, type ScriptRun, ToolBench } from '../../src/testing/index.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import { tempFolder } from '../folder.ts';

const price = defineTool({
  name: 'tool.shop.Price',
  args: [
    { name: 'item', type: 'string' },
    { name: 'count', type: 'int', default: 1 },
  ],
  returns: 'float',
  capabilities: ['shop:read'],
  requiresTrust: true,
  run: ({ item, count }) => {
    if (item === 'gold') throw new ToolError(9, 'no gold', 'try tea');
    return count * 3.5;
  },
});

describe('callTool and ToolBench', () => {
  it('calls one tool as a program would: positions, defaults, coercion, checks', async () => {
    expect(await callTool(price, ['tea'])).toBe(3.5);
    expect(await callTool(price, ['tea', '2'])).toBe(7);
    await expect(callTool(price, [])).rejects.toMatchObject({ code: 'NS4', nsCode: 4 });
    await expect(callTool(price, ['gold'])).rejects.toMatchObject({ nsCode: 9, message: 'no gold', hint: 'try tea' });
    const lying = defineTool({ name: 'tool.t.Lies', returns: 'int', run: () => JSON.parse('"x"') });
    await expect(callTool(lying)).rejects.toMatchObject({ nsCode: 21 });
  });

  it('under a policy of its own', async () => {
    await expect(callTool(price, ['tea'], { policy: { allow: ['*'] } })).rejects.toMatchObject({ nsCode: 1003 });
    await using bench = new ToolBench([price], {
      policy: { context: 'config', allow: ['*'], grants: ['*:*'], toolMaxCalls: { 'tool.shop.Price': 1 } },
    });
    expect(await bench.call('shop.price', ['tea'])).toBe(3.5);
    await expect(bench.call('tool.shop.price', ['tea'])).rejects.toThrow('exceeded its call limit of 1');
  });

  it('with variables, a session, an actor, a clock, and other tools', async () => {
    const clock = new FakeClock(1000);
    const probe = defineTool({
      name: 'tool.t.Probe',
      async run(_args, runtime) {
        await runtime.setVar('seen', [await runtime.getVar('x'), await runtime.getVar('y')]);
        const { sessionId, turnIndex } = runtime.turn;
        return {
          sessionId,
          turnIndex,
          now: runtime.turn.now(),
          actor: runtime.actor?.id,
          price: await runtime.callTool('shop.price', ['tea']),
        };
      },
    });
    await using bench = new ToolBench([probe, price], {
      turn: { sessionId: 's', turnIndex: 2 },
      host: { actor: { id: 'ann' } },
      now: clock.now,
      vars: { x: 5 },
    });
    expect(await bench.call('t.probe')).toEqual({ sessionId: 's', turnIndex: 2, now: 1000, actor: 'ann', price: 3.5 });
    expect(bench.vars.get('seen')).toEqual([5, null]);
    expect(bench.calls.map(({ tool, nested }) => [tool, nested])).toEqual([
      ['tool.shop.price', true],
      ['tool.t.probe', false],
    ]);
    clock.advance(500);
    expect(await bench.call('t.probe')).toMatchObject({ now: 1500 });
  });

  it('a call that is none is refused in words', async () => {
    await expect(callTool(price, 'tea' as never)).rejects.toThrow(/the arguments of a call must be a list, got string/);
    await using bench = new ToolBench([price]);
    await expect(bench.call(5 as never)).rejects.toThrow(/the name of a tool must be a text, got number/);
    expect(await bench.call('shop.price', ['tea'])).toBe(3.5);
  });

  it('what would end a run rejects with its code', async () => {
    const never = defineTool({ name: 'tool.t.Never', run: () => new Promise<null>(() => {}) });
    await expect(callTool(never, [], { limits: { toolMs: 20 } })).rejects.toMatchObject({ code: 'ERR_TIMEOUT' });
    const large = defineTool({ name: 'tool.t.Large', run: () => 'x'.repeat(2000) });
    await expect(callTool(large, [], { limits: { toolBytes: 1000 } })).rejects.toMatchObject({ code: 'ERR_QUOTA' });
    const abort = new AbortController();
    const cancelled = callTool(never, [], { turn: { signal: abort.signal } });
    setTimeout(() => abort.abort(), 5);
    await expect(cancelled).rejects.toMatchObject({ code: 'ERR_CANCELLED' });
    await expect(callTool(never, [], { turn: { signal: AbortSignal.abort() } })).rejects.toMatchObject({ code: 'ERR_CANCELLED' });
  });

  it('calls go one after the other, and the state of mocks and sessions stays', async () => {
    const tools = loadMockTools(
      'state: { n: 0 }\ntools: { tool.t.Next: { cases: [{ set: { n: { $add: [{ $state: n }, 1] } }, returns: { $state: n } }] } }',
      'f',
    );
    await using bench = new ToolBench(tools);
    expect(await Promise.all([1, 2, 3].map(() => bench.call('t.next')))).toEqual([0, 1, 2]);
    const kept = defineTool({ name: 'tool.t.Dir', run: (_args, runtime) => runtime.sandboxDir() });
    const bench2 = new ToolBench([kept], { turn: { sessionId: 's' } });
    const dir = String(await bench2.call('t.dir'));
    expect(await bench2.call('t.dir')).toBe(dir);
    await bench2[Symbol.asyncDispose]();
    expect(() => readFileSync(dir)).toThrow(/ENOENT/);
  });

  it('values of the language come back as they are', async () => {
    const time = defineTool({ name: 'tool.t.Time', returns: 'timedate', run: () => new Date(0) });
    expect(await callTool(time)).toEqual(new TimeDate('1970-01-01T00:00:00Z'));
    expect(() => new ToolBench([price], { polcy: {} } as never)).toThrow(ConfigError);
  });
});

describe('a script', () => {
  let bench: ScriptBench;
  beforeAll(async () => {
    bench = await ScriptBench.create({ tools: [price], limits: { fuel: 100_000 } });
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  it('is run against tools in one line', async () => {
    (await runScript('emit tool.shop.Price("tea", 2)', { tools: [price] })).expectEmits('7');
  });

  it('runs in a thread when a bench has threads, with the same fuel', async () => {
    using processes = vi.spyOn(Sandbox, 'create');
    await using there = await ScriptBench.create({ tools: [price], limits: { fuel: 100_000 }, launcher: 'none' });
    await using here = await ScriptBench.create({ tools: [price], limits: { fuel: 100_000 }, threads: true });
    const [one, other] = [await there.run('emit tool.shop.Price("tea", 2)'), await here.run('emit tool.shop.Price("tea", 2)')];
    expect(other.expectEmits('7').fuel).toBe(one.expectEmits('7').fuel);
    expect(processes).toHaveBeenCalledOnce();
  });

  it('may be statements, or a whole source', async () => {
    (await bench.run('# what it does\nset x = 1\nemit x + 1')).expectEmits('2');
    (await bench.run('func f() means\n  return [1, {"a": nil}]\nendfunc', { call: { name: 'f' } })).expectResult([
      1,
      { a: null },
    ]);
    (await bench.run('set commander = 1\nemit commander')).expectEmits('1');
    (await bench.run('')).expectEmits();
  });

  it('says what it emitted, called, used and failed with', async () => {
    const run = await bench.run('emit tool.shop.Price("tea")\nemit [tool.shop.Price("tea", "2")]\nemit tool.shop.Price("gold")');
    run
      .expectError('NS9', /no gold/)
      .expectError(9, 'no gold')
      .expectValues(3.5, [7])
      .expectCalls(
        'tool.shop.Price',
        { tool: 'shop.price', args: ['tea', '2'], returns: 7 },
        { tool: 'tool.shop.price', fails: 9 },
      )
      .expectFuel({ atMost: 1000 })
      .expectFuel(run.fuel);
    expect(run.calls.map(({ args }) => args)).toEqual([['tea'], ['tea', '2'], ['gold']]);
    expect(run.error?.line).toBe(4);
  });

  it.each<[string, (run: ScriptRun) => unknown, RegExp]>([
    ['other emits', (run) => run.expectEmits('1'), /\+ actual - expected/],
    ['other values', (run) => run.expectValues(3.5, 8), /8/],
    ['a failure that is none', (run) => run.expectError('NS9'), /no error; emitted \["3\.5","7"\]/],
    ['more calls', (run) => run.expectCalls('tool.shop.price'), /shop\.price/],
    [
      'calls with other arguments',
      (run) => run.expectCalls({ tool: 'shop.price', args: ['coffee'] }, 'shop.price'),
      /arguments of call 1, tool\.shop\.price/,
    ],
    ['calls with other results', (run) => run.expectCalls('shop.price', { tool: 'shop.price', returns: 8 }), /result of call 2/],
    ['calls that fail', (run) => run.expectCalls({ tool: 'shop.price', fails: 9 }, 'shop.price'), /failure of call 1/],
    ['less fuel', (run) => run.expectFuel({ atMost: 1 }), /used \d+ fuel, expected at most 1/],
    ['exactly other fuel', (run) => run.expectFuel(1), /1/],
    ['another result', (run) => run.expectResult(1), /1/],
  ])('an expectation that is not met is an AssertionError: %s', async (_what, check, message) => {
    const run = await bench.run('emit tool.shop.Price("tea")\nemit tool.shop.Price("tea", 2)');
    expect(() => check(run)).toThrow(AssertionError);
    expect(() => check(run)).toThrow(message);
  });

  it('an expectation that there is not is refused: it would expect nothing', async () => {
    const run = await bench.run('emit tool.shop.Price("tea")');
    expect(() => run.expectFuel({ atLeast: 1 } as never)).toThrow(/unknown key 'atLeast' in what is expected of the fuel/);
    expect(() => run.expectCalls({ tool: 'shop.price', arg: ['milk'] } as never)).toThrow(
      /unknown key 'arg' in an expected call/,
    );
  });

  it('a script that failed says so where success is expected', async () => {
    const run = await bench.run('emit 1\nemit 1 / 0');
    expect(() => run.expectOk()).toThrow(/the script failed at src:3:\d+: NS14: /);
    expect(() => run.expectEmits('1')).toThrow(/NS14/);
    expect(() => run.expectError('NS9')).toThrow(/NS14/);
  });

  it('finds a turn, globals and a clock of its own', async () => {
    const when = defineTool({ name: 'tool.t.When', run: (_args, { turn }) => [turn.sessionId, turn.now()] });
    const clock = new FakeClock(Date.UTC(2030, 0, 1));
    await using own = await ScriptBench.create({ tools: [when], now: clock.now });
    (await own.run('emit tool.t.When()\nemit g', { turn: { sessionId: 's' }, globals: { g: 5 } })).expectValues(
      ['s', 1893456000000],
      5,
    );
  });

  it('its journal is the same text every time, for any snapshot', async () => {
    const source = 'on error do\nclear_error\nendon\nemit tool.shop.Price("tea")\ncall tool.shop.Price("gold")';
    const [first, second] = [await bench.run(source), await bench.run(source)];
    expect(first.journal()).toBe('src:5 tool.shop.price("tea") -> 3.5\nsrc:6 tool.shop.price("gold") -> code 9: "no gold"\n');
    expect(second.journal()).toBe(first.journal());
    expect(journalText([])).toBe('');
  });

  it('a snapshot file is written once, then compared, and not written where CI is set', async () => {
    const folder = tempFolder();
    const file = join(folder, 'a.txt');
    try {
      vi.stubEnv('CI', 'true');
      const run = await bench.run('emit tool.shop.Price("tea")');
      expect(() => run.expectJournal(file)).toThrow(/there is no snapshot/);
      vi.stubEnv('CI', '');
      run.expectJournal(file).expectJournal(file);
      expect(readFileSync(file, 'utf8')).toBe(run.journal());
      const other = await bench.run('emit tool.shop.Price("tea", 2)');
      expect(() => other.expectJournal(file)).toThrow(AssertionError);
      vi.stubEnv('NEUROSCRIPT_UPDATE_SNAPSHOTS', '1');
      other.expectJournal(file);
      expect(readFileSync(file, 'utf8')).toBe(other.journal());
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

describe('clock and ids', () => {
  it('a clock stands still until it is told to go on', () => {
    const clock = new FakeClock();
    const { now, monotonic } = clock;
    expect([now(), monotonic()]).toEqual([Date.UTC(2025, 0, 1), 0]);
    clock.advance(1500);
    clock.set(5);
    expect([now(), monotonic()]).toEqual([5, 1500]);
    expect(() => clock.advance(-1)).toThrow(ConfigError);
    expect(() => clock.set(Number.NaN)).toThrow(ConfigError);
    expect(() => new FakeClock(Number.POSITIVE_INFINITY)).toThrow(/must be a number of milliseconds/);
  });

  it('ids depend on their seed alone', () => {
    expect(seededIds('a').session()).toBe(seededIds('a').session());
    expect(seededIds('a').session()).not.toBe(seededIds('b').session());
  });
});
