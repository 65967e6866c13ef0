import {
  isHaltReason,
  recordProblem,
  type SessionState,
  type SessionStatus,
  type SessionStore,
  type SessionSummary,
  StoreError,
  type Waiting,
} from '../loop/index.ts';
import { RequestError, wholeOf } from './request.ts';
import type { Texts } from './texts.ts';
import { turnRow } from './turn.ts';
import type { SessionPhase, SessionRow, SessionsView, SessionView, TimelineView, WaitingView } from './views.ts';

/** Sessions that the server looks at for one page. */
const LOOKED_AT = 2000;
/** Sessions that one request to the store returns. */
const CHUNK = 250;
/** Units of a subject or a name in a list. */
const SHORT = 200;
const NESTED = 500;
/** Turns that are in memory at a time; each may have megabytes. */
const TURNS = 5;

const PHASES: readonly SessionPhase[] = ['open', 'waiting', 'done', 'aborted', 'halted'];

/** Why a call cannot be answered from a page; null when it can. */
export type Refusal = (tool: string) => string | null;

/** A page of the list of sessions. Reads a bounded number of them, whatever the filters say. Throws {@link RequestError}. */
export async function sessionsView(store: SessionStore, query: URLSearchParams): Promise<SessionsView> {
  const limit = wholeOf(query, 'limit', [1, 500], 100);
  const filter = filterOf(query);
  const found: SessionRow[] = [];
  let after = cursorOf(query.get('after'));
  for (let looked = 0; looked < LOOKED_AT; ) {
    const chunk = Math.min(CHUNK, filter.any ? CHUNK : limit - found.length + 1);
    const sessions = await store.recent({ ...filter.conditions, limit: chunk, ...(after === null ? {} : { after }) });
    for (const session of sessions) {
      if (found.length === limit) return { sessions: found, next: cursorText(after) };
      looked += 1;
      after = { updatedAt: session.updatedAt, sid: session.sid };
      const row = sessionRow(session);
      if (filter.matches(row)) found.push(row);
    }
    if (sessions.length < chunk) return { sessions: found, next: null };
  }
  return { sessions: found, next: cursorText(after) };
}

/** A session in a list. */
export function sessionRow(session: SessionSummary): SessionRow {
  const { sid, tenant, profile, reason, subject, agent, turns, createdAt, updatedAt, started, owed, parent, damaged } = session;
  const waiting = openCalls(session.waits).length;
  return {
    ...{ sid, tenant, profile, reason, turns, createdAt, updatedAt, started, owed, parent, waiting },
    phase: session.status === 'open' && waiting > 0 ? 'waiting' : session.status,
    subject: subject?.slice(0, SHORT) ?? null,
    agent: agent?.slice(0, SHORT) ?? null,
    damaged: damaged?.slice(0, SHORT * 5) ?? null,
    driven: session.lease !== null,
  };
}

/** One session with the beginning of its timeline. Throws {@link RequestError} (404) for an unknown one. */
export async function sessionView(store: SessionStore, sid: string, refusal: Refusal, texts: Texts): Promise<SessionView> {
  const summary = await store.summary(sid);
  if (summary === null) throw new RequestError(404, `there is no session ${JSON.stringify(sid)}`);
  const state = await stateOf(store, sid);
  const nested = await store.list({ parent: sid, limit: NESTED });
  return {
    ...sessionRow(summary),
    userdata: state === null ? null : texts.text(state.userdata, null),
    spent: state?.spent ?? null,
    lease: summary.lease,
    calls: waitingViews(summary.waits, refusal, texts),
    nested: nested.map(sessionRow),
    timeline: await timelineView(store, sid, new URLSearchParams()),
  };
}

/** A page of the turns of a session. */
export async function timelineView(store: SessionStore, sid: string, query: URLSearchParams): Promise<TimelineView> {
  const limit = wholeOf(query, 'limit', [1, 1000], 200);
  const view = { turns: [] as TimelineView['turns'][number][], damaged: [] as TimelineView['damaged'][number][] };
  let after = wholeOf(query, 'after', [0, Number.MAX_SAFE_INTEGER], 0);
  for (let left = limit; left > 0; ) {
    const wanted = Math.min(TURNS, left);
    const damaged: { turn: number; problem: string }[] = [];
    const records = await store.turns(sid, (turn, problem) => damaged.push({ turn, problem }), { after, limit: wanted });
    for (const record of records) {
      const problem = recordProblem(record);
      if (problem === null) view.turns.push(turnRow(record));
      else damaged.push({ turn: record.turn, problem });
    }
    view.damaged.push(...damaged);
    const read = [...records.map(({ turn }) => turn), ...damaged.map(({ turn }) => turn)];
    after = Math.max(after, ...read);
    left -= wanted;
    if (new Set(read).size < wanted) return { ...view, next: null };
  }
  return { ...view, next: after };
}

/** The calls that a session waits for. */
export function waitingViews(waits: Waiting | null, refusal: Refusal, texts: Texts): readonly WaitingView[] {
  return allCalls(waits).map(({ call, turn, tool, args, reason, since, expiresAt, completed }) => ({
    ...{ call, turn, tool, since, expiresAt, completed },
    reason: reason.slice(0, SHORT * 5),
    args: args.map((value, index) => texts.value(value, waitingPart(call, index))),
    refusal: completed ? 'it has its answer' : refusal(tool),
  }));
}

/** The name of an argument of a call that waits; it is a part of the turn that waits. */
export function waitingPart(call: string, index: number): string {
  return `waiting.${call}.${index}`;
}

/** All calls for which a session waits. */
export function allCalls(waits: Waiting | null): readonly Waiting[] {
  return waits === null ? [] : [waits, ...(waits.also ?? [])];
}

function openCalls(waits: Waiting | null): readonly Waiting[] {
  return allCalls(waits).filter(({ completed }) => !completed);
}

/** The state of a session; null for one that cannot be read. */
async function stateOf(store: SessionStore, sid: string): Promise<SessionState | null> {
  try {
    return await store.read(sid);
  } catch (error) {
    if (error instanceof StoreError && error.detail === 'damaged') return null;
    throw error;
  }
}

interface Filter {
  /** What the store selects by. */
  readonly conditions: Omit<Parameters<SessionStore['recent']>[0], 'limit' | 'after'>;
  /** Whether some of what the store selects may not match. */
  readonly any: boolean;
  matches(row: SessionRow): boolean;
}

function filterOf(query: URLSearchParams): Filter {
  const phase = PHASES.find((each) => each === query.get('decision'));
  if (phase === undefined && query.has('decision')) throw new RequestError(400, `decision must be one of ${PHASES.join(', ')}`);
  const error = query.get('error');
  const reason = error !== null && isHaltReason(error) ? error : undefined;
  if (error !== null && reason === undefined)
    throw new RequestError(400, 'error must be the reason of a HALT, such as ERR_POLICY');
  const status: SessionStatus | undefined = phase === 'waiting' ? 'open' : phase;
  const time = (name: string) => (query.has(name) ? { [name]: wholeOf(query, name, [0, Number.MAX_SAFE_INTEGER], 0) } : {});
  const word = (name: string) => query.get(name)?.toLowerCase() ?? '';
  const [search, agent, subject] = [word('search'), word('agent'), word('subject')];
  return {
    conditions: {
      status,
      reason,
      ...time('since'),
      ...time('until'),
    },
    any: search !== '' || agent !== '' || subject !== '' || status === 'open',
    matches(row) {
      const has = (text: string | null, part: string): boolean => part === '' || (text ?? '').toLowerCase().includes(part);
      return (
        (phase === undefined || row.phase === phase) &&
        has(row.agent, agent) &&
        has(row.subject, subject) &&
        (has(row.sid, search) || has(row.subject, search) || has(row.agent, search))
      );
    },
  };
}

type Cursor = { readonly updatedAt: number; readonly sid: string };

function cursorText(cursor: Cursor | null): string | null {
  return cursor === null ? null : `${cursor.updatedAt}-${cursor.sid}`;
}

function cursorOf(text: string | null): Cursor | null {
  if (text === null) return null;
  const dash = text.indexOf('-', 1);
  const updatedAt = Number(text.slice(0, dash));
  if (dash < 0 || !Number.isSafeInteger(updatedAt)) throw new RequestError(400, 'after is not a cursor of this list');
  return { updatedAt, sid: text.slice(dash + 1) };
}
