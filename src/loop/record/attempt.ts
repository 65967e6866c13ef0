import { CallHistory, calledIn } from '../../tools/index.ts';
import type { JournalEntry } from '../../wire/journal.ts';
import { findLimit, type LimitValues } from '../../wire/limits.ts';
import { nanosOf, usdOf } from '../../wire/money.ts';
import type { AttemptEnd, FailedAttempt, TurnRecord } from './record.ts';

/**
 * Whether what an attempt did counts for its turn, beside what the next one does. The program of an interrupted attempt runs again, and a
 * rehearsed one has reached nothing.
 */
export function countsForTurn({ end }: Pick<FailedAttempt, 'end'>): boolean {
  return end === 'failed' || end === 'rejected';
}

/** The number of the first attempt with the program of the attempt that follows these: the program of an interrupted one runs again. */
export function firstWithProgram(attempts: readonly Pick<FailedAttempt, 'end'>[]): number {
  return 2 + attempts.findLastIndex(({ end }) => end !== 'interrupted');
}

/** The journals from which the next attempt takes answers. */
export function journalsOf(attempts: readonly FailedAttempt[]): readonly TurnRecord['journal'][] {
  return attempts.map((attempt) => (countsForTurn(attempt) ? attempt.journal : []));
}

/** Whether a recorded call has ended with an answer; the others ended with their run. */
export function hasAnswer({ outcome }: JournalEntry): boolean {
  return outcome.ok || !('halted' in outcome);
}

/** Ids of the tokens of earlier attempts. The program of an interrupted attempt runs again, and its tokens stay good. */
export function voidTokens(attempts: readonly FailedAttempt[]): ReadonlySet<string> {
  return new Set(attempts.filter(countsForTurn).flatMap(({ jtis }) => jtis));
}

/** Canonical names of the tools that were called successfully in attempts at a turn, each once. */
export function calledBy(
  attempts: readonly (Pick<FailedAttempt, 'journal'> & { readonly end?: AttemptEnd })[],
): readonly string[] {
  return calledIn(attempts.flatMap(({ journal, end }) => (end === 'rehearsed' ? [] : journal)));
}

/** The calls before a program of a recorded turn, which follows these attempts. `session` has those of earlier turns, and gets those of this one. */
export function historyOf({ attempts = [] }: Pick<TurnRecord, 'attempts'>, session: Set<string>): CallHistory {
  const turn = calledBy(attempts);
  const history = new CallHistory({ session, turn }, (tool) => session.add(tool));
  for (const tool of turn) session.add(tool);
  return history;
}

/** The limits whose use adds up over the attempts at a turn, and how much of each an attempt used. */
const SUMMED: readonly (readonly [limit: keyof LimitValues, used: (attempt: FailedAttempt) => number])[] = [
  ['fuel', ({ usage }) => usage.fuel],
  ['cpuMs', ({ usage }) => usage.cpuMs],
  ['wallMs', ({ usage }) => usage.wallMs],
  ['outputBytes', ({ usage }) => usage.outputBytes],
  ['scratchBytes', ({ scratchpad }) => Buffer.byteLength(scratchpad)],
  ['journalBytes', ({ journal }) => Buffer.byteLength(JSON.stringify(journal))],
  ['cost', ({ usage }) => usage.cost ?? 0],
];

/**
 * The limits of the next attempt at a turn; null when the earlier ones used up a limit. Tool calls are counted elsewhere, by the journals. The
 * program of an interrupted attempt runs again, and counts then.
 */
export function limitsAfter(limits: LimitValues, attempts: readonly FailedAttempt[]): LimitValues | null {
  const left = { ...limits };
  const ended = attempts.filter(countsForTurn);
  for (const [limit, used] of SUMMED) {
    const sum = ended.reduce((total, attempt) => total + used(attempt), 0);
    left[limit] = limit === 'cost' ? usdOf(nanosOf(limits[limit]) - nanosOf(sum)) : Math.floor(limits[limit] - sum);
    if (left[limit] < (findLimit(limit)?.min ?? 1)) return null;
  }
  return left;
}

/** The attempts whose programs do not run again. Kept calls name their attempt by this number of attempts before it. */
export function countedAttempts(attempts: readonly FailedAttempt[]): number {
  return attempts.filter(({ end }) => end !== 'interrupted').length;
}
