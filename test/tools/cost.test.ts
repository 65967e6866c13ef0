import { describe, expect, it } from 'vitest';
import { createRuntime } from '../../src/runtime/index.ts';
import { defineTool } from '../../src/tools/index.ts';
import { nanosOf, priceOf, sumUsd, tokenCost, usdProblem, usdText } from '../../src/wire/money.ts';

const called: string[] = [];
const tools = [
  defineTool({
    name: 'tool.t.Flat',
    args: [{ name: 'what', type: 'string', default: '' }],
    cost: { usd: 0.1 },
    run: ({ what }) => void called.push(what),
  }),
  defineTool({ name: 'tool.t.Kept', cost: { usd: 0.1 }, setsVariables: false, run: () => null }),
  defineTool({
    name: 'tool.t.Pages',
    args: [{ name: 'pages', type: 'int' }],
    cost: { usd: { each: 0.002, of: 'pages' } },
    run: ({ pages }) => pages,
  }),
  defineTool({
    name: 'tool.t.Rows',
    args: [{ name: 'rows', type: 'list' }],
    cost: { usd: { each: 0.5, of: 'rows' } },
    run: ({ rows }) => rows.length,
  }),
  defineTool({
    name: 'tool.t.Words',
    args: [{ name: 'text', type: 'string' }],
    cost: { usd: { each: 0.001, of: 'text' } },
    run: ({ text }) => text.length,
  }),
  defineTool({
    name: 'tool.t.Outer',
    cost: { usd: 0.01 },
    run: async (_, runtime) => {
      await runtime.callTool('tool.t.Flat', []);
      await runtime.callTool('tool.t.Flat', []).catch(() => {});
    },
  }),
];
const program = (...lines: readonly string[]): string => `command\n  ${lines.join('\n  ')}\nendcommand\n`;

async function run(lines: readonly string[], cost = 100) {
  called.length = 0;
  await using runtime = await createRuntime({
    tools,
    policy: { allow: ['*'] },
    limits: { cost },
  });
  return await runtime.run(program(...lines));
}

describe('issue 47, a price: money', () => {
  it('is summed exactly', () => {
    expect(sumUsd(...Array.from({ length: 10 }, () => 0.1))).toBe(1);
    expect(sumUsd(0.1, 0.2)).toBe(0.3);
    expect([usdText(0.3), usdText(2), usdText(0.000000001)]).toEqual(['$0.30', '$2.00', '$0.000000001']);
    for (let n = 0; n < 10_000; n++) expect(nanosOf(n / 1000)).toBe(n * 1_000_000);
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, '1', 0.0000000001, 1_000_001])('refuses %s', (usd) => {
    expect(usdProblem(usd)).not.toBeNull();
  });

  it('rounds a part of a nano-dollar up, and counts no more than it can', () => {
    expect([priceOf(3, 1 / 3), priceOf(1, 0.5), priceOf(5, -1), priceOf(0, Number.NaN)]).toEqual([1, 1, 0, 0]);
    expect(priceOf(5, Number.NaN)).toBe(Number.POSITIVE_INFINITY);
    expect(priceOf(1e9, 1e300)).toBe(Number.POSITIVE_INFINITY);
  });

  it('counts tokens by their kind, and those of which nobody says what they were as the dearest', () => {
    const price = { in: 0.15, out: 0.6, cached: 0.075 };
    expect(tokenCost(price, { tokens: 110, inputTokens: 100, outputTokens: 10, cachedTokens: 40 })).toBe(
      60 * 150 + 40 * 75 + 10 * 600,
    );
    expect(tokenCost(price, { tokens: 10 })).toBe(6000);
    expect(tokenCost({ in: 0.0000001, out: 0 }, { tokens: 1, inputTokens: 1 })).toBe(1);
  });
});

describe('issue 47, a price: calls', () => {
  it('cost what the tool declares: a sum, by a number, by a list, by a text', async () => {
    const { error, usage, journal } = await run([
      'call tool.t.Flat("a")',
      'call tool.t.Pages("3")',
      'call tool.t.Rows([1, 2])',
      'call tool.t.Words("äb👍")',
    ]);
    expect(error).toBeNull();
    expect(journal.map((entry) => (entry.kind === 'tool' ? entry.cost : null))).toEqual([0.1, 0.006, 1, 0.003]);
    expect(usage.cost).toBe(1.109);
  });

  it('are not made when the limit cannot pay them, and the error says what was allowed, used and asked for', async () => {
    const { error, usage } = await run(
      ['set i = 0', 'while i < 5', '  call tool.t.Flat("" + i)', '  set i = i + 1', 'endwhile'],
      0.35,
    );
    expect(error).toMatchObject({ kind: 'quota', code: 'ERR_QUOTA', limit: 'cost', allowed: 0.35, used: 0.4 });
    expect(error?.message).toBe('the call of tool.t.flat costs $0.10, and the run has used $0.30 of $0.35');
    expect(called).toEqual(['0', '1', '2']);
    expect(usage.cost).toBe(0.3);
  });

  it('cannot be paid by a tool that catches the refusal', async () => {
    const { error, usage } = await run(['call tool.t.Outer()', 'call tool.t.Flat("x")'], 0.15);
    expect(error).toMatchObject({ limit: 'cost' });
    expect([usage.cost, called]).toEqual([0.11, ['']]);
  });

  it('of a tool count for the call of the program', async () => {
    const { journal, usage } = await run(['call tool.t.Outer()']);
    expect([journal.map((entry) => entry.kind === 'tool' && entry.cost), usage.cost]).toEqual([[0.21], 0.21]);
  });

  it('that are refused cost nothing: unknown, denied, with wrong arguments', async () => {
    const { usage } = await run(['call tool.t.Pages("many")']);
    expect(usage.cost).toBeUndefined();
  });

  it('issue 47: are not counted by a blob, whose size is not that of the text that a program gives', () => {
    const cost = { usd: { each: 0.1, of: 'data' } };
    const make = () => defineTool({ name: 'tool.t.Send', args: [{ name: 'data', type: 'blob' }], cost, run: () => null });
    expect(make).toThrow("tool.t.Send: cost.usd.of names 'data', a blob; name a number, a list or a text");
  });

  it('are not begun by a program whose least exceeds the limit', async () => {
    const { error, phase } = await run(['call tool.t.Flat("a")', 'emit 1', 'call tool.t.Rows([1, 2])'], 1);
    expect(error).toMatchObject({ code: 'ERR_QUOTA', limit: 'cost', allowed: 1, used: 1.1 });
    expect([phase, called]).toEqual(['request', []]);
  });

  it.each([
    ['a loop over constants', ['for each x in ["a", "b", "c"]', 'call tool.t.Flat(x)', 'endfor'], 0.3],
    ['a loop over a variable', ['set l = [1, 2]', 'for each x in l', 'call tool.t.Flat("a")', 'endfor'], 0.2],
    ['a loop of a known number of passes', ['set i = 0', 'while i < 4', 'call tool.t.Kept()', 'set i = i + 1', 'endwhile'], 0.4],
    ['both branches', ['if tool.t.Flat("a")', 'call tool.t.Flat("b")', 'else', 'call tool.t.Flat("c")', 'endif'], 0.1],
    ['a loop that may end early', ['for each x in [1, 2]', 'call tool.t.Flat("a")', 'if last', 'break', 'endif', 'endfor'], 0.1],
    ['what an `and` may leave out', ['set x = tool.t.Flat("a") and tool.t.Flat("b")'], 0.1],
    ['a handler that goes on', ['on error do', 'clear_error', 'endon', 'call tool.t.Flat("a")'], 0],
  ])('issue 47: the least of a program counts %s', async (_, lines, least) => {
    await using runtime = await createRuntime({ tools, policy: { allow: ['*'] }, concurrency: 1 });
    expect((await runtime.foresee(program(...lines))).preview?.cost.least).toBe(least);
  });
});

describe('issue 47, a price: declarations', () => {
  it.each([
    [{ usd: -1 }, 'must be a number of US dollars'],
    [{ usd: 0.12345678912 }, 'at most nine decimals'],
    [{ usd: { each: 1, of: 'none' } }, "names 'none', which is not an argument"],
    [{ usd: { each: 1 } }, 'of'],
    [{ eur: 1 }, 'eur'],
  ])('%j is refused', (cost, why) => {
    const made = () => defineTool({ name: 'tool.t.X', cost: cost as { usd: number }, run: () => null });
    expect(made).toThrow(why);
  });
});
