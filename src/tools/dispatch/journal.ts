import type { CallIo, FinalReply } from '../../wire/call.ts';
import type { ErrorInfo } from '../../wire/errors.ts';
import { type EarlierCall, inOrder, type JournalEntry, type RecordedLabels, type Refusal } from '../../wire/journal.ts';
import type { AskSpent, GuestCall } from '../../wire/protocol.ts';
import type { Json } from './large.ts';
import { failureOf } from './outcome.ts';
import { type EndedCall, entryOf, headOf, type Packed, PackedMessages, packedQuery, packedSize } from './packed.ts';

/** A call without an end, and its packed messages. */
interface OpenEntry {
  readonly call: GuestCall;
  readonly start: number;
  readonly io: CallIo;
  /** Null until the call is packed, because a large one is written in pieces. */
  packed: Packed | null;
  reply: Packed | null;
}

/** What others know of a call, by its number. */
interface CallFacts {
  /** The tools that were called on its behalf. */
  readonly behalfOf: (seq: number) => readonly string[] | undefined;
  /** US dollars that it cost. */
  readonly costOf: (seq: number) => number | undefined;
  /** Why it was refused. */
  readonly refusalOf: (seq: number) => Refusal | undefined;
}

const NO_FACTS: CallFacts = { behalfOf: () => undefined, costOf: () => undefined, refusalOf: () => undefined };

/** The calls of one run: the open ones, and the ended ones. Their values are packed. */
export class CallJournal {
  readonly #messages = new PackedMessages();
  readonly #ended: (EndedCall | JournalEntry)[] = [];
  /** The open calls, in the order in which they were opened. A list, because most are open alone, and a map allocates memory for each. */
  readonly #open: OpenEntry[] = [];
  readonly #onEntry: ((entry: JournalEntry) => void) | undefined;
  readonly #facts: CallFacts;
  /** From where the beginnings of calls count. It is earlier if the run is repeated: its recorded calls take the time that they took. */
  #zero: number;

  /** `onEntry` receives every call once it has ended. `before`: milliseconds that have passed and count, at this moment. */
  constructor(onEntry?: (entry: JournalEntry) => void, facts: CallFacts = NO_FACTS, before = () => 0) {
    this.#onEntry = onEntry;
    this.#facts = facts;
    // The earlier reading first: no call begins before its run.
    this.#zero = performance.now() - before();
  }

  /**
   * The ended calls in the order of the program; calls that ran together may have ended in another order. They are decoded when they are
   * read.
   */
  get entries(): readonly JournalEntry[] {
    return inOrder(this.#ended.map((ended) => ('packed' in ended ? entryOf(ended) : ended)));
  }

  /** The last call that ended; undefined without one. */
  get last(): JournalEntry | undefined {
    const last = this.#ended.at(-1);
    return last !== undefined && 'packed' in last ? entryOf(last) : last;
  }

  /** Adds a call, whose message {@link pack} then stores. */
  open(call: GuestCall, io: CallIo): void {
    this.#open.push({ call, start: performance.now(), io, packed: null, reply: null });
  }

  #openOf(call: GuestCall): OpenEntry | undefined {
    return this.#open.find((open) => open.call === call);
  }

  /** Stores the message of a call; `json` is its JSON. */
  pack(call: GuestCall, json: Json): Packed {
    const packed = this.#messages.add(call, json);
    const open = this.#openOf(call);
    if (open !== undefined) open.packed = packed;
    return packed;
  }

  /** Stores the answer with which the call will be closed; `json` is its JSON. Returns the number of its bytes. */
  answer(call: GuestCall, reply: FinalReply, json: Json): number {
    const packed = this.#messages.add(reply, json);
    const open = this.#openOf(call);
    if (open !== undefined) open.reply = packed;
    return packedSize(packed);
  }

  /** Ends a call; `from` is the call of an earlier attempt that gave the answer. Does nothing for a call that has ended before. */
  close(call: GuestCall, reply: FinalReply, spent?: AskSpent, from?: EarlierCall): void {
    const ended = this.#endOf(call, reply, spent, from);
    if (ended === null) return;
    this.drop(call);
    this.#keep(ended);
  }

  /** The entry with which {@link close} would end a call now; null for a call that has ended. */
  entryOf(call: GuestCall, reply: FinalReply, spent?: AskSpent, from?: EarlierCall): JournalEntry | null {
    const ended = this.#endOf(call, reply, spent, from);
    return ended === null ? null : entryOf(ended);
  }

  #endOf(call: GuestCall, reply: FinalReply, spent: AskSpent | undefined, from: EarlierCall | undefined): EndedCall | null {
    const open = this.#openOf(call);
    if (open === undefined) return null;
    const { queries } = open.io;
    const asked = queries.length === 0 ? queries : queries.map((query) => packedQuery(this.#messages, query));
    const outcome = reply.t === 'ok' ? (open.reply ?? this.#messages.add(reply)) : failureOf(reply);
    const packed = open.packed ?? this.#messages.add(call);
    return {
      call: headOf(call),
      packed,
      asked,
      outcome,
      facts: {
        spent,
        work: reply.t === 'halt' ? undefined : reply.work,
        begin: between(this.#zero, open.start),
        ms: elapsed(open.start),
        cost: this.#facts.costOf(call.seq),
        from,
        called: this.#facts.behalfOf(call.seq),
        refused: this.#facts.refusalOf(call.seq),
        flow: labelsOf(call, reply),
      },
    };
  }

  /** Ends a call with its recorded entry. */
  repeat(call: GuestCall, entry: JournalEntry): void {
    if (!this.drop(call)) return;
    this.#zero = Math.min(this.#zero, performance.now() - entry.begin - entry.ms);
    this.#keep(entry);
  }

  /** Removes an open call, because another run will answer it. Returns whether it was open. */
  drop(call: GuestCall): boolean {
    const place = this.#open.findIndex((open) => open.call === call);
    if (place >= 0) this.#open.splice(place, 1);
    return place >= 0;
  }

  /**
   * Ends the open calls of a run that was ended from outside, with the error that was sent to the script, else with `halted`. `spent`
   * gives the usage of an `ask`.
   */
  finish(halted: ErrorInfo, spent: (call: GuestCall) => AskSpent | undefined = () => undefined): void {
    for (const { call, io } of [...this.#open]) this.close(call, { t: 'halt', error: sentTo(io) ?? halted }, spent(call));
  }

  #keep(ended: EndedCall | JournalEntry): void {
    const entry = this.#onEntry !== undefined && 'packed' in ended ? entryOf(ended) : ended;
    this.#ended.push(entry);
    if (!('packed' in entry)) this.#onEntry?.(entry);
  }
}

/** The labels of a call and its answer; undefined when there are none. */
function labelsOf(call: GuestCall, reply: FinalReply): RecordedLabels | undefined {
  const given = call.t === 'prompt' ? undefined : call.labels;
  const answer = reply.t === 'halt' ? undefined : reply.labels;
  return given === undefined && answer === undefined ? undefined : { call: given, answer };
}

/** Milliseconds since `start`, to the microsecond. */
export function elapsed(start: number): number {
  return between(start, performance.now());
}

function between(start: number, end: number): number {
  return Math.round((end - start) * 1000) / 1000;
}

/** The error that the script was sent in place of an answer when the run was ended from outside; null when it was not. */
function sentTo({ signal }: CallIo): ErrorInfo | null {
  const reason: unknown = signal.aborted ? signal.reason : null;
  // The sandbox aborts the signal with the same error that it sends.
  return typeof reason === 'object' && reason !== null && 'kind' in reason && 'stack' in reason ? (reason as ErrorInfo) : null;
}
