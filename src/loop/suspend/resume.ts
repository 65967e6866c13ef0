import { continued, continuedAfter } from '../../runtime/index.ts';
import type { Completion } from '../../tools/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import type { LimitValues } from '../../wire/limits.ts';
import type { Progress } from '../record/kept.ts';
import { callId, type StoredCall, type Suspension, storedCalls } from '../record/suspension.ts';
import type { EarlierRun } from '../turn/request.ts';

/**
 * The continuation of a suspended turn at `now`: a call that was not completed in time fails, and one that still has time keeps waiting.
 * `approved` is the hash of the ACTIONS that a human approved when the turn began.
 */
export function continuation(
  turn: number,
  suspension: Suspension,
  approved: string | null,
  now: number,
  limits: LimitValues,
): EarlierRun {
  const { run, journal, ...rest } = suspension.earlier;
  const { waiting, alsoWaiting: others = [] } = suspension;
  const alsoWaiting = others.map((call) => call.waiting);
  const completions = storedCalls(suspension).map(
    (call) => call.completion ?? (now < call.expiresAt ? null : expiredCompletion(turn, call)),
  );
  return {
    ...rest,
    approved,
    repeats: { run, journal },
    recorded: continued({ run, journal, waiting, alsoWaiting }, completions, limits),
  };
}

/** The continuation of a turn whose process or worker died, after the calls that had ended. `suspended` is its earlier wait. */
export function continuationAfter(
  turn: number,
  { run, journal, earlier }: Omit<Progress, 'begun'>,
  suspended: Suspension | null,
  approved: string | null,
  now: number,
  limits: LimitValues,
): EarlierRun {
  if (suspended !== null)
    return continuation(turn, { ...suspended, earlier: { ...earlier, run, journal } }, approved, now, limits);
  return { ...earlier, approved, repeats: { run, journal }, recorded: continuedAfter(run, journal, limits) };
}

function expiredCompletion(turn: number, { waiting }: StoredCall): Completion {
  const message = `call ${callId(turn, waiting)} of ${waiting.tool} was not completed in time`;
  return { ok: false, code: NS_CODES.ResourceExhaustion, message };
}
