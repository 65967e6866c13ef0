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
    const name = canonicalName(call.name);
    return {
      kind: 'tool',
      seq,
      name,
      get args(): readonly TaggedJson[] {
        return unpack(packed).args;
      },
      at,
      ...asked,
      outcome,
      ms,
    };
  }
  const { model } = call;
  return {
    kind: 'ask',
    seq,
    model,
    get prompt(): TaggedJson {
      return unpack(packed).prompt;
    },
    get options(): TaggedJson {
      return unpack(packed).options;
    },
    at,
    ...asked,
    outcome,
    ...(spent === undefined ? {} : { spent }),
    ms,
  };
}

/** The outcome of a call that was answered with a value; `packed` is that answer. */
export function packedOutcome(packed: Buffer): JournalOutcome {
  return {
    ok: true,
    get value(): TaggedJson {
      return unpack(packed).value;
    },
  };
}

function packedQuery(query: ForkQuery): ForkQuery {
  if (query.t === 'var.get') return query;
  const packed = pack(query);
  const { t, name } = query;
  if (t === 'var.set') {
    return {
      t,
      name,
      get value(): TaggedJson {
        return unpack(packed).value;
      },
    };
  }
  const { redefine } = query;
  return {
    t,
    name,
    get value(): TaggedJson {
      return unpack(packed).value;
    },
    redefine,
  };
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
