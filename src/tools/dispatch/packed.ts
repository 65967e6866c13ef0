import type { ForkQuery, JournalEntry, JournalOutcome } from '../../wire/journal.ts';
import type { AskSpent, GuestCall, TaggedJson } from '../../wire/protocol.ts';
import { canonicalName } from '../names.ts';

/*
 * Entries of a journal whose values are kept as the bytes of their JSON and decoded at every reading. They take the bytes that
 * `journalBytes` counts. As objects, small values would take over twenty times as much: `{}` has 2 bytes and takes 56.
 */

/** The JSON of a message. */
export function pack(message: object): Buffer {
  return Buffer.from(JSON.stringify(message));
}

/** How a call ended. */
export interface CallEnd {
  readonly queries: readonly ForkQuery[];
  readonly outcome: JournalOutcome;
  readonly spent: AskSpent | undefined;
  /** Elapsed milliseconds. */
  readonly ms: number;
}

/** The entry of a call; `packed` is the same call, packed. */
export function packedEntry(call: GuestCall, packed: Buffer, { queries, outcome, spent, ms }: CallEnd): JournalEntry {
  const { seq, at } = call;
  const asked = queries.length === 0 ? {} : { asked: queries.map(packedQuery) };
  if (call.t === 'prompt') return { kind: 'prompt', seq, text: call.text, at, ...asked, outcome, ms };
  if (call.t === 'tool') {
    const entry = withPacked({ kind: 'tool' as const, seq, name: canonicalName(call.name) }, packed, 'args');
    return Object.assign(entry, { at, ...asked, outcome, ms });
  }
  const entry = withPacked({ kind: 'ask' as const, seq, model: call.model }, packed, 'prompt', 'options');
  return Object.assign(entry, { at, ...asked, outcome, ...(spent === undefined ? {} : { spent }), ms });
}

/** The outcome of a call that was answered with a value; `packed` is that answer. */
export function packedOutcome(packed: Buffer): JournalOutcome {
  return withPacked({ ok: true as const }, packed, 'value');
}

function packedQuery(query: ForkQuery): ForkQuery {
  if (query.t === 'var.get') return query;
  const packed = pack(query);
  const { t, name } = query;
  if (t === 'var.set') return withPacked({ t, name }, packed, 'value');
  return Object.assign(withPacked({ t, name }, packed, 'value'), { redefine: query.redefine });
}

const PACKED = Symbol('packed');

/** Own and enumerable, so that copies and JSON have the values. All entries share them: an accessor of its own costs each 450 bytes. */
const ACCESSORS: { readonly [Field in keyof Unpacked]: PropertyDescriptor } = {
  args: accessor('args'),
  prompt: accessor('prompt'),
  options: accessor('options'),
  value: accessor('value'),
};

function accessor(field: keyof Unpacked): PropertyDescriptor {
  return {
    enumerable: true,
    get(this: { readonly [PACKED]: Buffer }): TaggedJson {
      return unpack(this[PACKED])[field];
    },
  };
}

/** Gives an object fields that decode the packed message whenever they are read. */
function withPacked<T extends object, Field extends keyof Unpacked>(
  target: T,
  packed: Buffer,
  ...fields: readonly Field[]
): T & Pick<Unpacked, Field> {
  Object.defineProperty(target, PACKED, { value: packed });
  for (const field of fields) Object.defineProperty(target, field, ACCESSORS[field]);
  // The fields were just defined.
  return target as T & Pick<Unpacked, Field>;
}

/** The fields of a packed message. Readers know which message they packed, and so which fields it has. */
interface Unpacked {
  readonly args: readonly TaggedJson[];
  readonly prompt: TaggedJson;
  readonly options: TaggedJson;
  readonly value: TaggedJson;
}

function unpack(packed: Buffer): Unpacked {
  return JSON.parse(packed.toString());
}
