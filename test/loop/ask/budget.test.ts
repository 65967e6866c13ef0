import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Budget } from '../../../src/loop/ask/budget.ts';
import { functionAgent } from '../../../src/loop/index.ts';
import { AskQuota } from '../../../src/loop/quota.ts';
import { type AskRequest, createRuntime } from '../../../src/runtime/index.ts';
import { defineTool, Halt } from '../../../src/tools/index.ts';
import { quotaError } from '../../../src/wire/errorinfo.ts';
import type { JournalEntry } from '../../../src/wire/journal.ts';
import { defaultLimits, type LimitKey } from '../../../src/wire/limits.ts';
import type { RunResult } from '../../../src/wire/result.ts';
import { SLOW } from '../../groups.ts';
import { type AskBench, askBench, type BenchInit, envelope, replies, token } from './bench.ts';

const DONE = token('done');
const GO_ON = token('continue');
/** Statements that take a while of nothing but fuel. */
const spin = (times: number): string => `set i = 0\n  while i < ${times}\n    set i = i + 1\n  endwhile`;
/** Holds a text of 131,072 units, which is a quarter of a megabyte and a little more. */
const KEEP = 'set kept = "ab"\n  set n = 0\n  while n < 16\n    set kept = kept + kept\n    set n = n + 1\n  endwhile';
/** Catches what the ask after it ends with, and goes on. */
const CATCHING = ['on error do', '  emit system_error.code', '  clear_error', 'endon'];

const limited = (limits: NonNullable<BenchInit['runtime']>['limits'], init: BenchInit): Promise<AskBench> =>
  askBench({ ...init, runtime: { limits: limits ?? {}, ...init.runtime } });

function asksOf({ journal }: RunResult): readonly (JournalEntry & { readonly kind: 'ask' })[] {
  return journal.filter((entry) => entry.kind === 'ask');
}

/** Fuel, tool calls and CPU of all turns of nested sessions whose caller is `of`, or of all. */
async function nestedUsage({ store }: AskBench, depth?: string | null) {
  const kept = (await store.list()).filter(({ parent }) => depth === undefined || parent?.sid === depth);
  const turns = (await Promise.all(kept.map(({ sid }) => store.turns(sid)))).flat();
  const sum = (key: 'fuel' | 'toolCalls' | 'cpuMs') => turns.reduce((all, { usage }) => all + usage[key], 0);
  return { turns: turns.length, fuel: sum('fuel'), toolCalls: sum('toolCalls'), cpuMs: sum('cpuMs') };
}

describe('what nested turns use is charged to their caller', () => {
  it('P34: exactly, in fuel and tool calls: as much as the same run takes whose ask a stub answers, and theirs', async () => {
    const source = ['ask "a", "go" into x', 'emit x', 'ask "a", "again" into x', 'emit x'];
    await using bench = await askBench({ agents: { a: replies(envelope(spin(50), 'emit 1', GO_ON), envelope('emit 2', DONE)) } });
    const real = await bench.run(...source);
    expect([real.error, real.values]).toEqual([null, ['2', '2']]);
    const nested = await nestedUsage(bench);
    expect(nested.turns).toBe(4);
    // Four turns, each with its token.
    expect([real.usage.toolCalls, nested.toolCalls]).toEqual([4, 4]);
    const [spent] = asksOf(real).map((entry) => entry.spent);
    if (spent === undefined) throw new Error('the ask was not charged');
    expect(spent).toMatchObject({ turns: 2, tokens: 0, toolCalls: 2, fuel: nested.fuel / 2 });

    // A stub that says it took so much, and one that took nothing: the difference is what was charged.
    const stubbed = async (took: typeof spent | null) => {
      await using runtime = await createRuntime({
        concurrency: 1,
        ask: async () => ({ t: 'ok', value: '2', ...(took === null ? {} : { spent: took }) }),
      });
      return (await runtime.run(['command', ...source, 'endcommand'].join('\n'))).usage;
    };
    const [same, free] = [await stubbed(spent), await stubbed({ ...spent, fuel: 0, toolCalls: 0 })];
    expect([real.usage.fuel, real.usage.toolCalls]).toEqual([same.fuel, same.toolCalls]);
    // The account itself is part of the answer, which costs for its length: its digits, twice.
    const digits = 2 * (String(spent.fuel).length - 1);
    const extra = same.fuel - free.fuel - nested.fuel;
    expect(extra).toBeGreaterThanOrEqual(0);
    expect(extra).toBeLessThanOrEqual(digits);
  });

  it('the same in every run, whatever the times are', async () => {
    const agents = { a: replies(envelope(spin(2000), 'emit 1', DONE)) };
    const fuels = new Set<number>();
    for (let run = 0; run < 3; run += 1) {
      await using bench = await askBench({ agents });
      for (let again = 0; again < 3; again += 1) fuels.add((await bench.run('ask "a", "go" into x', 'emit x')).usage.fuel);
    }
    expect(fuels.size).toBe(1);
  });

  it('CPU time too, and that of a program that was stopped', async () => {
    await using bench = await askBench({ agents: { a: replies(envelope('while true', 'set x = 1', 'endwhile')) } });
    const result = await bench.run(...CATCHING, 'ask "a", "go" with {"cpu_ms": 60} into x', 'emit "on"');
    expect([result.error, result.values]).toEqual([null, [37, 'on']]);
    const nested = await nestedUsage(bench);
    expect(nested.cpuMs).toBeGreaterThanOrEqual(60);
    expect(result.usage.cpuMs).toBeGreaterThanOrEqual(nested.cpuMs);
    expect(result.usage.fuel).toBeGreaterThan(nested.fuel);
  });

  it('also when the ask fails, is halted, or ends the run', async () => {
    const agents = {
      aborts: replies(envelope(spin(300), token('abort'))),
      mute: replies(envelope(spin(300))),
      ends: replies(envelope(spin(100_000))),
    };
    for (const model of Object.keys(agents)) {
      await using bench = await limited({ fuel: 60_000 }, { agents });
      const result = await bench.run(...CATCHING, `ask "${model}", "go"`);
      const nested = await nestedUsage(bench);
      expect(nested.fuel).toBeGreaterThan(300);
      expect([model, asksOf(result)[0]?.spent?.fuel]).toEqual([model, nested.fuel]);
      expect(result.usage.fuel).toBeGreaterThan(nested.fuel);
      expect(result.usage.fuel).toBeLessThanOrEqual(60_000);
    }
  });

  it('of a loop that a limit of time cut off, what its turns had used by then', SLOW, async () => {
    const slow = functionAgent(async ({ turn, signal }) => {
      if (turn > 1) await sleep(10_000, null, { signal });
      return envelope(spin(300), `emit ${turn}`, GO_ON);
    });
    await using bench = await limited({ wallMs: 3000 }, { agents: { slow } });
    const result = await bench.run('ask "slow", "go"');
    expect(result.error).toMatchObject({ code: 'ERR_TIMEOUT', limit: 'wallMs', allowed: 3000 });
    const nested = await nestedUsage(bench);
    expect(nested.turns).toBe(1);
    expect(asksOf(result)[0]?.spent).toMatchObject({ fuel: nested.fuel, turns: 2 });
    expect(result.usage.fuel).toBeGreaterThan(nested.fuel);
    expect((await bench.store.list()).map(({ status, reason }) => [status, reason])).toEqual([
      ['halted', expect.stringMatching(/^ERR_(CANCELLED|TIMEOUT)$/)],
    ]);
  });
});

describe('a limit that `with` sets', () => {
  const agents = {
    fuel: replies(envelope(spin(100_000), DONE)),
    tools: replies(envelope('set i = 0', 'while i < 20', '  call tool.t.One()', '  set i = i + 1', 'endwhile', DONE)),
    memory: replies(envelope('set x = "abc"', 'while true', '  set x = x + x', 'endwhile')),
    wall: functionAgent(async ({ signal }) => {
      await sleep(10_000, null, { signal });
      return '';
    }),
    tokens: functionAgent(async ({ turn }) => ({ text: envelope(`emit ${turn}`, GO_ON), tokens: 40 })),
    turns: functionAgent(async ({ turn }) => envelope(`emit ${turn}`, GO_ON)),
    endless: replies(envelope('while true', 'set x = 1', 'endwhile')),
  };
  const tools = [defineTool({ name: 'tool.t.One', run: () => 1 })];

  it('P34: breached is code 37, which the script can catch and go on; it names the option and the amount', async () => {
    await using bench = await askBench({ agents, runtime: { tools } });
    const failed = async (model: string, options: string) => {
      const { error } = await bench.run(`ask "${model}", "go" with ${options}`);
      const caught = await bench.run(...CATCHING, `ask "${model}", "go" with ${options}`, 'emit "on"');
      expect([model, caught.error, caught.values]).toEqual([model, null, [error?.nsCode, 'on']]);
      return [error?.nsCode, error?.message];
    };
    expect(await failed('fuel', '{"fuel": 5000}')).toEqual([37, 'the ask used up its fuel: 5,000 are allowed']);
    expect(await failed('tools', '{"tool_calls": 5}')).toEqual([37, 'the ask used up its tool_calls: 5 are allowed']);
    expect(await failed('tools', '{"tool_calls": 0}')).toEqual([37, 'the ask used up its tool_calls: 0 are allowed']);
    expect(await failed('memory', '{"memory_bytes": 100000}')).toEqual([
      37,
      'the ask used up its memory_bytes: 100,000 are allowed',
    ]);
    expect(await failed('endless', '{"cpu_ms": 5}')).toEqual([37, 'the ask used up its cpu_ms: 5 are allowed']);
    expect(await failed('wall', '{"wall_ms": 100}')).toEqual([37, 'the ask used up its wall_ms: 100 are allowed']);
    expect(await failed('tokens', '{"max_tokens": 100}')).toEqual([37, 'the ask used up its max_tokens: 120 of 100']);
    expect(await failed('turns', '{"max_turns": 2}')).toEqual([6, 'the ask was halted: ERR_MAX_TURNS']);
  });

  it.each(['nil', '0', '-1', '1.5', '""', '{}'])('finding 8: %s is no number of turns or tokens', async (amount) => {
    await using bench = await askBench({ agents });
    for (const name of ['max_turns', 'max_tokens', 'fuel']) {
      const { error } = await bench.run(`ask "turns", "go" with {"${name}": ${amount}}`);
      expect([name, error?.nsCode]).toEqual([name, 4]);
    }
  });

  it('holds over all turns together, and bounds exactly what they use', async () => {
    const counts = { fuel: 40_000, tool_calls: 3 };
    const busy = functionAgent(async ({ turn }) => envelope(spin(1000), `emit ${turn}`, GO_ON));
    await using bench = await askBench({ agents: { busy } });
    expect((await bench.run(`ask "busy", "go" with {"fuel": ${counts.fuel}}`)).error?.nsCode).toBe(37);
    const first = await nestedUsage(bench);
    expect(first.turns).toBeGreaterThan(3);
    expect(first.fuel).toBeLessThanOrEqual(counts.fuel);
    expect((await bench.run(`ask "busy", "go" with {"tool_calls": ${counts.tool_calls}}`)).error?.nsCode).toBe(37);
    const second = await nestedUsage(bench);
    // Each turn is one call, its token; the agent is not asked for a turn that could have none.
    expect([second.turns - first.turns, second.toolCalls - first.toolCalls]).toEqual([3, 3]);
  });

  it('time that one endless program takes', SLOW, async () => {
    await using bench = await askBench({ agents: { spins: replies(envelope('while true', 'set x = 1', 'endwhile')) } });
    for (const options of ['{"cpu_ms": 80}', '{"wall_ms": 150}']) {
      const begun = performance.now();
      const result = await bench.run(...CATCHING, `ask "spins", "go" with ${options}`, 'emit "on"');
      expect([options, result.error, result.values]).toEqual([options, null, [37, 'on']]);
      expect(performance.now() - begun).toBeLessThan(5_000);
    }
  });
});

describe("the caller's own limits", () => {
  it('P34: spent within an ask end the run, whatever it catches, with limit, allowed and used', async () => {
    const agents = {
      fuel: replies(envelope(spin(100_000))),
      tools: replies(envelope('set i = 0', 'while i < 20', '  call tool.t.One()', '  set i = i + 1', 'endwhile')),
      memory: replies(envelope('set x = "abc"', 'while true', '  set x = x + x', 'endwhile')),
      wall: functionAgent(async ({ signal }) => {
        await sleep(10_000, null, { signal });
        return '';
      }),
    };
    const limits = { fuel: 60_000, toolCalls: 8, memoryBytes: 2_000_000, wallMs: 60_000 };
    await using short = await limited({ wallMs: 1_500 }, { agents });
    await using bench = await limited(limits, { agents, runtime: { tools: [defineTool({ name: 'tool.t.One', run: () => 1 })] } });
    const ended = async (model: string, before = '', options = '', on = bench) => {
      const { error, values, usage } = await on.run(
        ...CATCHING,
        before,
        `ask "${model}", "go"${options === '' ? '' : ` with ${options}`}`,
        'emit "on"',
      );
      expect([model, values]).toEqual([model, []]);
      const { code, nsCode, limit, allowed, used } = error ?? {};
      return { code, nsCode, limit, allowed, used, usage };
    };
    const fuel = await ended('fuel');
    expect(fuel).toMatchObject({ code: 'ERR_QUOTA', nsCode: null, limit: 'fuel', allowed: 60_000 });
    // One statement too many; what it would have taken is small.
    expect(fuel.used).toBeGreaterThan(60_000);
    expect(fuel.used).toBeLessThan(60_100);
    // Three calls of its own; then five of the nested program, and the sixth was too many.
    const tools = await ended('tools', ['call tool.t.One()', 'call tool.t.One()', 'call tool.t.One()'].join('\n'));
    expect(tools).toMatchObject({ code: 'ERR_QUOTA', limit: 'toolCalls', allowed: 8, used: 9, usage: { toolCalls: 8 } });
    const memory = await ended('memory', KEEP);
    expect(memory).toMatchObject({ code: 'ERR_QUOTA', limit: 'memoryBytes', allowed: 2_000_000 });
    expect(memory.used ?? 2_000_001).toBeGreaterThan(2_000_000);
    expect(await ended('wall', '', '', short)).toMatchObject({ code: 'ERR_TIMEOUT', limit: 'wallMs', allowed: 1_500 });
    // A looser option changes nothing.
    expect(await ended('fuel', '', '{"fuel": 60000}')).toMatchObject({ code: 'ERR_QUOTA', limit: 'fuel', allowed: 60_000 });
  });

  it('what the caller holds in memory is not there for the nested program', async () => {
    const agents = { a: replies(envelope(KEEP, 'emit len(kept)', DONE)) };
    await using bench = await limited({ memoryBytes: 600_000 }, { agents });
    const free = await bench.run('ask "a", "go" into x', 'emit x');
    expect([free.error, free.values]).toEqual([null, ['131072']]);
    const full = await bench.run(KEEP, 'ask "a", "go" into x', 'emit x');
    expect(full.error).toMatchObject({ code: 'ERR_QUOTA', limit: 'memoryBytes', allowed: 600_000 });
  });

  it('an ask with too little left for any turn asks nobody', async () => {
    let asked = 0;
    const a = functionAgent(async () => {
      asked += 1;
      return envelope(DONE);
    });
    await using bench = await limited(
      { toolCalls: 1 },
      { agents: { a }, runtime: { tools: [defineTool({ name: 'tool.t.One', run: () => 1 })] } },
    );
    const { error } = await bench.run('call tool.t.One()', 'ask "a", "go"');
    expect(error).toMatchObject({ code: 'ERR_QUOTA', limit: 'toolCalls', allowed: 1, used: 2 });
    expect(asked).toBe(0);
  });
});

describe('the account of a budget', () => {
  const left = { fuel: 500, memoryBytes: 2_000_000, toolCalls: 5, cpuMs: 400, wallMs: 60_000 };
  const limits = { ...defaultLimits('turn'), fuel: 1000, memoryBytes: 3_000_000, toolCalls: 10, cpuMs: 500, wallMs: 90_000 };
  const budgetOf = (budget: object = {}) => {
    return new Budget({ left, limits }, { budget }, new AskQuota(null, { turns: null, tokens: null }));
  };
  const usage = { fuel: 200, cpuMs: 50, wallMs: 60, peakMemoryBytes: 1000, toolCalls: 2, outputBytes: 0, queueMs: 0 };
  const ended = (limit: string, allowed: number, used?: number) => {
    return quotaError({ limit: limit as LimitKey, allowed, used }, '');
  };
  const infoOf = (end: unknown) => (end instanceof Halt ? [end.info.limit, end.info.allowed, end.info.used] : end);

  it('goes down turn by turn, but for memory; what the caller had used before is part of what was used', () => {
    const budget = budgetOf({ toolCalls: 4 });
    expect(budget.next()).toMatchObject({ fuel: 500, memoryBytes: 2_000_000, toolCalls: 4, cpuMs: 400 });
    budget.take(usage);
    expect(budget.next()).toMatchObject({ fuel: 300, memoryBytes: 2_000_000, toolCalls: 2, cpuMs: 350 });
    budget.take({ ...usage, fuel: 300 });
    // 500 before the ask, 200 in the first turn, 301 wanted in the second.
    expect(infoOf(budget.breachOf(ended('fuel', 300, 301)))).toEqual(['fuel', 1000, 1001]);
    expect(infoOf(budget.breachOf(ended('cpuMs', 350, 360)))).toEqual(['cpuMs', 500, 510]);
    expect(infoOf(budget.breachOf(ended('memoryBytes', 2_000_000, 2_000_100)))).toEqual(['memoryBytes', 3_000_000, 3_000_100]);
    expect(budget.breachOf(ended('toolCalls', 2, 3))).toMatchObject({ nsCode: 37 });
    expect(() => budget.next()).toThrow('the run and what it asked used up its fuel: 1,000 are allowed');
  });

  it('of a program that was killed and cannot tell, says nothing of what was used; limits of its own are no breach', () => {
    const budget = budgetOf();
    budget.take({ ...usage, fuel: 0 });
    expect(infoOf(budget.breachOf(ended('memoryBytes', 2_000_000)))).toEqual(['memoryBytes', 3_000_000, undefined]);
    expect(budget.breachOf(ended('toolMs', 10, 10))).toBeNull();
    // Such as the time for parsing: that of the ask is not over.
    expect(budget.breachOf(ended('wallMs', 5000, 5000))).toBeNull();
  });
});

describe('nested in nested', () => {
  const agents = {
    outer: replies(envelope(...CATCHING, 'ask "deep", "go"', 'emit "outer on"', DONE)),
    deep: replies(envelope(spin(1_000_000))),
    chatty: functionAgent(async ({ turn }) => ({ text: envelope(`emit ${turn}`, GO_ON), tokens: 30 })),
    asks: functionAgent(async () => ({ text: envelope(...CATCHING, 'ask "chatty", "go"', 'emit "on"', DONE), tokens: 10 })),
  };

  it('P34: a limit set outside ends the loop inside and what had asked it; whoever set it can catch it, once, and pays', async () => {
    await using bench = await askBench({ agents });
    const result = await bench.run(...CATCHING, 'ask "outer", "go" with {"fuel": 30000}', 'emit "on"');
    expect([result.error, result.values]).toEqual([null, [37, 'on']]);
    const [ask] = asksOf(result);
    // The deep loop used nearly all of it, and nothing is paid twice or forgotten.
    expect(ask?.spent?.fuel).toBeGreaterThan(25_000);
    expect(ask?.spent?.fuel).toBeLessThanOrEqual(30_000);
    expect(ask?.spent?.turns).toBe(2);
    const outer = (await bench.store.list()).find(({ parent }) => parent?.sid === null);
    const [turn] = await bench.store.turns(outer?.sid ?? '');
    expect(turn).toMatchObject({ decision: 'HALT', reason: 'ERR_QUOTA', error: { limit: 'fuel', allowed: 30_000 } });
    expect(turn?.usage.fuel).toBe(ask?.spent?.fuel);
  });

  it("the root's own limits go through all of them", async () => {
    await using bench = await limited({ fuel: 50_000 }, { agents });
    const { error, usage } = await bench.run(...CATCHING, 'ask "outer", "go"', 'emit "on"');
    expect(error).toMatchObject({ code: 'ERR_QUOTA', limit: 'fuel', allowed: 50_000 });
    expect(error?.used).toBeGreaterThan(50_000);
    expect(error?.used).toBeLessThan(50_100);
    expect(usage.fuel).toBeLessThanOrEqual(50_000);
    expect(usage.fuel).toBeGreaterThan(45_000);
  });

  it('turns and model tokens of an ask are those of everything that is asked within it', async () => {
    await using bench = await askBench({ agents });
    const turns = await bench.run('ask "asks", "go" with {"max_turns": 4} into x', 'emit x');
    // One turn of its own, three of the loop inside, which then has none left: code 6 there.
    expect(turns.values).toEqual(['6\non']);
    expect(asksOf(turns)[0]?.spent).toMatchObject({ turns: 4, tokens: 100 });
    // 10 of its own, twice 30, and 30 that were more than the 20 left.
    const tokens = await bench.run(...CATCHING, 'ask "asks", "go" with {"max_tokens": 90} into x', 'emit "on"');
    expect(tokens.values).toEqual([37, 'on']);
    expect(asksOf(tokens)[0]?.spent).toMatchObject({ tokens: 100 });
  });
});

describe('what the guest says of its remainder', () => {
  it('is believed up to what the host knows: limits, calls it has seen, loops it has charged', async () => {
    const lefts: AskRequest['left'][] = [];
    const limits = { fuel: 1_000_000, toolCalls: 20, memoryBytes: 5_000_000 };
    await using runtime = await createRuntime({
      concurrency: 1,
      limits,
      ask: async ({ left }) => {
        lefts.push(left);
        return { t: 'ok', value: null, spent: { fuel: 400_000, toolCalls: 7, cpuMs: 1, turns: 1, tokens: 0 } };
      },
    });
    await runtime.run('command\nask "a", "go"\nask "a", "go"\nendcommand');
    expect(lefts.map(({ toolCalls }) => toolCalls)).toEqual([20, 13]);
    expect(lefts[0]?.fuel).toBeLessThan(1_000_000);
    expect(lefts[1]?.fuel).toBeLessThan(600_000);
    expect(lefts.every(({ memoryBytes }) => memoryBytes < 5_000_000 && memoryBytes > 4_000_000)).toBe(true);
  });
});
