import { z } from 'zod';
import { FIRST_ISSUE } from '../../files/check.ts';
import { isMonstrous } from '../../files/json.ts';
import { StoreError } from '../../sqlite/error.ts';
import { NeuroScriptError } from '../../wire/errors.ts';
import { otherVersion, STORED_VERSION } from '../../wire/forms.ts';
import type { PublicKeyRecord, TurnRecord } from '../record/record.ts';
import { sealRecord } from '../record/seal.ts';
import { readRecord } from '../sessions/rows.ts';
import type { SessionState, SessionStore } from '../sessions/store.ts';
import { Redaction } from './redact.ts';
import { namedKeys } from './verify.ts';

/** The `format` of a file of sessions. */
export const EXPORT_FORMAT = 'neuroscript-sessions';

/**
 * Sessions in one file, for `replay` and other tools. Its schema is `docs/schemas/export.schema.json`. The file contains no secret
 * key and no agent. It contains the public keys, so that tokens can be verified.
 */
export interface SessionsFile {
  /** Names this format. */
  readonly format: typeof EXPORT_FORMAT;
  readonly version: 1;
  /** In the order in which they were given. */
  readonly sessions: readonly ExportedSession[];
}

/** One session of a {@link SessionsFile}. */
export interface ExportedSession {
  /** Id of the session. */
  readonly sid: string;
  /** Whether the session is open, and how it ended otherwise. */
  readonly status: SessionState['status'];
  /** Why the session was halted; null for every other status. */
  readonly reason: SessionState['reason'];
  /** Strict JSON that says what the session is about. */
  readonly userdata: string;
  /** Fuel and model tokens of all turns. */
  readonly spent: SessionState['spent'];
  /** Hash of the last record. */
  readonly head: string | null;
  /** The public parts of all keys that could verify its tokens. */
  readonly keys: readonly PublicKeyRecord[];
  /** The records, in order, without the redacted parts. */
  readonly turns: readonly TurnRecord[];
  /** The call that asked for the session; null for a session of the host's own. */
  readonly parent: SessionState['parent'];
  /** The parts of turns that redaction or an erasure changed. Records are sealed anew from the first redaction on. */
  readonly redacted: readonly { readonly turn: number; readonly parts: readonly string[] }[];
}

/** The file is not an export of sessions, or it has another version. */
export class ExportError extends NeuroScriptError {
  static readonly code = 'ERR_EXPORT';
  constructor(message: string, options?: ErrorOptions) {
    super(ExportError.code, message, options);
  }
}

/** Reads a session from a store for a {@link SessionsFile}; null for a session that the store does not know. */
export async function exportSession(
  store: Pick<SessionStore, 'read' | 'turns'>,
  sid: string,
  redaction: Redaction = new Redaction(),
): Promise<ExportedSession | null> {
  const state = await store.read(sid);
  if (state === null) return null;
  return exportRecords(state, await store.turns(sid), redaction);
}

export function exportRecords(
  state: SessionState,
  records: readonly TurnRecord[],
  redaction: Redaction = new Redaction(),
): ExportedSession {
  const turns: TurnRecord[] = [];
  const redacted: { turn: number; parts: readonly string[] }[] = [];
  let anew = false;
  for (const original of records) {
    const { record, redacted: parts } = redaction.apply(original);
    const prev = turns.at(-1)?.seal.hash ?? null;
    const gone = [...(original.erased ?? []), ...parts];
    if (gone.length > 0) redacted.push({ turn: original.turn, parts: gone });
    anew ||= parts.length > 0;
    // After the first redaction, all later hashes change.
    turns.push(anew ? sealRecord(record, prev) : original);
  }
  const { sid, status, reason, spent, parent } = state;
  const head = turns.at(-1)?.seal.hash ?? state.head;
  const keys = new Map(turns.flatMap(namedKeys).map((key) => [key.kid, key]));
  return {
    sid,
    status,
    reason,
    userdata: redaction.clean(state.userdata),
    spent,
    head,
    keys: [...keys.values()],
    turns,
    parent,
    redacted,
  };
}

/** The content of a file of sessions. */
export function exportFile(sessions: readonly ExportedSession[]): SessionsFile {
  return { format: EXPORT_FORMAT, version: STORED_VERSION, sessions };
}

const SESSION = z.looseObject({
  sid: z.string(),
  status: z.enum(['open', 'done', 'aborted', 'halted']),
  reason: z.string().nullable(),
  userdata: z.string(),
  head: z.string().nullable(),
  turns: z.array(z.looseObject({ sid: z.string() })),
  redacted: z.array(z.object({ turn: z.int().min(1), parts: z.array(z.string()) })),
});
const FILE = z.looseObject({
  format: z.literal(EXPORT_FORMAT),
  version: z.literal(STORED_VERSION, { error: ({ input }) => otherVersion('the file', input) }),
  sessions: z.array(SESSION),
});

/** A session of the host's own may hold this many values in its calls. */
const MOST = { containers: 8_000_000, items: 20_000_000 };

/** The part of an exported session that is needed to execute it again. */
export interface ReadSession {
  /** Id of the session. */
  readonly sid: string;
  /** Whether the session is open, and how it ended otherwise. */
  readonly status: SessionState['status'];
  /** Seal of the last turn; null when the session has none. */
  readonly head: string | null;
  /** The records that could be read, in order. */
  readonly turns: readonly TurnRecord[];
  /** Paths of the redacted parts, by the number of the turn. */
  readonly redacted: ReadonlyMap<number, readonly string[]>;
  /** Turns whose records cannot be read, and why. They are not in `turns`. */
  readonly damaged: ReadonlyMap<number, string>;
}

/** Reads a {@link SessionsFile}. Throws {@link ExportError} (`ERR_EXPORT`). */
export function readExport(text: string): readonly ReadSession[] {
  if (isMonstrous(text, MOST)) throw new ExportError('it nests too deep, or has too many values');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ExportError('it is not JSON', { cause });
  }
  const { success, data, error } = FILE.safeParse(value, FIRST_ISSUE);
  if (!success) {
    const [issue] = error.issues;
    throw new ExportError(`it is not a file of sessions: ${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'wrong'}`);
  }
  return data.sessions.map(({ sid, status, head, turns, redacted }) => ({
    sid,
    status,
    head,
    ...recordsOf(sid, turns),
    redacted: new Map(redacted.map(({ turn, parts }) => [turn, parts])),
  }));
}

function recordsOf(sid: string, turns: readonly unknown[]): Pick<ReadSession, 'turns' | 'damaged'> {
  const records: TurnRecord[] = [];
  const damaged = new Map<number, string>();
  for (const [index, turn] of turns.entries())
    try {
      records.push(readRecord(JSON.stringify(turn), `turn ${index + 1} of session ${JSON.stringify(sid)} in the file`));
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      damaged.set(index + 1, error.message);
    }
  return { turns: records, damaged };
}
