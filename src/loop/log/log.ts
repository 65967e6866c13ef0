import { ruleOf } from '../../tools/index.ts';
import { defined } from '../../wire/defined.ts';
import { ASK, PROMPT, type Refusal } from '../../wire/journal.ts';
import type { CarriedLabel } from '../../wire/labels.ts';
import type { Decision, HaltReason } from '../record/decision.ts';
import type { TurnRecord } from '../record/record.ts';

/**
 * One line of the decision log. It never contains a payload, an output or a secret.
 */
export interface LogEntry {
  /** RFC 3339, UTC. */
  readonly ts: string;
  /** Id of the session. */
  readonly SID: string;
  /** Number of the turn, from 1; that of the next turn for an end between two turns. */
  readonly turn_index: number;
  /** What was decided. */
  readonly decision: Decision;
  /** Present for a HALT. */
  readonly reason?: HaltReason;
  /** Key of the chosen token. */
  readonly kid?: string;
  /** Id of the chosen token. */
  readonly jti?: string;
  /** Elapsed milliseconds of the turn. */
  readonly latency_ms: number;
  /** Bytes of OUTPUT, in UTF-8. */
  readonly output_bytes: number;
  /** Bytes of SCRATCHPAD, in UTF-8. */
  readonly scratch_bytes: number;
  /** Code of the last candidate that failed, even if another candidate decided the turn. */
  readonly verification_failure_reason?: string;
  /** What the token requested when the host decided otherwise. */
  readonly overridden_decision?: Decision;
  /** The calls that a policy, a grant or a person refused, the first ten kinds of the turn; absent for none. */
  readonly refused?: readonly LoggedRefusal[];
  /** Number of attempts at the turn; present when there was more than one. */
  readonly attempts?: number;
  /** Why the host ended the session without a turn of its own, in words. */
  readonly message?: string;
}

/** A refused call, without its arguments. */
export interface LoggedRefusal extends Pick<Refusal, 'rule' | 'entry' | 'argument'> {
  /** Canonical name of the tool, `ask` or `promptuser`. */
  readonly tool: string;
  /** The labels for which it was refused, and their sources; absent for rules that are not about origin. */
  readonly labels?: readonly Pick<CarriedLabel, 'label' | 'from'>[];
}

/** Most refused calls of an entry. */
const MOST_REFUSED = 10;

/** A log of decisions. `append` resolves when the entry is as durable as the log promises. */
export interface DecisionLog {
  /** Adds an entry. Resolves when it is as durable as the log promises. */
  append(entry: LogEntry): Promise<void>;
  /**
   * Whether the decision of a turn is in the log. Called for turns that a dead process may not have logged, for ends between
   * turns, and once for each session that was opened by another process.
   */
  has(sid: string, turn: number): Promise<boolean>;
  /**
   * The last logged turn of a session that is open by the log; null for a session that has ended or is not in the log. Called when a
   * session is opened under an id of the caller's choice. Absent for a log in the database of its store.
   */
  goesOnAfter?(sid: string): Promise<number | null>;
  /** Rejects when an entry could not be added now. Absent for a log that works whenever its store does. */
  ping?(): Promise<void>;
}

/** One line of a log in a database. */
export interface LogText {
  /** From 1, without gaps. */
  readonly line: number;
  readonly text: string;
}

/** A decision log in the database of a store, which writes a turn and its entry in one transaction. */
export interface StoredLog extends DecisionLog {
  /** The lines after one of them, by default all, in the order of the chain. */
  lines(after?: number): AsyncIterable<LogText>;
}

/** The entry of a turn. */
export function logEntry(record: TurnRecord): LogEntry {
  const many = 1 + (record.attempts?.length ?? 0);
  return {
    ts: new Date(record.startedAt).toISOString(),
    SID: record.sid,
    turn_index: record.turn,
    decision: record.decision,
    ...(record.reason === null ? {} : { reason: record.reason }),
    ...(record.kid === null ? {} : { kid: record.kid }),
    ...(record.jti === null ? {} : { jti: record.jti }),
    latency_ms: Math.round(record.latencyMs * 1000) / 1000,
    output_bytes: record.outputBytes,
    scratch_bytes: record.scratchBytes,
    ...(record.verificationFailureReason === null ? {} : { verification_failure_reason: record.verificationFailureReason }),
    ...(record.overridden === null ? {} : { overridden_decision: record.overridden }),
    ...refusedIn(record),
    ...(many > 1 ? { attempts: many } : {}),
    ...(record.inputs.scene === null || record.reason === 'ERR_INTERRUPTED' ? messageOf(whyOf(record.error)) : {}),
  };
}

/** The refused calls of all attempts, each of a kind once, or the tool for which the program did not run. */
function refusedIn({ attempts = [], journal, inputs }: TurnRecord): Pick<LogEntry, 'refused'> {
  const calls = [...attempts.flatMap((attempt) => attempt.journal), ...journal].flatMap((entry): readonly LoggedRefusal[] => {
    if (entry.refused === undefined) return [];
    const { rule, entry: of, argument, labels = [] } = entry.refused;
    const tool = entry.kind === 'tool' ? entry.name : entry.kind === 'ask' ? ASK : PROMPT;
    const carried = labels.map(({ label, from }) => ({ label, from }));
    return [defined({ tool, rule, entry: of, argument, labels: carried.length === 0 ? undefined : carried })];
  });
  const denied = [...attempts, ...(inputs.scene === null ? [] : [inputs.scene])].flatMap((each): readonly LoggedRefusal[] => {
    const rule = each.denied === null ? null : ruleOf(each.denied.tool, each.denied.message);
    return each.denied === null || rule === null ? [] : [{ tool: each.denied.tool, rule, entry: null }];
  });
  const kinds = new Map([...denied, ...calls].map((each) => [JSON.stringify(each), each]));
  return kinds.size === 0 ? {} : { refused: [...kinds.values()].slice(0, MOST_REFUSED) };
}

/** Why the host ended a turn. A code that is not the reason of the HALT, such as `ERR_WORKER`, stands before it. */
function whyOf(error: TurnRecord['error']): string | null {
  if (error === null) return null;
  return error.code === 'ERR_WORKER' ? `${error.code}: ${error.message}` : error.message;
}

/** The fields of an entry for a session that ended between two turns. */
interface EndedSession {
  readonly sid: string;
  readonly nextTurn: number;
  readonly reason: HaltReason | null;
  readonly message: string | null;
}

/** Most characters of a message in the log. */
const MESSAGE = 500;

function messageOf(message: string | null): Pick<LogEntry, 'message'> {
  return message === null ? {} : { message: message.slice(0, MESSAGE) };
}

/**
 * The entry of a session that the host ended between two turns, for instance because no turns, time or tokens were left. It
 * has the index of the turn that did not take place. `at` is Unix milliseconds.
 */
export function endEntry({ sid, nextTurn, reason, message }: EndedSession, at: number): LogEntry {
  return {
    ts: new Date(at).toISOString(),
    SID: sid,
    turn_index: nextTurn,
    decision: 'HALT',
    ...(reason === null ? {} : { reason }),
    latency_ms: 0,
    output_bytes: 0,
    scratch_bytes: 0,
    ...messageOf(message),
  };
}

/** Keeps entries in memory, for tests and for hosts that ship them elsewhere. */
export class MemoryLog implements DecisionLog {
  readonly #entries: LogEntry[] = [];

  async append(entry: LogEntry): Promise<void> {
    this.#entries.push(entry);
  }

  async has(sid: string, turn: number): Promise<boolean> {
    return this.#entries.some(({ SID, turn_index }) => SID === sid && turn_index === turn);
  }

  async goesOnAfter(sid: string): Promise<number | null> {
    const last = this.#entries.findLast(({ SID }) => SID === sid);
    return last?.decision === 'CONTINUE' ? last.turn_index : null;
  }

  /** All entries, in order. */
  get entries(): readonly LogEntry[] {
    return this.#entries;
  }
}
