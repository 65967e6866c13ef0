import type { SessionState } from '../sessions/store.ts';
import type { Decision, HaltReason } from '../turn/decision.ts';
import type { TurnRecord } from '../turn/record.ts';

/**
 * One line of the decision log: the keys of A3-10-1 and A3-10-2 and, where the progress guard replaced a decision, what
 * it replaced (AMB-02). Never a payload, an output or a secret.
 */
export interface LogEntry {
  /** RFC 3339, UTC. */
  readonly ts: string;
  readonly SID: string;
  readonly turn_index: number;
  readonly decision: Decision;
  /** Of a HALT. */
  readonly reason?: HaltReason;
  /** Of the chosen token. */
  readonly kid?: string;
  readonly jti?: string;
  readonly latency_ms: number;
  readonly output_bytes: number;
  readonly scratch_bytes: number;
  /** Of the last candidate that failed, also when another one decided (AMB-08). */
  readonly verification_failure_reason?: string;
  readonly overridden_decision?: Decision;
}

/** Where the log goes. `append` resolves when the entry is as safe as the log makes it. */
export interface DecisionLog {
  append(entry: LogEntry): Promise<void>;
  /** Whether the decision of a turn is in the log. Asked only after a process died, of turns it may not have logged. */
  has(sid: string, turn: number): Promise<boolean>;
}

/** The entry of a turn. */
export function logEntry(record: TurnRecord): LogEntry {
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
  };
}

/**
 * The entry of a session that the host ended between two turns (no turns, time or tokens left, no reply, cancelled): the log
 * must not hide an end. It has the same keys, and the index of the turn that did not take place. `at` is Unix milliseconds.
 */
export function endEntry({ sid, nextTurn, reason }: SessionState, at: number): LogEntry {
  return {
    ts: new Date(at).toISOString(),
    SID: sid,
    turn_index: nextTurn,
    decision: 'HALT',
    ...(reason === null ? {} : { reason }),
    latency_ms: 0,
    output_bytes: 0,
    scratch_bytes: 0,
  };
}

/** Keeps the entries; for tests and for embedding hosts that ship them elsewhere. */
export class MemoryLog implements DecisionLog {
  readonly #entries: LogEntry[] = [];

  async append(entry: LogEntry): Promise<void> {
    this.#entries.push(entry);
  }

  async has(sid: string, turn: number): Promise<boolean> {
    return this.#entries.some(({ SID, turn_index }) => SID === sid && turn_index === turn);
  }

  get entries(): readonly LogEntry[] {
    return this.#entries;
  }
}
