import { z } from 'zod';
import { StoreError } from '../../sqlite/error.ts';
import { NeuroScriptError } from '../../wire/errors.ts';
import { readRecord } from '../sessions/rows.ts';
import type { SessionState, SessionStore } from '../sessions/store.ts';
import type { TurnRecord } from '../turn/record.ts';
import type { PublicKeyRecord } from './facts.ts';
import { Redaction } from './redact.ts';
import { sealRecord } from './seal.ts';

/** Marks a file of sessions. */
export const EXPORT_FORMAT = 'neuroscript-sessions';

/**
 * Sessions in one file, for `replay` and other tools anywhere (`schemas/export.schema.json`). No key, secret or agent is in
 * it; the public keys are, so that its tokens can be verified.
 */
export interface SessionsFile {
  readonly format: typeof EXPORT_FORMAT;
  readonly version: 1;
  readonly sessions: readonly ExportedSession[];
}

/** One session of such a file. */
export interface ExportedSession {
  readonly sid: string;
  readonly status: SessionState['status'];
  readonly reason: SessionState['reason'];
  readonly userdata: string;
  readonly spent: SessionState['spent'];
  /** Hash of the last record. */
  readonly head: string | null;
  /** The public part of all keys that could verify its tokens. */
  readonly keys: readonly PublicKeyRecord[];
  readonly turns: readonly TurnRecord[];
  /** Who asked for it; null for a session of the host's own. Older versions left it out. */
  readonly parent: SessionState['parent'];
  /** Which parts of which turns were changed by redaction; their records are sealed anew. */
  readonly redacted: readonly { readonly turn: number; readonly parts: readonly string[] }[];
}

/** A file that is no export of sessions, or of a later version. */
export class ExportError extends NeuroScriptError {
  static readonly code = 'ERR_EXPORT';
  constructor(message: string, options?: ErrorOptions) {
    super(ExportError.code, message, options);
  }
}

/** Reads sessions of a store for such a file; null for one that the store does not know. */
export async function exportSession(
  store: Pick<SessionStore, 'read' | 'turns'>,
  sid: string,
  redaction: Redaction = new Redaction(),
): Promise<ExportedSession | null> {
  const state = await store.read(sid);
  if (state === null) return null;
  return exportRecords(state, await store.turns(sid), redaction);
}

/** A session with its records, as it stands in a file. */
export function exportRecords(
  state: SessionState,
  records: readonly TurnRecord[],
  redaction: Redaction = new Redaction(),
): ExportedSession {
  const turns: TurnRecord[] = [];
  const redacted: { turn: number; parts: readonly string[] }[] = [];
  for (const original of records) {
    const { record, redacted: parts } = redaction.apply(original);
    const prev: string | null = turns.at(-1)?.seal?.hash ?? null;
    if (parts.length > 0) redacted.push({ turn: original.turn, parts });
    // One change moves all hashes after it.
    turns.push(redacted.length === 0 ? original : original.seal === null ? { ...record, seal: null } : sealRecord(record, prev));
  }
  const { sid, status, reason, spent, parent } = state;
  const head = turns.at(-1)?.seal?.hash ?? state.head;
  const keys = new Map(turns.flatMap(({ inputs }) => inputs.scene?.judged.keys ?? []).map((key) => [key.kid, key]));
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

/** The file's content. */
export function exportFile(sessions: readonly ExportedSession[]): SessionsFile {
  return { format: EXPORT_FORMAT, version: 1, sessions };
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
const FILE = z.looseObject({ format: z.literal(EXPORT_FORMAT), version: z.int(), sessions: z.array(SESSION) });

/** What is needed of a file to execute its sessions again. */
export interface ReadSession {
  readonly sid: string;
  readonly status: SessionState['status'];
  readonly head: string | null;
  readonly turns: readonly TurnRecord[];
  readonly redacted: ReadonlyMap<number, readonly string[]>;
  /** Turns whose records cannot be read, and why; they are not in `turns`. */
  readonly damaged: ReadonlyMap<number, string>;
}

/** Reads such a file. Throws {@link ExportError} (`ERR_EXPORT`). */
export function readExport(text: string): readonly ReadSession[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ExportError('it is not JSON', { cause });
  }
  const { success, data, error } = FILE.safeParse(value);
  if (!success) {
    const [issue] = error.issues;
    throw new ExportError(`it is no file of sessions: ${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'wrong'}`);
  }
  if (data.version !== 1) throw new ExportError(`it is of version ${data.version}; this one knows 1`);
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
