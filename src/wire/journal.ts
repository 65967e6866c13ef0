import type { ErrorInfo } from './errors.ts';
import type { AnswerLabels, CallLabels, CarriedLabel } from './labels.ts';
import type { AskSpent, CallSite, GuestReply, TaggedJson } from './protocol.ts';

/** The common part of all recorded calls. */
interface Recorded {
  /** Counts from 1 within a run. */
  readonly seq: number;
  readonly at: CallSite;
  /** The host's questions to the calling fork while the call was open, in order; absent when there were none. */
  readonly asked?: readonly ForkQuery[];
  readonly outcome: JournalOutcome;
  /** Milliseconds from the start of the turn to the beginning of the call; outside of a turn, from when the run was asked for. Replay ignores it. */
  readonly begin: number;
  /** Elapsed milliseconds on the host. Replay ignores it. */
  readonly ms: number;
  /** Labels of the call and of its answer, under rules about origin; absent without any. */
  readonly flow?: RecordedLabels | undefined;
  /** Why a policy or a grant refused the call; absent for other calls. */
  readonly refused?: Refusal | undefined;
  /** The call of an earlier attempt whose answer this call took; absent for a call that was made. */
  readonly from?: EarlierCall | undefined;
  /** Canonical names of the tools that were called successfully on behalf of this call; absent for none. */
  readonly called?: readonly string[] | undefined;
}

export interface RecordedLabels {
  readonly call?: CallLabels | undefined;
  readonly answer?: AnswerLabels | undefined;
}

/** What refused a recorded call. */
export interface Refusal {
  /** The part of the policy that has the rule; `grant` for a call outside of a grant, `person` for one that a person refused. */
  readonly rule:
    | 'policy'
    | 'context'
    | 'deny'
    | 'allow'
    | 'grants'
    | 'when'
    | 'order'
    | 'flow'
    | 'toolMaxCalls'
    | 'grant'
    | 'person';
  /** The rule as the policy writes it, for one about origin its sink; null without one. */
  readonly entry: string | null;
  /** Name of the argument for which the call was refused; absent where it was not for one. */
  readonly argument?: string | undefined;
  /** The labels for which it was refused; absent for rules that are not about origin. */
  readonly labels?: readonly CarriedLabel[] | undefined;
}

/** A call of an earlier attempt at a turn. */
export interface EarlierCall {
  /** Number of the attempt that made the call, from 1. */
  readonly attempt: number;
  /** Number of the call in that attempt, from 1. */
  readonly seq: number;
}

/**
 * A value that entered a run from outside. A run's input and its entries in order are sufficient to execute the run again with the
 * same bytes. Public JSON. An entry of a run keeps its values as bytes and decodes them at every reading: read each of them once.
 */
export type JournalEntry =
  /** A call of a tool by its canonical name. */
  | (Recorded & {
      readonly kind: 'tool';
      readonly name: string;
      readonly args: readonly TaggedJson[];
      /** Fuel of the work that the tool did on the host, which the program paid; absent for none. */
      readonly work?: number | undefined;
      /** US dollars that the call cost, with the calls that the tool made; absent for none. */
      readonly cost?: number | undefined;
    })
  /** A question to the user. */
  | (Recorded & { readonly kind: 'prompt'; readonly text: string })
  /** A question to an agent. */
  | (Recorded & {
      readonly kind: 'ask';
      readonly model: string;
      readonly prompt: TaggedJson;
      readonly options: TaggedJson;
      /** What the nested loop used. This run pays for it however the `ask` ended. Absent when no loop began. */
      readonly spent?: AskSpent | undefined;
    });

/** US dollars that a recorded call cost, with all that it asked. */
export function costOf(entry: JournalEntry): number {
  if (entry.kind === 'prompt') return 0;
  return (entry.kind === 'tool' ? entry.cost : entry.spent?.cost) ?? 0;
}

/** Entries in the order in which the program made the calls. */
export function inOrder<Entry extends Pick<JournalEntry, 'seq'>>(entries: readonly Entry[]): Entry[] {
  return entries.toSorted((a, b) => a.seq - b.seq);
}

/** Elapsed milliseconds of calls: of those that ran together, the time of the slowest counts. */
export function elapsedMs(calls: readonly Pick<JournalEntry, 'at' | 'ms'>[]): number {
  let sum = 0;
  const slowest = new Map<number, number>();
  for (const { at, ms } of calls) {
    if (at.together === undefined) sum += ms;
    else slowest.set(at.together, Math.max(ms, slowest.get(at.together) ?? 0));
  }
  return slowest.values().reduce((total, ms) => total + ms, sum);
}

/** A question to the calling fork. It costs the program fuel and may change its variables. */
export type ForkQuery = Exclude<GuestReply, { readonly t: 'ok' | 'error' | 'all' | 'halt' }>;

/** How a recorded call ended: a value, a failure the script could catch, or a halt. */
export type JournalOutcome =
  /** The value that the call returned. */
  | { readonly ok: true; readonly value: TaggedJson }
  /** The error that the script saw. */
  | { readonly ok: false; readonly code: number; readonly message: string; readonly hint?: string | undefined }
  /** The error that ended the run. */
  | { readonly ok: false; readonly halted: ErrorInfo };

/** Stands for the tool in a {@link WaitingCall} that waits for an answer to `promptuser`; the name of no tool has this form. */
export const PROMPT = 'promptuser';

/** Stands for the tool in a {@link WaitingCall} that waits for the answer to an `ask`; the name of no tool has this form. */
export const ASK = 'ask';

/** What the answer to a call must be: true or false, a number, a text, or one of these texts. */
export type AnswerForm =
  | 'truth'
  | 'number'
  | 'text'
  | {
      /** The texts, of which the answer is one. */
      readonly choices: readonly string[];
    };

/** A call whose tool, or user, will answer later. The run ended at this call; it is executed again up to the call to continue. */
export interface WaitingCall {
  /** Number of the call within its run. */
  readonly seq: number;
  /** Canonical name of the tool, {@link PROMPT} or {@link ASK}. */
  readonly tool: string;
  /** Its arguments; for {@link PROMPT} the question, for {@link ASK} model, prompt and options. */
  readonly args: readonly TaggedJson[];
  /** The place of the call in the script. */
  readonly at: CallSite;
  /** The host's questions to the fork before the tool suspended the run. */
  readonly asked: readonly ForkQuery[];
  /** What is waited for, in the words of the tool. */
  readonly reason: string;
  /** Milliseconds until the tool gives up; null when it does not say. */
  readonly expiresIn: number | null;
  /** Elapsed milliseconds until the tool suspended the run. */
  readonly ms: number;
  /** Present when the answer is not the call's result, but says whether the call may be made: `true` allows it. */
  readonly allows?: true;
  /** What the answer must be; absent where the tool declares no result, or one of another form. */
  readonly answer?: AnswerForm | undefined;
  /** Present when the answer decides about all calls of this grant, and not about this call alone. As JSON. */
  readonly plan?: unknown;
}
