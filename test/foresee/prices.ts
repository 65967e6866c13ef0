import type { Foreseen } from '../../grammar/index.ts';
import { foreseenCost, foreseenCosts } from '../../src/runtime/foreseencosts.ts';
import { defineTool, type ToolDefinition } from '../../src/tools/index.ts';
import { limitOf } from '../../src/wire/limits.ts';
import { MOST_USD } from '../../src/wire/money.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';

/** What a call costs in nano-dollars: a fixed amount, or an amount for each unit of an argument. */
const PRICES: Readonly<Record<string, { readonly each: number; readonly of?: number }>> = {
  'tool.a.get': { each: 10_000_000 },
  'tool.a.put': { each: 2_000_000, of: 0 },
  'tool.b.send': { each: 1_500_000, of: 1 },
};

const args = Array.from({ length: 12 }, (_, index) => ({ name: `a${index}`, type: 'any', required: false }) as const);

const TOOLS: ReadonlyMap<string, ToolDefinition> = new Map(
  Object.entries(PRICES).map(([name, { each, of }]) => {
    const usd = of === undefined ? each / 1e9 : { each: each / 1e9, of: `a${of}` };
    return [name, defineTool({ name, args, cost: { usd }, run: () => null })] as const;
  }),
);

/** What is stated of the cost of a run before it, in US dollars; null where nothing bounds it. */
export function statedCost(foreseen: Foreseen): { readonly least: number; readonly most: number | null } {
  const toolCalls = limitOf('toolCalls').default;
  const calls = foreseen.calls.map((call, index) => {
    const cost = foreseenCost(call, Math.min(call.most ?? toolCalls, toolCalls), TOOLS.get(call.name));
    const shown = { ...call, number: index + 1, effects: null, verdict: null, limitedBy: null };
    // A model may cost anything; here it costs nothing.
    return cost === null ? { ...shown, name: 'tool.t.free' } : { ...shown, cost };
  });
  const { least, most, by } = foreseenCosts(calls, MOST_USD);
  return { least, most: by === 'program' ? most : null };
}

/** What calls cost, in US dollars, computed apart from the runtime. */
export function paidFor(calls: Iterable<{ readonly name: string; readonly args: readonly TaggedJson[] }>): number {
  let nanos = 0n;
  for (const { name, args: given } of calls) {
    const price = PRICES[name];
    if (price === undefined) continue;
    const units = price.of === undefined ? 1 : unitsOf(given[price.of] ?? null);
    const paid = Math.ceil(price.each * units);
    // What costs more than can be counted has no stated bound.
    if (paid > MOST_USD * 1e9) return Number.POSITIVE_INFINITY;
    nanos += BigInt(paid);
  }
  return Number(nanos) / 1e9;
}

function unitsOf(value: TaggedJson): number {
  if (typeof value === 'number') return Math.max(0, value);
  if (typeof value === 'string') return [...value].length;
  if (Array.isArray(value)) return value.length;
  const special = typeof value === 'object' && value !== null && '$num' in value ? Number(value['$num']) : 0;
  return Number.isNaN(special) ? Number.POSITIVE_INFINITY : Math.max(0, special);
}
