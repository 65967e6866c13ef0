import { priceRange, type ToolDefinition } from '../tools/index.ts';
import { quotaError } from '../wire/errorinfo.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import { LIMITS } from '../wire/limits.ts';
import { MOST_USD, nanosOf, sumUsd, usdOf, usdText } from '../wire/money.ts';
import type { Preview, PreviewCall, PreviewCost } from '../wire/preview.ts';
import type { ForeseenCall } from '../wire/sourcereports.ts';

/** What the calls of one row cost, of which there are at most `times`; null for a tool without a price. */
export function foreseenCost(
  { args, least: certain }: ForeseenCall,
  times: number,
  tool: ToolDefinition | undefined,
): PreviewCost | null {
  if (tool === undefined || tool.price === null) return null;
  const { least, most } = priceRange(tool.price, args, tool.parameters);
  const all = most === 0 ? 0 : most * times;
  return { least: amount(least * certain), most: all <= nanosOf(MOST_USD) ? usdOf(all) : null };
}

/** A call that costs more than can be counted cannot be paid. */
function amount(nanos: number): number {
  return Math.min(MOST_USD, usdOf(nanos));
}

/** What a run costs under its limit. */
export function foreseenCosts(calls: readonly PreviewCall[], limit: number): Preview['cost'] {
  const least = sumUsd(...calls.map(({ cost }) => cost?.least));
  const isOpen = calls.some(({ name, cost }) => name === 'ask' || cost?.most === null);
  const most = isOpen ? null : sumUsd(...calls.map(({ cost }) => cost?.most ?? 0));
  return { least, ...(most !== null && most <= limit ? { most, by: 'program' } : { most: limit, by: 'limit' }) };
}

/** Why a run does not begin: it could not end well within its limit. Null when it may. */
export function tooDear({ cost: { least } }: Preview, allowed: number): ErrorInfo | null {
  if (least <= allowed) return null;
  const message = `the program costs at least ${usdText(least)}, ${usdText(allowed)} is allowed; nothing was run`;
  return quotaError({ limit: 'cost', allowed, used: least }, message);
}

/** Whether a limit was set. */
export function isCostLimited(limit: number): boolean {
  return limit < (LIMITS.find(({ key }) => key === 'cost')?.default ?? 0);
}
