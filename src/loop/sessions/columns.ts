import { UserdataError, validateUserdata } from '../../aeiou/index.ts';
import { StoreError } from '../../sqlite/error.ts';
import type { Row } from '../../sqlite/sql.ts';
import { LAST_MS } from '../../wire/time.ts';
import { endEntry, type LogEntry, logEntry } from '../log/log.ts';
import { isHaltReason } from '../record/decision.ts';
import type { TurnRecord } from '../record/record.ts';
import type { ForcedEnd } from './damaged.ts';
import { readConfiguration, readStarted, readState, readStep, readTurn, readUsed, readWaiting } from './rows.ts';
import type { SessionSetup } from './setup.ts';
import { type ClaimedSession, nextTurnOf, type SessionState, type SessionStatus, type SessionSummary } from './store.ts';

/** The summary in a row of `sessions`; `started` is the number of its started turn. */
export function summaryOf(row: Row, now: number): SessionSummary {
  const reason = String(row['reason']);
  const { configuration: _, ...setup } = setupOf({ ...row, configuration: null });
  return {
    sid: String(row['sid']),
    ...setup,
    reason: isHaltReason(reason) ? reason : null,
    turns: Number(row['next_turn']) - 1,
    createdAt: Number(row['created_at']),
    updatedAt: Number(row['updated_at']),
    started: row['started'] === null ? null : Number(row['started']),
    lease: leaseOf(row, now),
    owed: Number(row['owed']) + Number(row['end_owed']),
    ...bodyOf(row),
  };
}

/** The parts of a summary that may be damaged. A damaged session must not hide the others; it counts as open. */
function bodyOf(
  row: Row,
): Pick<SessionSummary, 'status' | 'waits' | 'subject' | 'agent' | 'message' | 'parent' | 'spent' | 'damaged'> {
  const { waits } = row;
  let status: SessionStatus = 'open';
  try {
    status = statusOf(row['status']);
    const read = stateOf(row);
    // A session that was ended although its started turn cannot be read keeps that turn, but waits no more.
    const waiting = waits === null || status !== 'open' ? null : readWaiting(waits, read.sid);
    return { status, waits: waiting, ...headOf(read), damaged: null };
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { status, waits: null, subject: null, agent: null, message: null, parent: null, spent: null, damaged: error.message };
  }
}

/** The parts of a claimed session that are not in its row. */
interface Beside {
  /** The JSON of the started turn; null without one. */
  readonly started: unknown;
  readonly steps: readonly Row[];
  readonly used: ClaimedSession['used'];
  readonly unlogged: readonly TurnRecord[];
}

/** The claimed session in a row of `sessions`, which the claim has changed already. */
export function claimedOf(row: Row, { started, steps, used, unlogged }: Beside): ClaimedSession {
  const state = stateOf(row);
  return {
    fence: Number(row['fence']),
    state,
    setup: setupOf(row),
    next: nextTurnOf(started === null ? null : readStarted(started, state.sid, state.nextTurn)),
    steps: steps.map(({ turn, seq, body }) => ({ turn: Number(turn), seq: Number(seq), body: readStep(body, state.sid) })),
    used,
    unlogged,
    unloggedEnd: Number(row['end_owed']) === 1 ? endOf(row) : null,
    cancelled: Number(row['cancelled']) === 1,
  };
}

/** When a session ended, for its entry in the log. */
function endOf({ sid, updated_at }: Row): number {
  const at = Number(updated_at);
  if (Math.abs(at) <= LAST_MS) return at;
  throw new StoreError('damaged', `session ${JSON.stringify(sid)} in the store cannot be read: it ended at no date, ${at}`);
}

/** The end of an open session that cannot be read, as its row keeps it. `turns` is the number of its last decided turn. */
export function forcedEnd(row: Row, turns: number, { reason, at }: ForcedEnd) {
  const sid = String(row['sid']);
  const nextTurn = turns + 1;
  let state = String(row['state']);
  try {
    const ended: SessionState = { ...stateOf(row), status: 'halted', reason, nextTurn, output: null, scratchpad: null };
    state = JSON.stringify(ended);
  } catch (error) {
    // The text stays, for people who look into the damage.
    if (!(error instanceof StoreError)) throw error;
  }
  return { status: 'halted', reason, nextTurn, state, entry: endEntry({ sid, nextTurn, reason, message: null }, at) };
}

/** What a session that has ended and cannot be read owes to the log: the turns that can be read, and its end. */
export function owedEntries(row: Row, owed: readonly Row[]): readonly LogEntry[] {
  const sid = String(row['sid']);
  const reason = String(row['reason']);
  const turns = recordsOf(sid, owed, () => {}).map(logEntry);
  if (Number(row['end_owed']) !== 1) return turns;
  const end = { sid, nextTurn: Number(row['next_turn']), reason: isHaltReason(reason) ? reason : null, message: null };
  return [...turns, endEntry(end, endOf(row))];
}

/** The state in a row, whose own columns repeat some of it. */
function stateOf(row: Row): SessionState {
  const sid = String(row['sid']);
  const state = readState(row['state'], sid);
  const differs = state.status !== row['status'] ? 'status' : state.nextTurn !== Number(row['next_turn']) ? 'next turn' : null;
  if (differs === null) return state;
  const what = `session ${JSON.stringify(sid)} in the store cannot be read`;
  throw new StoreError('damaged', `${what}: its row and its state differ in the ${differs}`);
}

/** The used token ids in a JSON column, the oldest first. */
export function usedOf(text: unknown): ClaimedSession['used'] {
  return [...readUsed(text)].sort((a, b) => a.second - b.second);
}

/** The setup of a session in its row. */
export function setupOf({ sid, tenant, profile, configuration, engine, reader }: Row): SessionSetup {
  return {
    tenant: String(tenant),
    profile: String(profile),
    configuration: configuration === null ? null : readConfiguration(configuration, String(sid)),
    engine: String(engine),
    reader: Number(reader),
  };
}

/** The lease in a row, if it lasts. */
export function leaseOf(row: Row, now: number): { readonly owner: string; readonly until: number } | null {
  const { lease_owner: owner, lease_until: until } = row;
  return typeof owner === 'string' && now < Number(until) ? { owner, until: Number(until) } : null;
}

/** The records in rows of `turns`. Reports one that is damaged to `onDamaged` and omits it; without `onDamaged`, throws. */
export function recordsOf(
  sid: string,
  rows: readonly Row[],
  onDamaged?: (turn: number, problem: string) => void,
): readonly TurnRecord[] {
  return rows.flatMap(({ turn, record }) => {
    try {
      return [readTurn(record, sid, Number(turn))];
    } catch (error) {
      if (onDamaged === undefined || !(error instanceof StoreError)) throw error;
      onDamaged(Number(turn), error.message);
      return [];
    }
  });
}

/** The JSON of what is left of a row after erasing; nothing of a row that cannot be read. */
export function unlessDamaged(rest: () => object): string {
  try {
    return JSON.stringify(rest());
  } catch (error) {
    if (error instanceof StoreError) return '{}';
    throw error;
  }
}

const STATUSES: readonly string[] = ['open', 'done', 'aborted', 'halted'] satisfies readonly SessionStatus[];

/** Whether a session has ended by its row. One with an unknown status has not. */
export function hasEnded({ status }: Row): boolean {
  return status !== 'open' && STATUSES.includes(String(status));
}

/** The status in a row. Throws {@link StoreError} (`damaged`) for another word. */
export function statusOf(value: unknown): SessionStatus {
  if (typeof value === 'string' && STATUSES.includes(value)) return value as SessionStatus;
  throw new StoreError('damaged', `a session has the status ${String(value)}`);
}

/** The parts of a summary that come from the state. */
function headOf({
  userdata,
  agent,
  message,
  parent,
  spent,
}: SessionState): Pick<SessionSummary, 'subject' | 'agent' | 'message' | 'parent' | 'spent'> {
  return { subject: subjectOf(userdata), agent, message, parent, spent };
}

/** The subject of a USERDATA text; null for a text that is no USERDATA, which a store keeps as it is. */
function subjectOf(userdata: string): string | null {
  try {
    return validateUserdata(userdata).subject;
  } catch (error) {
    if (error instanceof UserdataError) return null;
    throw error;
  }
}
