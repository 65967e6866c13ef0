/**
 * Money is counted in whole nano-dollars, so that sums are exact. Outside, an amount is a number of US dollars with at most nine decimals:
 * the nearest number to a whole count of nano-dollars stands for that count, up to {@link MOST_USD}.
 */

/** A whole number of nano-dollars, from 0. */
export type Nanos = number;

const PER_USD = 1e9;

/** Most US dollars that an amount can have. */
export const MOST_USD = 1_000_000;

/** Why a value is no amount of US dollars; null when it is one. */
export function usdProblem(value: unknown): string | null {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return 'must be a number of US dollars, from 0';
  if (value > MOST_USD) return `must be at most ${MOST_USD} US dollars`;
  return nanosOf(value) / PER_USD === value ? null : 'must have at most nine decimals';
}

/** The nano-dollars of an amount that {@link usdProblem} has not refused. */
export function nanosOf(usd: number): Nanos {
  return Math.round(usd * PER_USD);
}

export function usdOf(nanos: Nanos): number {
  return nanos / PER_USD;
}

export function sumUsd(...amounts: readonly (number | undefined)[]): number {
  return usdOf(amounts.reduce<Nanos>((sum, usd = 0) => sum + nanosOf(usd), 0));
}

/** An amount for people: `$1,000.05`. At least `decimals` are shown, and as many as it has. */
export function usdText(usd: number, decimals = 2): string {
  const [whole = '', part = ''] = usd.toFixed(9).split('.');
  let end = part.length;
  while (end > decimals && part.charAt(end - 1) === '0') end--;
  return `$${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${part.slice(0, end)}`;
}

/** The price of `units` things of `each`, rounded up; infinite beyond what can be counted, as for NaN. */
export function priceOf(each: Nanos, units: number): Nanos {
  if (each === 0 || units <= 0) return 0;
  const price = Math.ceil(each * units);
  return price <= MOST_USD * PER_USD ? price : Number.POSITIVE_INFINITY;
}

/** What tokens of a model cost, in US dollars for a million of them. */
export interface TokenPrice {
  /** Tokens of prompts. */
  readonly in: number;
  /** Tokens of replies. */
  readonly out: number;
  /** Tokens of prompts that the provider had in its cache; as `in` when absent. */
  readonly cached?: number | undefined;
}

/** Tokens as an agent counts them. */
export interface TokenCount {
  readonly tokens: number;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** Those of `inputTokens` that came from a cache. */
  readonly cachedTokens?: number | undefined;
}

const MILLION = 1_000_000n;

/** More tokens than any reply has. */
const MOST_TOKENS = 1e9;

/** What the tokens of a reply cost, rounded up. Tokens of which nobody says what they were count as the dearest. */
export function tokenCost(price: TokenPrice, { tokens, inputTokens = 0, outputTokens = 0, cachedTokens = 0 }: TokenCount): Nanos {
  const cached = Math.min(cachedTokens, inputTokens);
  const rest = Math.max(0, tokens - inputTokens - outputTokens);
  const sum =
    nanosFor(price.in, inputTokens - cached) +
    nanosFor(price.cached ?? price.in, cached) +
    nanosFor(price.out, outputTokens) +
    nanosFor(dearest(price), rest);
  return Number((sum + MILLION - 1n) / MILLION);
}

/** Most tokens of a reply for which an amount suffices. */
export function outputFor({ out }: TokenPrice, nanos: Nanos): number {
  const each = nanosOf(out);
  return each === 0 ? MOST_TOKENS : Math.min(MOST_TOKENS, Number((BigInt(nanos) * MILLION) / BigInt(each)));
}

function dearest({ in: input, out, cached = 0 }: TokenPrice): number {
  return Math.max(input, out, cached);
}

const nanosFor = (usd: number, tokens: number): bigint => BigInt(nanosOf(usd)) * BigInt(tokens);
