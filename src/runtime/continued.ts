import { tighten } from '../sandbox/index.ts';
import { type CallScript, type Completion, divergenceOf, type Known, RecordedCalls } from '../tools/index.ts';
import { replayError } from '../wire/errorinfo.ts';
import { ASK, type JournalEntry, PROMPT, type WaitingCall } from '../wire/journal.ts';
import type { LimitValues } from '../wire/limits.ts';
import type { GuestCall, RunInput } from '../wire/protocol.ts';
import type { RecordedRun } from './request.ts';

/** A run that was put aside at a call whose answer comes later, as plain data. */
export interface WaitingRun {
  readonly run: RunInput;
  /** The calls before the one that waits. */
  readonly journal: readonly JournalEntry[];
  readonly waiting: WaitingCall;
}

/**
 * How a run that waits continues: the program runs again from its beginning, the journal answers the calls it made before, and
 * the completion answers the call that waited. Its time limit therefore covers the computation of this execution and the
 * time that its tools took before it.
 */
export function continued({ run, journal, waiting }: WaitingRun, completion: Completion, limits: LimitValues): RecordedRun {
  const calls = new RecordedCalls(journal, new CompletedCall(waiting, completion));
  const toolMs = journal.reduce((sum, { ms }) => sum + ms, waiting.ms);
  return { input: withTimeLeft(run, toolMs, limits), calls };
}

/**
 * How a run continues whose process died: the program runs again from its beginning, the journal answers the calls that were kept, and
 * every later call is new.
 */
export function continuedAfter(run: RunInput, journal: readonly JournalEntry[], limits: LimitValues): RecordedRun {
  const toolMs = journal.reduce((sum, { ms }) => sum + ms, 0);
  return { input: withTimeLeft(run, toolMs, limits), calls: new RecordedCalls(journal, NEW_CALLS) };
}

const NEW_CALLS: CallScript = { known: () => null };

function withTimeLeft(run: RunInput, toolMs: number, limits: LimitValues): RunInput {
  const wallMs = Math.max(1, Math.ceil(Math.min(run.limits.wallMs - toolMs, limits.wallMs)));
  return { ...run, limits: { ...tighten(limits, run.limits), wallMs } };
}

/** Answers the call that waited, which the program must repeat unchanged. Later calls are new. */
class CompletedCall implements CallScript {
  readonly #waiting: WaitingCall;
  readonly #completion: Completion;

  constructor(waiting: WaitingCall, completion: Completion) {
    this.#waiting = waiting;
    this.#completion = completion;
  }

  known(call: GuestCall): Known | null {
    const { seq, tool, asked, reason } = this.#waiting;
    if (call.seq > seq) return null;
    const divergence = divergenceOf(call, entryOf(this.#waiting));
    if (divergence === null) return { t: 'completed', asked, completion: { ...this.#completion, waitedFor: reason } };
    const message = `the program does not repeat the call that waited, ${tool}: it differs in its ${divergence.field}`;
    return { t: 'answer', reply: { t: 'halt', error: replayError(message) } };
  }
}

/** The call that waited, as the journal would have it. */
function entryOf({ seq, tool, args, at }: WaitingCall): JournalEntry {
  const rest = { seq, at, outcome: { ok: true, value: null }, ms: 0 } as const;
  const [text, prompt = null, options = null] = args;
  if (tool === ASK && typeof text === 'string') return { kind: 'ask', model: text, prompt, options, ...rest };
  return tool === PROMPT && typeof text === 'string'
    ? { kind: 'prompt', text, ...rest }
    : { kind: 'tool', name: tool, args, ...rest };
}
