import type { CarriedLabel } from '../wire/labels.ts';
import type { CallSite } from '../wire/protocol.ts';

/* Texts and calls in the answers of the inspector's server, as `views.ts` describes them. */

/**
 * A text, or its beginning. `GET /api/sessions/SID/turns/N/parts/PART?from=OFFSET` answers with a {@link PieceView} of the rest; N is the
 * turn to which the text belongs.
 */
export interface TextView {
  readonly text: string;
  /** UTF-16 units of the whole text. It is cut if this is more than `text.length`. */
  readonly length: number;
  /** The name of the rest; null if the text is whole, and for a text that the server does not keep. */
  readonly part: string | null;
}

/** A piece of a text. The text goes on at `from + text.length` if that is less than `length`. */
export interface PieceView {
  readonly text: string;
  readonly from: number;
  readonly length: number;
}

/** A call of a program to the host. */
export interface CallView {
  readonly seq: number;
  /** Its id in the session, such as `2.1`: the answer to change in a trial. */
  readonly call: string;
  readonly kind: 'tool' | 'prompt' | 'ask';
  /** The tool; for an `ask` the model. */
  readonly name: string;
  /** JSON; a prompt has its question as JSON. */
  readonly args: readonly TextView[];
  /** JSON; null for a call that failed. */
  readonly result: TextView | null;
  /** How it failed; null for a call that gave a value. */
  readonly failed: {
    readonly code: string;
    readonly message: string;
    readonly hint: string | null;
    readonly halted: boolean;
  } | null;
  /** The policy's verdict; null for prompts and asks, and when none is recorded. */
  readonly verdict: VerdictView | null;
  readonly ms: number;
  /** US dollars that it cost, with the calls and turns within it. */
  readonly cost: number;
  /** Milliseconds from the start of the turn to its beginning. */
  readonly begin: number;
  readonly at: CallSite;
  /** The session that an `ask` opened; null when there is none. */
  readonly nested: string | null;
  /** Whether it may have had its effect twice. */
  readonly repeated: boolean;
}

/** `GET /api/sessions/SID/turns/N/calls?after=SEQ`: the calls after one of them. */
export interface CallsView {
  readonly calls: readonly CallView[];
  readonly more: boolean;
}

/** The verdict of a policy on a call. */
export interface VerdictView {
  readonly allowed: boolean;
  /** The rule that decided, such as `deny` or `grants`. */
  readonly rule: string;
  /** The entry of that rule; null when no single one decided. */
  readonly entry: string | null;
  readonly reason: string;
  /** Name of the argument for which a rule about origin refused the call; null for all other verdicts, and for what decides on the call. */
  readonly argument: string | null;
  /** The first labels for which it was refused, and where they come from; none for other rules. */
  readonly origins: readonly CarriedLabel[];
}
