import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyLookup } from '../aeiou/index.ts';
import {
  Ancestry,
  type CallAnswer,
  type Clock,
  type DecisionLog,
  SessionCoordinator,
  type SessionStore,
  type SessionSummary,
} from '../loop/index.ts';
import type { Runtime } from '../runtime/index.ts';
import { callViews } from './calls.ts';
import { Changes } from './changes.ts';
import { type LogSource, logView } from './log.ts';
import { Past } from './plan.ts';
import { findTurn } from './record.ts';
import { RequestError, wholeOf } from './request.ts';
import { seriesView } from './series.ts';
import {
  allCalls,
  LastTurns,
  type Refusal,
  sessionsView,
  sessionView,
  timelineView,
  waitingPart,
  waitingViews,
} from './sessions.ts';
import { jsonOf, PAGE_SIZES, pieceOf, type TextSizes, Texts } from './texts.ts';
import { completionOf, Trials } from './trials.ts';
import { nestedSids, partOf, turnView } from './turn.ts';
import type { AboutView, CallsView, CancelView, CompleteView, SessionView, SnapshotView, TurnView } from './views.ts';

/** What an {@link Inspector} shows, and what it may do. */
export interface InspectorInit {
  readonly store: SessionStore;
  /** The store for a reader, without a password. */
  readonly place: string;
  /** Where decisions are read. */
  readonly log: LogSource | null;
  /** Where the end of a session is logged that is cancelled here. */
  readonly decisions: DecisionLog | null;
  readonly clock: Clock;
  readonly version: string;
  /** Makes the runtime in which turns are tried out. It needs no tools. */
  readonly openRuntime: () => Promise<Runtime>;
  /** Keys with which tokens of replayed turns must verify, in place of those that the records name. */
  readonly keys?: KeyLookup | undefined;
  /** Null: calls that wait cannot be answered. */
  readonly answers: Answers | null;
}

/** Answers calls that wait. It stores the answer and runs nothing. */
export interface Answers {
  /** Why a call of this tool cannot be answered here; null when it can. */
  readonly refusal: Refusal;
  readonly complete: (sid: string, call: string, answer: CallAnswer) => Promise<unknown>;
}

/** What a page asks for: the parts of the path behind `/api/`, decoded. */
export interface Asked {
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** Everything that a page shows of a store and a log, and the few things that it may change. */
export class Inspector implements AsyncDisposable {
  readonly #init: InspectorInit;
  readonly #trials: Trials;
  readonly #coordinator: SessionCoordinator;
  readonly #latest = new Latest();
  readonly #lasts: LastTurns;
  readonly #ancestry: Ancestry;
  readonly #past: Past;
  readonly changes: Changes;

  constructor(init: InspectorInit) {
    const { store, log, decisions, clock } = init;
    this.#init = init;
    this.#lasts = new LastTurns(store);
    this.#ancestry = new Ancestry(store);
    this.#past = new Past(store);
    this.#trials = new Trials(store, init.openRuntime, init.keys);
    this.#coordinator = new SessionCoordinator({ store, log: decisions, clock });
    this.changes = new Changes(store, log);
  }

  /** The answer to a reading request. Throws {@link RequestError}, and what the store throws. */
  async read({ path, query, signal }: Asked): Promise<object> {
    const { store, log, clock } = this.#init;
    const [what, sid, turns, number, part, name] = path;
    const ends = (length: number): boolean => path.length === length;
    if (what === 'about' && ends(1)) return this.about();
    if ((what === 'log' || what === 'series') && ends(1)) {
      const stamp = log?.stamp() ?? null;
      const make = () =>
        what === 'log' ? logView(log, this.#ancestry, query, signal) : seriesView({ log, store }, query, signal);
      return this.#latest.get(stamp === null ? null : `${what} ${stamp} ${query}`, signal, make);
    }
    if (what !== 'sessions') throw unknown();
    if (sid === undefined) return sessionsView(store, this.#lasts, this.#ancestry, query, clock.now());
    if (turns === undefined) return this.#session(sid, pageTexts());
    if (turns !== 'turns') throw unknown();
    if (number === undefined) return timelineView(store, sid, query);
    const turn = turnOf(number);
    if (ends(4)) return this.#turn(sid, turn, pageTexts());
    if (part === 'calls' && ends(5)) return this.#calls(sid, turn, wholeOf(query, 'after', [0, Number.MAX_SAFE_INTEGER], 0));
    if (part === 'heat' && ends(5)) return this.#trials.heat(sid, turn, signal);
    if (part === 'steps' && ends(5)) return this.#trials.step(sid, turn, query, signal);
    if (part === 'parts' && name !== undefined && ends(6))
      return pieceOf(await this.#part(sid, turn, name), wholeOf(query, 'from', [0, Number.MAX_SAFE_INTEGER], 0));
    throw unknown();
  }

  /** The answer to a request to do something. Throws {@link RequestError}, and what the store throws. */
  async act({ path, signal }: Omit<Asked, 'query'>, body: unknown): Promise<object> {
    const [what, sid, ...rest] = path;
    if (what !== 'sessions' || sid === undefined) throw unknown();
    const [turns, number, action] = rest;
    if (turns === 'cancel' && rest.length === 1) return this.#cancel(sid);
    if (turns === 'complete' && rest.length === 1) return this.#complete(sid, body);
    if (turns !== 'turns' || number === undefined || rest.length !== 3) throw unknown();
    if (action === 'replay') return this.#trials.replay(sid, turnOf(number), signal);
    if (action === 'try') return this.#trials.tryOut(sid, turnOf(number), body);
    throw unknown();
  }

  about(): AboutView {
    const { version, place, log, answers, clock } = this.#init;
    return { version, store: place, log: log?.name ?? null, approve: answers !== null, now: clock.now() };
  }

  /** A session with all its turns that can be shown. */
  async snapshot(sid: string, sizes: TextSizes): Promise<SnapshotView> {
    const texts = new Texts(sizes, { parts: false });
    const { store } = this.#init;
    const session = await this.#session(sid, texts);
    const turns: TurnView[] = [];
    let { timeline } = session;
    for (;;) {
      for (const { turn } of timeline.turns) turns.push(await this.#turn(sid, turn, texts));
      if (timeline.next === null) break;
      timeline = await timelineView(store, sid, new URLSearchParams({ after: String(timeline.next) }));
    }
    return { about: this.about(), session, turns };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.changes[Symbol.dispose]();
    await this.#trials[Symbol.asyncDispose]();
  }

  readonly #refusal: Refusal = (waiting) => {
    const { answers } = this.#init;
    return answers === null ? 'start "neuroscript ui" with --approve to answer calls' : answers.refusal(waiting);
  };

  #session(sid: string, texts: Texts): Promise<SessionView> {
    return sessionView(this.#init.store, this.#ancestry, sid, this.#refusal, this.#past, texts);
  }

  async #turn(sid: string, turn: number, texts: Texts): Promise<TurnView> {
    const { store } = this.#init;
    const { above } = await this.#ancestry.head(sid);
    return turnView(await findTurn(store, sid, turn), texts, above, await nestedSids(store, sid, turn));
  }

  async #calls(sid: string, turn: number, after: number): Promise<CallsView> {
    const { store } = this.#init;
    const { record } = await findTurn(store, sid, turn);
    const { journal, more } = callViews(record, pageTexts(), await nestedSids(store, sid, turn), after);
    return { calls: journal, more };
  }

  /** A text of a decided turn, or an argument of a call that waits. */
  async #part(sid: string, turn: number, name: string): Promise<string> {
    const { store } = this.#init;
    if (!name.startsWith('waiting.')) return partOf((await findTurn(store, sid, turn)).record, name);
    const { waits } = await this.#summary(sid);
    for (const { call, args } of allCalls(waits))
      for (const [index, value] of args.entries()) if (name === waitingPart(call, index)) return jsonOf(value);
    throw new RequestError(404, 'the session does not wait for this call');
  }

  async #cancel(sid: string): Promise<CancelView> {
    await this.#summary(sid);
    if (!(await this.#coordinator.cancel(sid))) throw new RequestError(409, 'the session has ended already');
    const { status } = await this.#summary(sid);
    return { ended: status !== 'open' };
  }

  async #complete(sid: string, body: unknown): Promise<CompleteView> {
    const { call, answer } = completionOf(body);
    const { answers, store } = this.#init;
    const waiting = allCalls((await this.#summary(sid)).waits).find((each) => each.call === call);
    const refusal = this.#refusal(waiting ?? { tool: '' });
    if (answers === null || refusal !== null) throw new RequestError(403, refusal ?? '');
    await answers.complete(sid, call, answer);
    return { sid, calls: await waitingViews(store, await this.#summary(sid), this.#refusal, this.#past, pageTexts()) };
  }

  async #summary(sid: string): Promise<SessionSummary> {
    const summary = await this.#init.store.summary(sid);
    if (summary === null) throw new RequestError(404, `there is no session ${JSON.stringify(sid)}`);
    return summary;
  }
}

function pageTexts(): Texts {
  return new Texts(PAGE_SIZES, { parts: true });
}

function turnOf(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new RequestError(400, 'a turn is a whole number from 1');
}

function unknown(): RequestError {
  return new RequestError(404, 'there is nothing at this address');
}

/** Times as long as the last answer took, after which the next one is made. */
const RATIO = 3;

/**
 * Answers that are expensive to make, as those that read a whole log. One is made at a time, with pauses: however often a page asks, most
 * of the time is left for other requests. An answer is given again as long as its source is unchanged.
 */
export class Latest {
  #last: Promise<unknown> = Promise.resolve();
  #made: { readonly key: string; readonly answer: object } | null = null;
  #pausedUntil = 0;

  /** The answer for a key, which changes with what it is made from; null for an answer that may always be another one. */
  async get(key: string | null, signal: AbortSignal, make: () => Promise<object>): Promise<object> {
    const before = this.#last;
    const mine = (async (): Promise<object> => {
      await before;
      if (key !== null && this.#made?.key === key) return this.#made.answer;
      await sleep(Math.max(0, this.#pausedUntil - performance.now()), undefined, { signal });
      const begun = performance.now();
      const answer = await make();
      const now = performance.now();
      this.#pausedUntil = now + RATIO * (now - begun);
      if (key !== null) this.#made = { key, answer };
      return answer;
    })();
    this.#last = mine.catch(() => {});
    return mine;
  }
}
