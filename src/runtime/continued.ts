import { tighten } from '../sandbox/index.ts';
import { type CallScript, type Completion, divergenceOf, type Known, RecordedCalls } from '../tools/index.ts';
import { NS_CODES } from '../wire/codes.ts';
import { replayError } from '../wire/errorinfo.ts';
import { ASK, elapsedMs, type JournalEntry, PROMPT, type WaitingCall } from '../wire/journal.ts';
import type { LimitValues } from '../wire/limits.ts';
import type { GuestCall, RunInput } from '../wire/protocol.ts';
import type { RecordedRun } from './request.ts';

/** A run that was put aside at calls whose answers come later, as plain data. */
export interface WaitingRun {
  readonly run: RunInput;
  /** The calls that have ended. */
  readonly journal: readonly JournalEntry[];
  readonly waiting: WaitingCall;
  /** Further calls that wait, in the order of the program: they ran together with the first. */
  readonly alsoWaiting?: readonly WaitingCall[] | undefined;
}

/**
 * Continues a run that waits. The program runs again from its beginning. The journal answers its earlier calls, and the completions
 * answer the waiting calls: first `waiting`, then `alsoWaiting`, in that order. A call without a completion waits again. So the time
 * limit of the run covers the computation of this execution and the time that its tools took before.
 */
export function continued(waits: WaitingRun, completions: readonly (Completion | null)[], limits: LimitValues): RecordedRun {
  const { run, journal } = waits;
  const waiting = waitingCalls(waits);
  const calls = new RecordedCalls(journal, new CompletedCalls(waiting, completions));
  return { input: withTimeLeft(run, elapsedMs([...journal, ...waiting]), limits), calls };
}

/** All calls for which a run waits, in the order of the program. */
function waitingCalls({ waiting, alsoWaiting = [] }: Pick<WaitingRun, 'waiting' | 'alsoWaiting'>): readonly WaitingCall[] {
  return [waiting, ...alsoWaiting];
}

/**
 * Continues a run whose process died. The program runs again from its beginning, the journal answers the kept calls, and every later call
 * is new.
 */
export function continuedAfter(run: RunInput, journal: readonly JournalEntry[], limits: LimitValues): RecordedRun {
  return { input: withTimeLeft(run, elapsedMs(journal), limits), calls: new RecordedCalls(journal, NEW_CALLS) };
}

const NEW_CALLS: CallScript = { known: () => null };

function withTimeLeft(run: RunInput, toolMs: number, limits: LimitValues): RunInput {
  const wallMs = Math.max(1, Math.ceil(Math.min(run.limits.wallMs - toolMs, limits.wallMs)));
  return { ...run, limits: { ...tighten(limits, run.limits), wallMs } };
}

/** Answers the calls that waited, which the program must repeat unchanged. Later calls are new. */
class CompletedCalls implements CallScript {
  readonly #waiting: readonly WaitingCall[];
  readonly #completions: readonly (Completion | null)[];

  constructor(waiting: readonly WaitingCall[], completions: readonly (Completion | null)[]) {
    this.#waiting = waiting;
    this.#completions = completions;
  }

  known(call: GuestCall): Known | null {
    const index = this.#waiting.findIndex(({ seq }) => call.seq <= seq);
    const waiting = this.#waiting[index];
    if (waiting === undefined) return null;
    // The process died before this call had ended. The call may be made again.
    if (call.at.together !== undefined && call.seq < waiting.seq) return null;
    const divergence = divergenceOf(call, entryOf(waiting));
    if (divergence !== null) {
      const message = `the program does not repeat the call that waited, ${waiting.tool}: it differs in its ${divergence.field}`;
      return { t: 'answer', reply: { t: 'halt', error: replayError(message) } };
    }
    const completion = this.#completions[index] ?? null;
    if (completion === null) return { t: 'waits', waiting };
    if (waiting.allows) return permission(waiting, completion);
    return { t: 'completed', asked: waiting.asked, completion: { ...completion, waitedFor: waiting.reason } };
  }
}

/** What a person decided about a call that waited for permission. */
function permission({ tool }: WaitingCall, completion: Completion): Known {
  if (completion.ok && completion.value === true) return { t: 'allowed' };
  const why = completion.ok ? 'a person refused it' : completion.message;
  const reply = { t: 'error', code: NS_CODES.Policy, message: `the call of ${tool} was not made: ${why}` } as const;
  return { t: 'answer', reply, ...(completion.ok ? { isRefused: true } : {}) };
}

/** The waiting call in the form of a journal entry. */
function entryOf({ seq, tool, args, at }: WaitingCall): JournalEntry {
  const rest = { seq, at, outcome: { ok: true, value: null }, begin: 0, ms: 0 } as const;
  const [text, prompt = null, options = null] = args;
  if (tool === ASK && typeof text === 'string') return { kind: 'ask', model: text, prompt, options, ...rest };
  return tool === PROMPT && typeof text === 'string'
    ? { kind: 'prompt', text, ...rest }
    : { kind: 'tool', name: tool, args, ...rest };
}
