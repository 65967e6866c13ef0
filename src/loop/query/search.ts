import type { TurnRecord } from '../record/record.ts';
import type { Waiting } from '../record/suspension.ts';
import type { RecentQuery, SessionStore, SessionSummary } from '../sessions/store.ts';
import type { QueryTerm, SessionQuery } from './parse.ts';

/** Where a search goes on. */
export type SessionCursor = NonNullable<RecentQuery['after']>;

/** Options of {@link searchSessions}. */
export interface SearchOptions {
  /** Most sessions to find. */
  readonly limit: number;
  /** Where the search goes on; at the latest change when absent. */
  readonly after?: SessionCursor | undefined;
  /** Unix milliseconds: only sessions whose last change was earlier. */
  readonly until?: number | undefined;
  /** Most sessions and turns to read before the search stops, so that one request takes bounded time; 500 when absent. */
  readonly effort?: number | undefined;
}

/** Sessions that match a query, by their last change, the latest first. */
export interface SessionsFound {
  /** As a list shows them. */
  readonly sessions: readonly SessionSummary[];
  /** Where to search on; null when there is nothing further. */
  readonly next: SessionCursor | null;
}

const EFFORT = 500;
/** Sessions that one request to the store returns. */
const CHUNK = 250;
/** Turns that are in memory at a time; each may have megabytes. */
const TURNS = 5;

/**
 * Searches the sessions of a store. Status, reason, tenant and time are found by the store itself; `error:`, `tool:` and words also read the
 * turns of sessions that match otherwise. Throws as the store does.
 */
export async function searchSessions(
  store: Pick<SessionStore, 'recent' | 'turns' | 'read'>,
  { terms, since }: SessionQuery,
  { limit, after, until, effort = EFFORT }: SearchOptions,
): Promise<SessionsFound> {
  const conditions = { ...conditionsOf(terms), since: since ?? undefined, until };
  const sessions: SessionSummary[] = [];
  let [next, left] = [after, effort];
  while (left > 0) {
    const chunk = Math.min(CHUNK, left, terms.some(isBeyondStore) ? CHUNK : limit - sessions.length + 1);
    const found = await store.recent({ ...conditions, after: next, limit: chunk });
    for (const session of found) {
      if (sessions.length === limit || left <= 0) return { sessions, next: next ?? null };
      next = { updatedAt: session.updatedAt, sid: session.sid };
      left -= 1;
      const rest = terms.filter((term) => !matchesSummary(term, session));
      if (rest.length === 0) sessions.push(session);
      else if (rest.every(looksIntoTurns)) {
        const { matches, turns } = await turnsMatch(store, session, rest);
        if (matches) sessions.push(session);
        left -= turns;
      }
    }
    if (found.length < chunk) return { sessions, next: null };
  }
  return { sessions, next: next ?? null };
}

/** What the store selects by. */
function conditionsOf(terms: readonly QueryTerm[]): Pick<RecentQuery, 'status' | 'open' | 'tenant'> {
  const tenant = terms.find(({ key }) => key === 'tenant')?.text;
  const status = terms.find(({ key }) => key === 'status')?.text;
  if (status === 'waiting') return { open: 'waiting', tenant };
  if (status === 'running') return { open: 'leased', tenant };
  const isEnded = status === 'done' || status === 'aborted' || status === 'halted';
  const halted = terms.some(({ key }) => key === 'reason') ? 'halted' : undefined;
  return { status: status === undefined ? halted : isEnded ? status : 'open', tenant };
}

/** Whether the store cannot select by a term alone. */
function isBeyondStore({ key, text }: QueryTerm): boolean {
  return key !== 'tenant' && !(key === 'status' && (text === 'done' || text === 'aborted' || text === 'halted'));
}

function looksIntoTurns({ key }: QueryTerm): boolean {
  return key === null || key === 'error' || key === 'tool';
}

const has = (text: string | null, part: string): boolean => text?.toLowerCase().includes(part) === true;

/** Whether a session matches by what a list shows of it. */
function matchesSummary({ key, text }: QueryTerm, session: SessionSummary): boolean {
  const { reason, damaged, agent, tenant, sid, subject } = session;
  switch (key) {
    case 'status':
      return doingOf(session) === text;
    case 'reason':
      return has(reason, text);
    case 'error':
      return has(reason, text) || has(damaged, text);
    case 'tool':
      return waitsOf(session).some(({ tool }) => has(tool, text));
    case 'agent':
      return has(agent, text);
    case 'tenant':
      return tenant === text;
    case 'since':
      return true;
    case null:
      return [sid, subject, agent, damaged].some((each) => has(each, text));
  }
}

function waitsOf({ waits }: SessionSummary): readonly Waiting[] {
  return waits === null ? [] : [waits, ...(waits.also ?? [])];
}

/** What a session does, in the word of `status:`: an open one waits for a call, or else runs on a host, or else is open. */
function doingOf(session: SessionSummary): string {
  if (session.status !== 'open') return session.status;
  if (waitsOf(session).some(({ completed }) => !completed)) return 'waiting';
  return session.lease === null ? 'open' : 'running';
}

/** Whether the message and the turns of a session have what the terms look for, and how many turns were read. */
async function turnsMatch(
  store: Pick<SessionStore, 'turns' | 'read'>,
  { sid, turns, damaged }: SessionSummary,
  terms: readonly QueryTerm[],
): Promise<{ readonly matches: boolean; readonly turns: number }> {
  const hasMessage = damaged === null && terms.some(({ key }) => key !== 'tool');
  const message = hasMessage ? ((await store.read(sid))?.message ?? null) : null;
  let rest = terms.filter(({ key, text }) => key === 'tool' || !has(message, text));
  let last = 0;
  while (rest.length > 0 && (last < turns || damaged !== null)) {
    const numbers: number[] = [];
    const records = await store.turns(sid, (turn) => numbers.push(turn), { after: last, limit: TURNS });
    for (const record of records) rest = rest.filter((term) => !matchesTurn(term, record));
    numbers.push(...records.map(({ turn }) => turn));
    last = Math.max(last, ...numbers);
    if (numbers.length < TURNS) break;
  }
  return { matches: rest.length === 0, turns: last };
}

function matchesTurn({ key, text }: QueryTerm, record: TurnRecord): boolean {
  const runs = [record, ...(record.attempts ?? [])];
  if (key === 'tool') return runs.some(({ journal }) => journal.some((call) => call.kind === 'tool' && has(call.name, text)));
  const errors = runs.flatMap(({ error }) => (error === null ? [] : [error.code, error.message]));
  if ([record.reason, ...errors].some((each) => has(each, text))) return true;
  if (runs.some(({ journal }) => journal.some((call) => hasError(call.outcome, text)))) return true;
  return (
    key === null && [record.inputs.envelope, ...(record.attempts ?? []).map(({ reply }) => reply)].some((each) => has(each, text))
  );
}

function hasError(outcome: TurnRecord['journal'][number]['outcome'], text: string): boolean {
  if (outcome.ok) return false;
  return 'halted' in outcome
    ? has(outcome.halted.code, text) || has(outcome.halted.message, text)
    : has(`NS${outcome.code}`, text) || has(outcome.message, text);
}
