import { tokensOfAsks } from './quota.ts';
import type { TurnRecord } from './record/record.ts';
import type { Spent } from './sessions/store.ts';

/** The usage of a session after a turn: that of all attempts at it, and of every reply. */
export function spentAfter({ fuel, tokens }: Spent, { usage, agent, journal, attempts = [] }: TurnRecord): Spent {
  return {
    fuel: attempts.reduce((sum, attempt) => sum + attempt.usage.fuel, fuel + usage.fuel),
    tokens: tokens + (agent?.tokens ?? 0) + tokensOfTurn({ journal, attempts }),
  };
}

/** Model tokens of the asks of all attempts at a turn. */
export function tokensOfTurn({ journal, attempts = [] }: Pick<TurnRecord, 'journal' | 'attempts'>): number {
  // The calls of an interrupted attempt are in the journal of the next one.
  const ended = attempts.filter(({ end }) => end !== 'interrupted');
  return ended.reduce((sum, attempt) => sum + tokensOfAsks(attempt.journal), tokensOfAsks(journal));
}
