import type { CallIo, FinalReply } from '../../wire/call.ts';
import type { ErrorInfo } from '../../wire/errors.ts';
import type { JournalEntry } from '../../wire/journal.ts';
import type { AskSpent, GuestCall } from '../../wire/protocol.ts';
import { outcomeOf } from './outcome.ts';
import { pack, packedEntry, packedOutcome } from './packed.ts';

/** A call without an end, and its packed messages. */
interface OpenEntry {
  readonly start: number;
  readonly io: CallIo;
  readonly call: Buffer;
  reply: Buffer | null;
}

/** The calls of one run: the open ones, and the ended ones in the order in which they ended. Their values are packed. */
export class CallJournal {
  readonly #entries: JournalEntry[] = [];
  readonly #open = new Map<GuestCall, OpenEntry>();
  readonly #onEntry: (entry: JournalEntry) => void;

  /** `onEntry` receives every call once it has ended. */
  constructor(onEntry: (entry: JournalEntry) => void) {
    this.#onEntry = onEntry;
  }

  /** Returns the number of bytes that the journal keeps of the call. */
  open(call: GuestCall, io: CallIo): number {
    const bytes = pack(call);
    this.#open.set(call, { start: performance.now(), io, call: bytes, reply: null });
    return bytes.length;
  }

  /** Keeps the answer with which the call will be closed. Returns the number of its bytes. */
  answer(call: GuestCall, reply: FinalReply): number {
    const bytes = pack(reply);
    const open = this.#open.get(call);
    if (open !== undefined) open.reply = bytes;
    return bytes.length;
  }

  /** Ends a call. Does nothing for a call that has ended before. */
  close(call: GuestCall, reply: FinalReply, spent?: AskSpent): void {
    const open = this.#open.get(call);
    if (open === undefined) return;
    this.#open.delete(call);
    const outcome = reply.t === 'ok' && open.reply !== null ? packedOutcome(open.reply) : outcomeOf(reply);
    this.#keep(packedEntry(call, open.call, { queries: open.io.queries, outcome, spent, ms: elapsed(open.start) }));
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
    for (const [call, { io }] of [...this.#open]) this.close(call, { t: 'halt', error: sentTo(io) ?? halted }, spent(call));
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

/** The error that the script was sent in place of an answer when the run was ended from outside; null when it was not. */
function sentTo({ signal }: CallIo): ErrorInfo | null {
  const reason: unknown = signal.aborted ? signal.reason : null;
  // The sandbox aborts the signal with the same error that it sends.
  return typeof reason === 'object' && reason !== null && 'kind' in reason && 'stack' in reason ? (reason as ErrorInfo) : null;
}
