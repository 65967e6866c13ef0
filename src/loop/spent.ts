import { sumUsd } from '../wire/money.ts';
import type { Usage } from '../wire/protocol.ts';
import { tokensOfAsks } from './quota.ts';
import { countsForTurn } from './record/attempt.ts';
import type { FailedAttempt, TurnRecord } from './record/record.ts';

/** The usage of a session so far, over all its turns and all processes that drove it. */
export interface Spent {
  /** Fuel of all programs. */
  readonly fuel: number;
  /** As its agents report them; 0 for agents that do not count. */
  readonly tokens: number;
  /** US dollars for calls and model tokens; absent for none. */
  readonly cost?: number | undefined;
}

/** The usage of a session after a turn: that of all attempts at it, and of every reply. */
export function spentAfter({ fuel, tokens, cost }: Spent, record: TurnRecord): Spent {
  const used = usageOfTurn(record);
  return {
    fuel: fuel + used.fuel,
    tokens: tokens + (record.agent?.tokens ?? 0) + tokensOfTurn(record),
    ...costs(cost, record.agent?.cost, used.cost),
  };
}

/** The sum of costs; nothing for none. */
export function costs(...amounts: readonly (number | undefined)[]): { readonly cost?: number } {
  const cost = sumUsd(...amounts);
  return cost === 0 ? {} : { cost };
}

/** US dollars that the calls of attempts have cost. */
export function paidBy(attempts: readonly FailedAttempt[]): number {
  return sumUsd(...attempts.map((attempt) => (countsForTurn(attempt) ? attempt.usage.cost : 0)));
}

/** What all attempts at a turn used of the amounts that add up. */
export function usageOfTurn({
  usage,
  attempts = [],
}: Pick<TurnRecord, 'usage' | 'attempts'>): Pick<Usage, 'fuel' | 'toolCalls' | 'cpuMs' | 'cost'> {
  const sum = (of: (usage: Usage) => number): number => attempts.reduce((total, each) => total + of(each.usage), of(usage));
  return {
    fuel: sum(({ fuel }) => fuel),
    toolCalls: sum(({ toolCalls }) => toolCalls),
    cpuMs: sum(({ cpuMs }) => cpuMs),
    ...costs(usage.cost, paidBy(attempts)),
  };
}

/** Model tokens of the asks of all attempts at a turn. */
export function tokensOfTurn({ journal, attempts = [] }: Pick<TurnRecord, 'journal' | 'attempts'>): number {
  // The calls of an interrupted attempt are in the journal of the next one.
  const ended = attempts.filter(({ end }) => end !== 'interrupted');
  return ended.reduce((sum, attempt) => sum + tokensOfAsks(attempt.journal), tokensOfAsks(journal));
}
