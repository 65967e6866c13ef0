import {
  type Ancestry,
  callOf,
  lastApproved,
  recordProblem,
  type SessionAbove,
  type SessionCursor,
  type SessionQuery,
  type SessionState,
  type SessionStore,
  type SessionSummary,
  StoreError,
  searchSessions,
  sessionQuery,
  type TurnRecord,
  type Waiting,
} from '../loop/index.ts';
import { ConfigError } from '../wire/errors.ts';
import { sumUsd } from '../wire/money.ts';
import { type Past, planView } from './plan.ts';
import { faultsOf } from './record.ts';
import { RequestError, wholeOf } from './request.ts';
import type { Texts } from './texts.ts';
import { spentBy, turnRow } from './turn.ts';
import type {
  LastTurn,
  NestedRow,
  SessionRow,
  SessionsView,
  SessionView,
  Sum,
  TimelineView,
  TurnRow,
  WaitingView,
} from './views.ts';

/** Units of a subject or a name in a list. */
const SHORT = 200;
const NESTED = 500;
/** Turns that are in memory at a time; each may have megabytes. */
const TURNS = 5;

/** Why a call cannot be answered from a page; null when it can. */
export type Refusal = (call: Pick<Waiting, 'tool' | 'plan'>) => string | null;

/** Last turns that are remembered: a decided turn does not change. */
const REMEMBERED = 20_000;

/** The last decided turns of sessions. */
export class LastTurns {
  readonly #store: SessionStore;
  readonly #known = new Map<string, LastTurn | null>();

  constructor(store: SessionStore) {
    this.#store = store;
  }

  /** Null for a session without a decided turn, or whose last one cannot be read. */
  async of({ sid, turns }: SessionSummary): Promise<LastTurn | null> {
    const key = `${turns} ${sid}`;
    const known = this.#known.get(key);
    if (known !== undefined || turns === 0) return known ?? null;
    const [record] = await this.#store.turns(sid, () => {}, { after: turns - 1, limit: 1 });
    const last = record === undefined || recordProblem(record) !== null ? null : lastTurn(record);
    this.#known.set(key, last);
    if (this.#known.size > REMEMBERED) for (const oldest of this.#known.keys()) return this.#known.delete(oldest) ? last : null;
    return last;
  }
}

function lastTurn(record: TurnRecord): LastTurn {
  const { error, reason, latencyMs, attempts = [] } = record;
  const { tokens, cost = 0 } = spentBy(record);
  const changed = faultsOf(record, undefined).length > 0;
  return { code: error?.code ?? reason, ms: latencyMs, tokens, cost, attempts: attempts.length + 1, changed };
}

/** A page of the list of sessions. Reads a bounded number of them, whatever the query says. Throws {@link RequestError}. */
export async function sessionsView(
  store: SessionStore,
  lasts: LastTurns,
  ancestry: Ancestry,
  query: URLSearchParams,
  now: number,
): Promise<SessionsView> {
  const limit = wholeOf(query, 'limit', [1, 500], 100);
  const after = cursorOf(query.get('after')) ?? undefined;
  const { sessions, next } = await searchSessions(store, queryOf(query.get('q') ?? '', now), { limit, after });
  const rows: SessionRow[] = [];
  for (const session of sessions) {
    const row = sessionRow(session, await ancestry.above(session));
    rows.push({ ...row, last: await lasts.of(session) });
  }
  return { sessions: rows, next: next === null ? null : `${next.updatedAt}-${next.sid}` };
}

function queryOf(text: string, now: number): SessionQuery {
  try {
    return sessionQuery(text, now);
  } catch (error) {
    if (error instanceof ConfigError) throw new RequestError(400, error.message);
    throw error;
  }
}

/** A session in a list, without its last turn. */
function sessionRow(session: SessionSummary, above: readonly SessionAbove[]): SessionRow {
  const { sid, tenant, profile, reason, subject, agent, turns, createdAt, updatedAt, started, owed, parent, damaged } = session;
  const waiting = openCalls(session.waits).length;
  return {
    ...{ sid, tenant, profile, reason, turns, createdAt, updatedAt, started, owed, parent, above, waiting, last: null },
    phase: session.status === 'open' && waiting > 0 ? 'waiting' : session.status,
    subject: subject?.slice(0, SHORT) ?? null,
    agent: agent?.slice(0, SHORT) ?? null,
    damaged: damaged?.slice(0, SHORT * 5) ?? null,
    driven: session.lease !== null,
  };
}

/** One session with the beginning of its timeline. Throws {@link RequestError} (404) for an unknown one. */
export async function sessionView(
  store: SessionStore,
  ancestry: Ancestry,
  sid: string,
  refusal: Refusal,
  past: Past,
  texts: Texts,
): Promise<SessionView> {
  const summary = await store.summary(sid);
  if (summary === null) throw new RequestError(404, `there is no session ${JSON.stringify(sid)}`);
  const state = await stateOf(store, sid);
  const above = await ancestry.above(summary);
  const tree = await treeOf(store, summary, above);
  return {
    ...sessionRow(summary, above),
    userdata: state === null ? null : texts.text(state.userdata, null),
    message: state?.message ?? null,
    sum: summary.spent === null ? null : (tree[0]?.sum ?? null),
    lease: summary.lease,
    calls: await waitingViews(store, summary, refusal, past, texts),
    nested: tree.slice(1),
    timeline: await timelineView(store, sid, new URLSearchParams()),
  };
}

/** A session and those below it, each before those that it opened, with the sums of each. A store may say that two are each other's. */
async function treeOf(
  store: SessionStore,
  top: SessionSummary,
  aboveTop: readonly SessionAbove[],
): Promise<readonly NestedRow[]> {
  const rows: NestedRow[] = [];
  const seen = new Set<string>();
  const add = async (session: SessionSummary, above: readonly SessionAbove[]): Promise<Sum> => {
    seen.add(session.sid);
    const { sid, turns, spent } = session;
    const row = { ...sessionRow(session, above), depth: above.length - aboveTop.length };
    const at = rows.push({ ...row, sum: NOTHING }) - 1;
    let sum: Sum = { turns, fuel: spent?.fuel ?? 0, tokens: spent?.tokens ?? 0, cost: spent?.cost ?? 0 };
    const asked = await store.list({ parent: sid, limit: NESTED });
    for (const below of asked.toSorted(byCall)) {
      if (rows.length > NESTED || seen.has(below.sid)) continue;
      const its = await add(below, [...above, { sid, call: callOf(below.parent) }]);
      // A decided turn has paid for what it asked.
      const isPaid = spent !== null && (below.parent?.turn ?? 0) <= turns;
      sum = added(sum, isPaid ? { ...NOTHING, turns: its.turns } : its);
    }
    rows[at] = { ...row, sum };
    return sum;
  };
  await add(top, aboveTop);
  return rows;
}

const byCall = ({ parent: one }: SessionSummary, { parent: other }: SessionSummary): number =>
  (one?.turn ?? 0) - (other?.turn ?? 0) || (one?.seq ?? 0) - (other?.seq ?? 0);

const NOTHING: Sum = { turns: 0, fuel: 0, tokens: 0, cost: 0 };

function added(one: Sum, other: Sum): Sum {
  const [turns, fuel, tokens] = [one.turns + other.turns, one.fuel + other.fuel, one.tokens + other.tokens];
  return { turns, fuel, tokens, cost: sumUsd(one.cost, other.cost) };
}

/** A page of the turns of a session. */
export async function timelineView(store: SessionStore, sid: string, query: URLSearchParams): Promise<TimelineView> {
  const limit = wholeOf(query, 'limit', [1, 1000], 200);
  const view = { turns: [] as TurnRow[], damaged: [] as TimelineView['damaged'][number][], changed: [] as number[] };
  let before: TurnRecord | null = null;
  let after = wholeOf(query, 'after', [0, Number.MAX_SAFE_INTEGER], 0);
  for (let left = limit; left > 0; ) {
    const wanted = Math.min(TURNS, left);
    const damaged: { turn: number; problem: string }[] = [];
    const records = await store.turns(sid, (turn, problem) => damaged.push({ turn, problem }), { after, limit: wanted });
    for (const record of records) {
      const problem = recordProblem(record);
      if (problem === null) view.turns.push(turnRow(record));
      else damaged.push({ turn: record.turn, problem });
      const prev = record.turn === 1 ? null : before?.turn === record.turn - 1 ? before.seal.hash : undefined;
      if (problem === null && faultsOf(record, prev).length > 0) view.changed.push(record.turn);
      before = record;
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
export async function waitingViews(
  store: SessionStore,
  { sid, turns, waits }: Pick<SessionSummary, 'sid' | 'turns' | 'waits'>,
  refusal: Refusal,
  past: Past,
  texts: Texts,
): Promise<readonly WaitingView[]> {
  const calls = allCalls(waits);
  const hasPlan = calls.some(({ plan }) => plan !== undefined);
  const since = hasPlan ? await lastApproved(store, sid, turns) : null;
  const costs = hasPlan ? await past.costs(sid, turns) : null;
  return calls.map((waiting) => {
    const { call, turn, tool, args, reason, since: begun, expiresAt, completed, plan, answer = null } = waiting;
    return {
      ...{ call, turn, tool, since: begun, expiresAt, completed, answer },
      reason: reason.slice(0, SHORT * 5),
      // A person answers all that the plan allows, and not the call at which the program happens to stand.
      args: plan === undefined ? args.map((value, index) => texts.value(value, waitingPart(call, index))) : [],
      plan: plan === undefined ? null : planView(plan, since, costs?.ofGrant(plan), texts),
      refusal: completed ? 'it has its answer' : refusal(waiting),
    };
  });
}

/** The name of an argument of a call that waits; it is a part of the turn that waits. */
export function waitingPart(call: string, index: number): string {
  return `waiting.${call}.${index}`;
}

/** All calls for which a session waits. Those that wait for the plan of the turn are one. */
export function allCalls(waits: Waiting | null): readonly Waiting[] {
  const calls = waits === null ? [] : [waits, ...(waits.also ?? [])];
  return calls.filter(({ call }, index) => calls.findIndex((each) => each.call === call) === index);
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

function cursorOf(text: string | null): SessionCursor | null {
  if (text === null) return null;
  const dash = text.indexOf('-', 1);
  const updatedAt = Number(text.slice(0, dash));
  if (dash < 0 || !Number.isSafeInteger(updatedAt)) throw new RequestError(400, 'after is not a cursor of this list');
  return { updatedAt, sid: text.slice(dash + 1) };
}
