import type { LimitValues } from '../wire/limits.ts';
import type { RunInput } from '../wire/protocol.ts';
import { countsForTurn, hasAnswer } from './record/attempt.ts';
import { type FailedAttempt, inputOf } from './record/record.ts';
import type { EarlierTurn } from './record/suspension.ts';
import type { StartedTurn } from './sessions/store.ts';
import { continuationAfter } from './suspend/resume.ts';
import { ACTIONS, type TurnInput, userdataOf } from './turn/input.ts';
import type { EarlierRun, RepeatedRun } from './turn/request.ts';

/**
 * What the next attempt repeats after its worker was killed: the run, and every call of it that has ended, also those that the killed attempt
 * had not come to again. Null when no call has ended.
 */
export function repeatedRun(
  before: RepeatedRun | null,
  run: RunInput | null,
  { journal }: Pick<FailedAttempt, 'journal'>,
): RepeatedRun | null {
  const known = new Set(before?.journal.map(({ seq }) => seq));
  const ended = journal.filter((entry) => !known.has(entry.seq) && hasAnswer(entry));
  if (before !== null) return { run: before.run, journal: [...before.journal, ...ended] };
  return run === null || ended.length === 0 ? null : { run, journal: ended };
}

/**
 * What a stored turn goes on with when its next attempt runs from the beginning: index, nonce and the number of tokens, or the calls of an
 * interrupted attempt. Null for a turn without attempts, and for one whose process died while a program ran: that program gets a new nonce.
 */
export function earlierOf(started: StartedTurn, input: TurnInput, limits: LimitValues, now: number): EarlierRun | null {
  const { attempts, attempt, turn } = started;
  const last = attempts.at(-1);
  if (last === undefined) return null;
  if (last.end === 'interrupted') {
    const repeats = input.ok ? storedRun(attempts, input, last.limits) : null;
    const earlier = { ...turnSoFar(started), clock: last.clock, jtis: last.jtis };
    return repeats && continuationAfter(turn, { ...repeats, earlier }, null, null, now, limits);
  }
  return attempt > 0 ? null : { ...turnSoFar(started), recorded: null, approved: null };
}

/** The run of the interrupted attempts at the end, with the calls of all of them. */
function storedRun(
  attempts: readonly FailedAttempt[],
  input: TurnInput & { readonly ok: true },
  limits: LimitValues,
): RepeatedRun | null {
  const from = 1 + attempts.findLastIndex(({ end }) => end !== 'interrupted');
  const actions = { name: ACTIONS, text: input.envelope.actions };
  const userdata = userdataOf(input);
  return attempts.slice(from).reduce<RepeatedRun | null>((before, attempt) => {
    return repeatedRun(before, attempt.run && inputOf(attempt.run, limits, actions, userdata), attempt);
  }, null);
}

/** The state of a turn between two attempts. A new program in the same turn has its own clock readings and tokens. */
function turnSoFar({ startedAt, nonce, attempts }: StartedTurn): EarlierTurn {
  const last = attempts.at(-1);
  const counted = attempts.filter((attempt) => countsForTurn(attempt) || (attempt === last && attempt.end === 'interrupted'));
  const mints = counted.reduce((sum, { jtis }) => sum + jtis.length, 0);
  const ranMs = counted.reduce((sum, { usage }) => sum + usage.wallMs, 0);
  return { startedAt, nonce, clock: [], jtis: [], mints, mintFailed: false, ranMs };
}
