import type { ErrorInfo } from './errors.ts';
import type { CallSite, TaggedJson } from './protocol.ts';

/**
 * Everything that entered a run from outside, in the order it entered: with the run's input it is all that is needed to
 * execute the run again and get the same bytes. Public JSON; `seq` counts from 1 within a run.
 */
export type JournalEntry =
  | {
      readonly kind: 'tool';
      readonly seq: number;
      readonly name: string;
      readonly args: readonly TaggedJson[];
      readonly at: CallSite;
      readonly outcome: JournalOutcome;
      /** Elapsed milliseconds on the host. Not replayed, for the reader only. */
      readonly ms: number;
    }
  | {
      readonly kind: 'prompt';
      readonly seq: number;
      readonly text: string;
      readonly at: CallSite;
      readonly outcome: JournalOutcome;
      readonly ms: number;
    }
  | {
      readonly kind: 'ask';
      readonly seq: number;
      readonly model: string;
      readonly prompt: TaggedJson;
      readonly options: TaggedJson;
      readonly at: CallSite;
      readonly outcome: JournalOutcome;
      readonly ms: number;
    };

/** How a recorded call ended: a value, a failure the script could catch, or a halt. */
export type JournalOutcome =
  | { readonly ok: true; readonly value: TaggedJson }
  | { readonly ok: false; readonly code: number; readonly message: string }
  | { readonly ok: false; readonly halted: ErrorInfo };
