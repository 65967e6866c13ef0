import type { Usage } from '../wire/protocol.ts';
import { tokensOfAsks } from './quota.ts';
import type { TurnRecord } from './record/record.ts';
import type { Spent } from './sessions/store.ts';

/** The usage of a session after a turn: that of all attempts at it, and of every reply. */
export function spentAfter({ fuel, tokens }: Spent, record: TurnRecord): Spent {
  return {
    fuel: fuel + usageOfTurn(record).fuel,
    tokens: tokens + (record.agent?.tokens ?? 0) + tokensOfTurn(record),
  };
}

/** What all attempts at a turn used of the amounts that add up. */
export function usageOfTurn({ usage, attempts = [] }: TurnRecord): Pick<Usage, 'fuel' | 'toolCalls' | 'cpuMs'> {
  const sum = (of: (usage: Usage) => number): number => attempts.reduce((total, each) => total + of(each.usage), of(usage));
  return { fuel: sum(({ fuel }) => fuel), toolCalls: sum(({ toolCalls }) => toolCalls), cpuMs: sum(({ cpuMs }) => cpuMs) };
}

/** Model tokens of the asks of all attempts at a turn. */
export function tokensOfTurn({ journal, attempts = [] }: Pick<TurnRecord, 'journal' | 'attempts'>): number {
  // The calls of an interrupted attempt are in the journal of the next one.
  const ended = attempts.filter(({ end }) => end !== 'interrupted');
  return ended.reduce((sum, attempt) => sum + tokensOfAsks(attempt.journal), tokensOfAsks(journal));
}
