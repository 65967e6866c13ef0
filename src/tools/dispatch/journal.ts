import type { CallIo } from '../../wire/call.ts';
import type { ErrorInfo } from '../../wire/errors.ts';
import type { ForkQuery, JournalEntry, JournalOutcome } from '../../wire/journal.ts';
import type { AskSpent, GuestCall } from '../../wire/protocol.ts';
import { canonicalName } from '../names.ts';

/** The calls of one run: the open ones, and the ended ones in the order in which they ended. */
export class CallJournal {
  readonly #entries: JournalEntry[] = [];
  readonly #open = new Map<GuestCall, { readonly start: number; readonly io: CallIo }>();
  readonly #onEntry: (entry: JournalEntry) => void;

  /** `onEntry` receives every call once it has ended. */
  constructor(onEntry: (entry: JournalEntry) => void) {
    this.#onEntry = onEntry;
  }

  open(call: GuestCall, io: CallIo): void {
    this.#open.set(call, { start: performance.now(), io });
  }

  /** Ends a call. Does nothing for a call that has ended before. */
  close(call: GuestCall, outcome: JournalOutcome, spent?: AskSpent): void {
    const open = this.#open.get(call);
    if (open === undefined) return;
    this.#open.delete(call);
    this.#keep(entryOf(call, outcome, elapsed(open.start), open.io.queries, spent));
  }

  /** Ends a call with its recorded entry. */
  repeat(call: GuestCall, entry: JournalEntry): void {
    if (this.#open.delete(call)) this.#keep(entry);
  }

  /** Forgets an open call: another run will answer it. */
  drop(call: GuestCall): void {
    this.#open.delete(call);
  }

  /**
   * All entries. A call that is still open was ended from outside: with the error that its script was sent, else with `halted`.
   * `spent` gives the usage of an `ask`.
   */
  finish(halted: ErrorInfo, spent: (call: GuestCall) => AskSpent | undefined = () => undefined): readonly JournalEntry[] {
    for (const [call, { io }] of [...this.#open]) this.close(call, { ok: false, halted: sentTo(io) ?? halted }, spent(call));
    return this.#entries;
  }

  #keep(entry: JournalEntry): void {
    this.#entries.push(entry);
    this.#onEntry(entry);
  }
}

/** Milliseconds since `start`, to the microsecond. */
export function elapsed(start: number): number {
  return Math.round((performance.now() - start) * 1000) / 1000;
}

function entryOf(
  call: GuestCall,
  outcome: JournalOutcome,
  ms: number,
  queries: readonly ForkQuery[],
  spent: AskSpent | undefined,
): JournalEntry {
  const { seq, at } = call;
  const asked = queries.length === 0 ? {} : { asked: [...queries] };
  if (call.t === 'tool') return { kind: 'tool', seq, name: canonicalName(call.name), args: call.args, at, ...asked, outcome, ms };
  if (call.t === 'prompt') return { kind: 'prompt', seq, text: call.text, at, ...asked, outcome, ms };
  const { model, prompt, options } = call;
  return { kind: 'ask', seq, model, prompt, options, at, ...asked, outcome, ...(spent === undefined ? {} : { spent }), ms };
}

/** The error that the script was sent in place of an answer when the run was ended from outside; null when it was not. */
function sentTo({ signal }: CallIo): ErrorInfo | null {
  const reason: unknown = signal.aborted ? signal.reason : null;
  // The sandbox aborts the signal with the same error that it sends.
  return typeof reason === 'object' && reason !== null && 'kind' in reason && 'stack' in reason ? (reason as ErrorInfo) : null;
}
