import { continued, continuedAfter } from '../../runtime/index.ts';
import type { Completion } from '../../tools/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import type { LimitValues } from '../../wire/limits.ts';
import type { Progress } from '../record/kept.ts';
import { callId, type Suspension } from '../record/suspension.ts';
import type { EarlierRun } from '../turn/turn.ts';

/** The failure of a call that was not completed in time, if that does not end the session. */
export function expiredCompletion(turn: number, { waiting }: Suspension): Completion {
  const message = `call ${callId(turn, waiting)} of ${waiting.tool} was not completed in time`;
  return { ok: false, code: NS_CODES.ResourceExhaustion, message };
}

/** How a suspended turn continues. `approved` is the hash of the ACTIONS that a human approved when the turn began. */
export function continuation(
  { waiting, earlier }: Suspension,
  approved: string | null,
  completion: Completion,
  limits: LimitValues,
): EarlierRun {
  const { run, journal, ...rest } = earlier;
  return {
    ...rest,
    approved,
    answered: journal.at(-1)?.seq ?? 0,
    recorded: continued({ run, journal, waiting }, completion, limits),
  };
}

/** How a turn continues whose process died, after the calls that were kept. */
export function continuationAfter({ run, journal, earlier }: Progress, approved: string | null, limits: LimitValues): EarlierRun {
  return { ...earlier, approved, answered: journal.at(-1)?.seq ?? 0, recorded: continuedAfter(run, journal, limits) };
}
