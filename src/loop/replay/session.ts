import type { KeyLookup } from '../../aeiou/index.ts';
import type { Runtime } from '../../runtime/index.ts';
import { StoreError } from '../../sqlite/error.ts';
import { ConfigError } from '../../wire/errors.ts';
import type { TurnRecord } from '../record/record.ts';
import { SessionStateError } from '../sessions/errors.ts';
import type { SessionStore } from '../sessions/store.ts';
import type { ExportedSession, ReadSession } from './export.ts';
import { replayTurn, type TurnReplay } from './turn.ts';

/** The result of executing the turns of a session again. */
export interface SessionReplay {
  /** Id of the session. */
  readonly sid: string;
  /** The turns that were executed again, in order. */
  readonly turns: readonly TurnReplay[];
  /** Faults of the chain of records as a whole, such as a missing turn. */
  readonly broken: readonly string[];
  /** Whether no record is changed or missing and no turn differs. */
  readonly ok: boolean;
}

/** Options of {@link replaySession}. */
export interface SessionReplayOptions {
  /** Executes only this turn; all turns when absent. */
  readonly turn?: number | undefined;
  /** Keys with which tokens must verify, in place of those that the records name. */
  readonly keys?: KeyLookup | undefined;
  /** Ends the replay. */
  readonly signal?: AbortSignal | undefined;
}

/** A session with its records: as `readSession`, `readExport` or `exportSession` return it. */
export interface RecordedSession extends Pick<ReadSession, 'sid' | 'head' | 'turns'>, Partial<Pick<ReadSession, 'damaged'>> {
  /** The redacted parts of each turn; nothing was redacted when absent. */
  readonly redacted?: ReadSession['redacted'] | ExportedSession['redacted'];
  /** Further known faults. */
  readonly faults?: readonly string[];
}

type SessionSource = Pick<SessionStore, 'read' | 'turns'>;

/** The readable records of a session in a store, and the faults of the others. Throws {@link SessionStateError} for an unknown id. */
export async function readSession(store: SessionSource, sid: string): Promise<RecordedSession> {
  const damaged = new Map<number, string>();
  const turns = await store.turns(sid, (turn, problem) => damaged.set(turn, problem));
  try {
    const state = await store.read(sid);
    if (state === null) throw new SessionStateError(sid, 'unknown');
    return { sid, head: state.head, turns, damaged };
  } catch (error) {
    if (!(error instanceof StoreError) || error.detail !== 'damaged') throw error;
    return { sid, head: null, turns, damaged, faults: [error.message] };
  }
}

/** Executes the turns of a session of a store again and checks their chain. Rejects as {@link replayTurn} and {@link readSession} do. */
export async function replaySession(
  runtime: Runtime,
  store: SessionSource,
  sid: string,
  options?: SessionReplayOptions,
): Promise<SessionReplay>;
/** Executes the turns of a session again, given its records. */
export async function replaySession(
  runtime: Runtime,
  session: RecordedSession,
  options?: SessionReplayOptions,
): Promise<SessionReplay>;
/**
 * Executes the turns of a recorded session again, in fresh sandboxes of `runtime` and only from their recorded inputs, and checks their
 * chain. The session is one of a store, or its records. Rejects as {@link replayTurn} and {@link readSession} do.
 */
export async function replaySession(
  runtime: Runtime,
  source: SessionSource | RecordedSession,
  sidOrOptions: string | SessionReplayOptions = {},
  options: SessionReplayOptions = {},
): Promise<SessionReplay> {
  if ('read' in source) {
    if (typeof sidOrOptions !== 'string') throw new ConfigError('replaySession needs the id of a session of the store');
    return replayRecorded(runtime, await readSession(source, sidOrOptions), options);
  }
  return replayRecorded(runtime, source, typeof sidOrOptions === 'string' ? options : sidOrOptions);
}

/** The verdicts on a record that does not say what happened. */
const WRONG: ReadonlySet<TurnReplay['verdict']> = new Set(['differs', 'malformed', 'changed']);

async function replayRecorded(
  runtime: Runtime,
  { sid, head, turns, redacted = [], damaged = new Map(), faults = [] }: RecordedSession,
  { turn: only, keys, signal }: SessionReplayOptions,
): Promise<SessionReplay> {
  const replays: TurnReplay[] = [];
  const broken = [...faults, ...damaged.values(), ...chainFaults(turns, head, damaged)];
  let before: TurnRecord | null = null;
  for (const record of turns) {
    const prev: string | null = before?.seal.hash ?? null;
    // A missing turn is reported once, and not again as a fault of the next turn.
    const follows = before === null ? record.turn === 1 : record.turn === before.turn + 1;
    before = record;
    if (only !== undefined && record.turn !== only) continue;
    signal?.throwIfAborted();
    replays.push(
      await replayTurn(runtime, record, {
        ...(follows ? { prev } : {}),
        keys,
        signal,
        redacted: redactedParts({ redacted }, record.turn),
      }),
    );
  }
  const ok = broken.length === 0 && replays.every(({ verdict }) => !WRONG.has(verdict));
  return { sid, turns: replays, broken, ok };
}

export function redactedParts({ redacted = [] }: Pick<RecordedSession, 'redacted'>, turn: number): readonly string[] {
  const parts = 'get' in redacted ? redacted.get(turn) : redacted.find((each) => each.turn === turn)?.parts;
  return parts ?? [];
}

/** The part of a record that matters for the chain. */
export interface ChainedTurn {
  readonly turn: number;
  readonly seal: { readonly hash: string };
}

/** Missing and duplicate turns, and a last record that is not the session's head. Damaged records are reported elsewhere. */
export function chainFaults(
  turns: readonly ChainedTurn[],
  head: string | null,
  damaged: ReadonlyMap<number, string>,
): readonly string[] {
  const faults: string[] = [];
  let expected = 1;
  for (const { turn } of turns) {
    if (turn < expected) faults.push(`turn ${turn} is there twice`);
    while (damaged.has(expected)) expected++;
    if (turn > expected) faults.push(`turn ${expected} is missing`);
    expected = turn + 1;
  }
  const last = turns.at(-1);
  if (head !== null && !damaged.has(expected) && last?.seal.hash !== head)
    faults.push(last === undefined ? 'its turns are missing' : `the record of turn ${last.turn} is not the last that was kept`);
  return faults;
}
