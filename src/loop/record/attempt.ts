import type { JournalEntry } from '../../wire/journal.ts';
import { findLimit, type LimitValues } from '../../wire/limits.ts';
import type { FailedAttempt, TurnRecord } from './record.ts';

/** The journals from which the next attempt takes answers. The calls of an interrupted attempt are in the journal of the next one. */
export function journalsOf(attempts: readonly FailedAttempt[]): readonly TurnRecord['journal'][] {
  return attempts.map(({ end, journal }) => (end === 'interrupted' ? [] : journal));
}

/** Whether a recorded call has ended with an answer; the others ended with their run. */
export function hasAnswer({ outcome }: JournalEntry): boolean {
  return outcome.ok || !('halted' in outcome);
}

/** Ids of the tokens of earlier attempts. The program of an interrupted attempt runs again, and its tokens stay good. */
export function voidTokens(attempts: readonly FailedAttempt[]): ReadonlySet<string> {
  return new Set(attempts.flatMap(({ end, jtis }) => (end === 'interrupted' ? [] : jtis)));
}

/** The limits whose use adds up over the attempts at a turn, and how much of each an attempt used. */
const SUMMED: readonly (readonly [limit: keyof LimitValues, used: (attempt: FailedAttempt) => number])[] = [
  ['fuel', ({ usage }) => usage.fuel],
  ['cpuMs', ({ usage }) => usage.cpuMs],
  ['wallMs', ({ usage }) => usage.wallMs],
  ['outputBytes', ({ usage }) => usage.outputBytes],
  ['scratchBytes', ({ scratchpad }) => Buffer.byteLength(scratchpad)],
  ['journalBytes', ({ journal }) => Buffer.byteLength(JSON.stringify(journal))],
];

/**
 * The limits of the next attempt at a turn; null when the earlier ones used up a limit. Tool calls are counted elsewhere, by the journals. The
 * program of an interrupted attempt runs again, and counts then.
 */
export function limitsAfter(limits: LimitValues, attempts: readonly FailedAttempt[]): LimitValues | null {
  const left = { ...limits };
  const ended = attempts.filter(({ end }) => end !== 'interrupted');
  for (const [limit, used] of SUMMED) {
    const sum = ended.reduce((total, attempt) => total + used(attempt), 0);
    left[limit] = Math.floor(limits[limit] - sum);
    if (left[limit] < (findLimit(limit)?.min ?? 1)) return null;
  }
  return left;
}

/** The attempts whose programs do not run again. Kept calls name their attempt by this number of attempts before it. */
export function countedAttempts(attempts: readonly FailedAttempt[]): number {
  return attempts.filter(({ end }) => end !== 'interrupted').length;
}
