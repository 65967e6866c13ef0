import type { EarlierCall, ForkQuery, JournalEntry, JournalOutcome, RecordedLabels, Refusal } from '../../wire/journal.ts';
import type { AskSpent, CallSite, GuestCall, TaggedJson } from '../../wire/protocol.ts';
import { canonicalName } from '../names.ts';
import type { Json } from './large.ts';

/*
 * Entries of a journal whose values are kept as the bytes of their JSON and decoded at every reading. They take the bytes that
 * `journalBytes` counts. As objects, small values would take over twenty times as much: `{}` has 2 bytes and takes 56.
 */

/** The place of the JSON of a message. */
export interface Packed {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** UTF-8 takes at most three bytes for each unit of a text. */
const UNIT_BYTES = 3;
const SLAB = { first: 2 ** 12, largest: 2 ** 20 } as const;

/** Messages as their JSON, one after another in a few buffers. A buffer for each would take more memory than most messages. */
export class PackedMessages {
  #slab = Buffer.alloc(0);
  #used = 0;
  #slabBytes: number = SLAB.first;

  /** Keeps a message; `json` is its JSON. */
  add(message: object, json: Json = JSON.stringify(message)): Packed {
    return typeof json === 'string' ? this.#write(json) : { bytes: json, start: 0, end: json.length };
  }

  #write(text: string): Packed {
    if (text.length * UNIT_BYTES > this.#slab.length - this.#used) {
      const bytes = Buffer.byteLength(text);
      if (bytes > this.#slabBytes / 2) return { bytes: Buffer.from(text), start: 0, end: bytes };
      if (bytes > this.#slab.length - this.#used) this.#nextSlab();
    }
    const start = this.#used;
    this.#used += this.#slab.write(text, start);
    return { bytes: this.#slab, start, end: this.#used };
  }

  #nextSlab(): void {
    this.#slab = Buffer.allocUnsafeSlow(this.#slabBytes);
    this.#used = 0;
    this.#slabBytes = Math.min(this.#slabBytes * 2, SLAB.largest);
  }
}

/** The bytes of a message. */
export function packedSize({ start, end }: Packed): number {
  return end - start;
}

/** A call whose message is packed. */
export function unpackedCall({ bytes, start, end }: Packed): GuestCall {
  return JSON.parse(bytes.toString('utf8', start, end));
}

/** A call that has ended. Its values are packed. */
export interface EndedCall {
  readonly call: CallHead;
  readonly packed: Packed;
  readonly asked: readonly ForkQuery[];
  /** The packed answer, when it was a value. */
  readonly outcome: Packed | Exclude<JournalOutcome, { readonly ok: true }>;
  readonly facts: EndFacts;
}

/** What is known of a call that has ended, beside its message and its answer. An entry has the fields in this order. */
interface EndFacts {
  readonly spent: AskSpent | undefined;
  /** Fuel of work on the host. */
  readonly work: number | undefined;
  /** Milliseconds from the start of the turn, or of the run outside of any. */
  readonly begin: number;
  /** Elapsed milliseconds. */
  readonly ms: number;
  /** US dollars. */
  readonly cost: number | undefined;
  /** The call of an earlier attempt that gave the answer. */
  readonly from: EarlierCall | undefined;
  /** The tools that were called successfully on its behalf. */
  readonly called: readonly string[] | undefined;
  /** Why it was refused. */
  readonly refused: Refusal | undefined;
  /** The labels of the call and its answer. */
  readonly flow: RecordedLabels | undefined;
}

/** A call without its values. */
type CallHead =
  | { readonly kind: 'tool'; readonly seq: number; readonly at: CallSite; readonly name: string }
  | { readonly kind: 'ask'; readonly seq: number; readonly at: CallSite; readonly model: string }
  | { readonly kind: 'prompt'; readonly seq: number; readonly at: CallSite; readonly text: string };

/** The call without its values. */
export function headOf(call: GuestCall): CallHead {
  const { seq, at } = call;
  if (call.t === 'tool') return { kind: 'tool', seq, at, name: canonicalName(call.name) };
  return call.t === 'ask' ? { kind: 'ask', seq, at, model: call.model } : { kind: 'prompt', seq, at, text: call.text };
}

/** What an entry has after what its kind has. */
interface EndOfEntry extends EndFacts {
  readonly at: CallSite;
  readonly asked?: readonly ForkQuery[];
  readonly outcome: JournalOutcome;
}

/** The entry of a call. It decodes values whenever they are read. */
export function entryOf(ended: EndedCall): JournalEntry {
  const { call, packed } = ended;
  const { kind, seq } = call;
  if (kind === 'prompt') return filled({ kind, seq, text: call.text }, ended);
  if (kind === 'tool') return filled(withPacked({ kind, seq, name: call.name }, packed, 'args'), ended);
  return filled(withPacked({ kind, seq, model: call.model }, packed, 'prompt', 'options'), ended);
}

/** Adds the end of an entry, field by field: to copy the fields from objects takes three times as long. */
function filled<T extends object>(target: T, { call, asked, outcome, facts }: EndedCall): T & EndOfEntry {
  const entry: { -readonly [Field in keyof EndOfEntry]?: EndOfEntry[Field] } = target;
  entry.at = call.at;
  if (asked.length > 0) entry.asked = asked;
  entry.outcome = 'start' in outcome ? withPacked({ ok: true }, outcome, 'value') : outcome;
  entry.spent = facts.spent;
  entry.work = facts.work;
  entry.begin = facts.begin;
  entry.ms = facts.ms;
  entry.cost = facts.cost;
  entry.from = facts.from;
  entry.called = facts.called;
  entry.refused = facts.refused;
  entry.flow = facts.flow;
  // All of them were just set.
  return entry as T & EndOfEntry;
}

/** The same query with a packed value. */
export function packedQuery(messages: PackedMessages, query: ForkQuery): ForkQuery {
  if (query.t === 'var.get') return query;
  const { t, name } = query;
  const packed = messages.add(query);
  if (t === 'var.set') return withPacked({ t, name }, packed, 'value');
  return Object.assign(withPacked({ t, name }, packed, 'value'), { redefine: query.redefine });
}

const PACKED = Symbol('packed');

/**
 * Own and enumerable, so that copies and JSON have the values. All entries share these accessors, because a separate one costs 450 bytes
 * an entry.
 */
const ACCESSORS: { readonly [Field in keyof Unpacked]: PropertyDescriptor } = {
  args: accessor('args'),
  prompt: accessor('prompt'),
  options: accessor('options'),
  value: accessor('value'),
};

function accessor(field: keyof Unpacked): PropertyDescriptor {
  return {
    enumerable: true,
    get(this: { readonly [PACKED]: Packed }): TaggedJson {
      const { bytes, start, end } = this[PACKED];
      const unpacked: Unpacked = JSON.parse(bytes.toString('utf8', start, end));
      return unpacked[field];
    },
  };
}

/** Gives an object fields that decode the packed message whenever they are read. */
function withPacked<T extends object, Field extends keyof Unpacked>(
  target: T,
  packed: Packed,
  ...fields: readonly Field[]
): T & Pick<Unpacked, Field> {
  Object.defineProperty(target, PACKED, { value: packed });
  for (const field of fields) Object.defineProperty(target, field, ACCESSORS[field]);
  // The fields were just defined.
  return target as T & Pick<Unpacked, Field>;
}

/** The fields of a packed message. A reader knows which message it packed, and so which fields are present. */
interface Unpacked {
  readonly args: readonly TaggedJson[];
  readonly prompt: TaggedJson;
  readonly options: TaggedJson;
  readonly value: TaggedJson;
}
