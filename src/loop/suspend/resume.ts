import { tighten } from '../../sandbox/index.ts';
import { type CallScript, type Completion, divergenceOf, type Known, RecordedCalls } from '../../tools/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { replayError } from '../../wire/errorinfo.ts';
import type { LimitValues } from '../../wire/limits.ts';
import type { GuestCall, RunInput } from '../../wire/protocol.ts';
import { callId, type Suspension } from '../record/suspension.ts';
import type { EarlierRun } from '../turn/turn.ts';

/** The failure of a call that was not completed in time, if that does not end the session. */
export function expiredCompletion(turn: number, { waiting }: Suspension): Completion {
  const message = `call ${callId(turn, waiting)} of ${waiting.tool} was not completed in time`;
  return { ok: false, code: NS_CODES.ResourceExhaustion, message };
}

/**
 * How a suspended turn continues: the program runs again from its beginning, the journal answers the calls it made before, and
 * the completion answers the call that waited. Its time limit therefore covers the computation of this execution and the
 * time that its tools took before. `approved` is the hash of the ACTIONS that a human approved when the turn began.
 */
export function continuation(
  { waiting, earlier }: Suspension,
  approved: string | null,
  completion: Completion,
  limits: LimitValues,
): EarlierRun {
  const { run, journal, ...rest } = earlier;
  const calls = new RecordedCalls(journal, new CompletedCall(waiting, completion));
  const toolMs = journal.reduce((sum, { ms }) => sum + ms, waiting.ms);
  return { ...rest, approved, recorded: { input: withTimeLeft(run, toolMs, limits), calls } };
}

function withTimeLeft(run: RunInput, toolMs: number, limits: LimitValues): RunInput {
  const wallMs = Math.max(1, Math.ceil(Math.min(run.limits.wallMs - toolMs, limits.wallMs)));
  return { ...run, limits: { ...tighten(limits, run.limits), wallMs } };
}

/** Answers the call that waited, which the program must repeat unchanged. Later calls are new. */
class CompletedCall implements CallScript {
  readonly #waiting: Suspension['waiting'];
  readonly #completion: Completion;

  constructor(waiting: Suspension['waiting'], completion: Completion) {
    this.#waiting = waiting;
    this.#completion = completion;
  }

  known(call: GuestCall): Known | null {
    const { seq, tool: name, args, at, asked, reason } = this.#waiting;
    if (call.seq > seq) return null;
    const entry = { kind: 'tool', seq, name, args, at, outcome: { ok: true, value: null }, ms: 0 } as const;
    const divergence = divergenceOf(call, entry);
    if (divergence === null) return { t: 'completed', asked, completion: { ...this.#completion, waitedFor: reason } };
    const message = `the program does not repeat the call that waited, ${name}: it differs in its ${divergence.field}`;
    return { t: 'answer', reply: { t: 'halt', error: replayError(message) } };
  }
}
