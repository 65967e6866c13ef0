import type { ErrorInfo } from './errors.ts';
import type { AskSpent, CallSite, GuestReply, TaggedJson } from './protocol.ts';

/** What all recorded calls have in common. */
interface Recorded {
  /** Counts from 1 within a run. */
  readonly seq: number;
  readonly at: CallSite;
  /** What the host asked the calling fork while the call was open, in order; absent when it asked nothing. */
  readonly asked?: readonly ForkQuery[];
  readonly outcome: JournalOutcome;
  /** Elapsed milliseconds on the host. Not replayed, for the reader only. */
  readonly ms: number;
}

/**
 * Everything that entered a run from outside, in the order it entered: with the run's input it is all that is needed to
 * execute the run again and get the same bytes. Public JSON.
 */
export type JournalEntry =
  | (Recorded & { readonly kind: 'tool'; readonly name: string; readonly args: readonly TaggedJson[] })
  | (Recorded & { readonly kind: 'prompt'; readonly text: string })
  | (Recorded & {
      readonly kind: 'ask';
      readonly model: string;
      readonly prompt: TaggedJson;
      readonly options: TaggedJson;
      /** What the nested loop used up, which this run pays however the `ask` ended; absent when none was begun. */
      readonly spent?: AskSpent;
    });

/** A question about the calling fork, as it was sent: it costs the program fuel, and may change its variables. */
export type ForkQuery = Exclude<GuestReply, { readonly t: 'ok' | 'error' | 'halt' }>;

/** How a recorded call ended: a value, a failure the script could catch, or a halt. */
export type JournalOutcome =
  | { readonly ok: true; readonly value: TaggedJson }
  | { readonly ok: false; readonly code: number; readonly message: string; readonly hint?: string }
  | { readonly ok: false; readonly halted: ErrorInfo };

/** A call whose tool will answer later. The run has ended there, and goes on when it is executed again up to it. */
export interface WaitingCall {
  readonly seq: number;
  /** Canonical name of the tool. */
  readonly tool: string;
  readonly args: readonly TaggedJson[];
  readonly at: CallSite;
  /** What the fork was asked before the tool said that it waits. */
  readonly asked: readonly ForkQuery[];
  readonly reason: string;
  /** Milliseconds that the tool gives it; null: it does not say. */
  readonly expiresIn: number | null;
  /** Elapsed milliseconds until the tool said so. */
  readonly ms: number;
}
