import { tokensOfAsks } from './quota.ts';
import type { TurnRecord } from './record/record.ts';
import type { Spent } from './sessions/store.ts';

/** The usage of a session after a turn: that of all attempts at it, and of every reply. */
export function spentAfter({ fuel, tokens }: Spent, { usage, agent, journal, attempts = [] }: TurnRecord): Spent {
  return {
    fuel: attempts.reduce((sum, attempt) => sum + attempt.usage.fuel, fuel + usage.fuel),
    tokens: attempts.reduce(
      // The calls of an interrupted attempt are in the journal of the next one.
      (sum, attempt) => sum + (attempt.end === 'interrupted' ? 0 : tokensOfAsks(attempt.journal)),
      tokens + (agent?.tokens ?? 0) + tokensOfAsks(journal),
    ),
  };
}
