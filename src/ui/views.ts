import type {
  AgentUse,
  AttemptEnd,
  Decision,
  HostFacts,
  LeftOver,
  PublicKeyRecord,
  SealFault,
  SessionAbove,
  SessionSummary,
  TurnPhase,
} from '../loop/index.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import type { LimitKey, Unit } from '../wire/limits.ts';
import type { Usage } from '../wire/protocol.ts';
import type { CallView, TextView, VerdictView } from './callviews.ts';
import type { WaitingView } from './waitingviews.ts';

export type * from './callviews.ts';
export type * from './waitingviews.ts';

/*
 * The JSON answers of the inspector's server, and what `sessions show --html` embeds. Texts of programs, agents and tools are foreign:
 * a page shows them as text. Times are Unix milliseconds, durations are milliseconds. The answers of `GET /api/sessions/SID/turns/N/heat` and
 * `…/steps?at=LINE[:VISIT]` or `?step=NUMBER` are `TurnHeat` and `TurnStep` of `src/wire/heat.ts`.
 */

/** The body of every answer that is no success. */
export interface FailureView {
  readonly error: { readonly code: string; readonly message: string };
}

/** `GET /api/about`: what the server was started with. */
export interface AboutView {
  /** Version of the package. */
  readonly version: string;
  /** The store, without a password. */
  readonly store: string;
  /** The decision log; null when there is none. */
  readonly log: string | null;
  /** Whether waiting calls may be answered from the page. */
  readonly approve: boolean;
  readonly now: number;
}

/** What a session is doing: `waiting` and `open` are both open. A session waits if one of its calls has no answer yet. */
export type SessionPhase = 'open' | 'waiting' | 'done' | 'aborted' | 'halted';

/** Query of `GET /api/sessions`. All conditions must hold. */
export interface SessionsQuery {
  /** What the sessions must match, in the language of `sessionQuery` of `neuroscript-runtime/loop`; all sessions when absent. */
  readonly q?: string;
  /** {@link SessionsView.next} of the page before. */
  readonly after?: string;
  /** Most rows: 1 to 500; 100 when absent. */
  readonly limit?: string;
}

/** `GET /api/sessions`: a page of the list, the session with the latest change first. */
export interface SessionsView {
  readonly sessions: readonly SessionRow[];
  /**
   * The cursor of the next page; null at the end. A page may have fewer rows than its limit, or none, and still a next one: the server
   * looks at a bounded number of sessions for each page.
   */
  readonly next: string | null;
}

/** A session in a list. `subject` and `agent` are cut to 200 characters. */
export interface SessionRow
  extends Pick<
    SessionSummary,
    | 'sid'
    | 'tenant'
    | 'profile'
    | 'reason'
    | 'subject'
    | 'agent'
    | 'turns'
    | 'createdAt'
    | 'updatedAt'
    | 'started'
    | 'owed'
    | 'parent'
    | 'damaged'
  > {
  readonly phase: SessionPhase;
  /** The sessions above it, from the top down; none above a session of the host's own. */
  readonly above: readonly SessionAbove[];
  /** The last decided turn; null without one, and in answers about one session. */
  readonly last: LastTurn | null;
  /** Number of calls that wait for an answer. */
  readonly waiting: number;
  /** Whether a process holds its lease. */
  readonly driven: boolean;
}

/** The last decided turn of a session in a list. */
export interface LastTurn {
  /** The code of its error, or why the host halted it; null for neither. */
  readonly code: string | null;
  /** From its start to its decision, without the agent's time. */
  readonly ms: number;
  /** Model tokens of its agent and of what it asked. */
  readonly tokens: number;
  /** US dollars for its agent, its calls and what it asked, over all attempts. */
  readonly cost: number;
  readonly attempts: number;
  /** Whether its record is not as it was sealed. */
  readonly changed: boolean;
}

/** What a session, or a tree of sessions, used. */
export interface Sum {
  readonly turns: number;
  readonly fuel: number;
  readonly tokens: number;
  /** US dollars. */
  readonly cost: number;
}

/** A session that an `ask` opened, directly or through others. */
export interface NestedRow extends SessionRow {
  /** 1 for a session that the shown one opened itself. */
  readonly depth: number;
  /** With all sessions below it. */
  readonly sum: Sum;
}

/** `GET /api/sessions/SID`: one session. */
export interface SessionView extends SessionRow {
  /** The host's USERDATA; null when the session cannot be read. */
  readonly userdata: TextView | null;
  /** Why it ended between two turns, such as the failure of its agent; null when a turn says why. */
  readonly message: string | null;
  /** What it used with all sessions below it; null when the session cannot be read. */
  readonly sum: Sum | null;
  /** Who drives it; null when nobody does. */
  readonly lease: SessionSummary['lease'];
  readonly calls: readonly WaitingView[];
  /** The tree of sessions that asks opened, each before those that it opened; at most 500. */
  readonly nested: readonly NestedRow[];
  /** The first turns; `GET /api/sessions/SID/turns?after=TURN&limit=N` answers with the next ones. */
  readonly timeline: TimelineView;
}

/** `GET /api/sessions/SID/turns?after=TURN&limit=N`: turns in their order; 200 a page, at most 1,000. */
export interface TimelineView {
  readonly turns: readonly TurnRow[];
  /** Turns of this page whose records cannot be read. */
  readonly damaged: readonly { readonly turn: number; readonly problem: string }[];
  /** Turns of this page whose records are not as they were sealed, or do not follow from the one before. */
  readonly changed: readonly number[];
  /** `after` of the next page; null at the end. */
  readonly next: number | null;
}

/** A turn on a timeline. */
export interface TurnRow {
  readonly turn: number;
  /** When the turn started. Its agent was asked before. */
  readonly startedAt: number;
  /** From the start to the decision, without the agent's time. */
  readonly latencyMs: number;
  /** Where this time went, as it was recorded. */
  readonly phases: readonly TurnPhase[];
  /** Of the phase `run`: waiting for tools, prompts and nested sessions. */
  readonly callsMs: number;
  readonly decision: Decision;
  readonly reason: string | null;
  /** What the token requested when the host decided otherwise. */
  readonly overridden: string | null;
  /** What the agent was asked for; null when it was not consulted. */
  readonly agent: AgentUse | null;
  /** US dollars for its agent, its calls and what it asked, over all attempts. */
  readonly cost: number;
  readonly calls: number;
  /** Calls that did not give a value. */
  readonly failed: number;
  /** The call that took longest; null without one. */
  readonly slowest: Pick<CallView, 'seq' | 'name' | 'ms'> | null;
  readonly measures: readonly Measure[];
  readonly error: Pick<ErrorInfo, 'code' | 'message'> | null;
}

/** What a turn used of one limit. */
export interface Measure {
  readonly limit: LimitKey;
  readonly unit: Unit;
  readonly used: number;
  /** Null for a limit that is not recorded. */
  readonly allowed: number | null;
}

/** `GET /api/sessions/SID/turns/N`: one turn. */
export interface TurnView extends TurnSide, AttemptsView {
  readonly sid: string;
  /** As in {@link SessionRow}. */
  readonly above: readonly SessionAbove[];
  /** The turns before and after, if they can be read. */
  readonly before: number | null;
  readonly after: number | null;
  readonly record: RecordView;
  readonly envelope: EnvelopeView;
  readonly tokens: readonly TokenView[];
  readonly verify: VerifyView | null;
  /** Software and policies; null when they are not recorded. */
  readonly host: HostFacts | null;
}

/** What a turn, or a trial of it, did. */
export interface TurnSide extends TurnRow {
  /** ACTIONS; null when the envelope could not be read. */
  readonly program: TextView | null;
  /** The first calls; `GET /api/sessions/SID/turns/N/calls?after=SEQ` answers with more of a recorded turn, see {@link CallsView}. */
  readonly journal: readonly CallView[];
  /** Whether the turn has more calls. */
  readonly more: boolean;
  /** The tool for which the policy refused the whole turn, and why; null when it did not. */
  readonly denied: { readonly tool: string; readonly verdict: VerdictView } | null;
  readonly output: TextView;
  readonly scratchpad: TextView;
  /** The labels that each carries into the next envelope, in words; null without any. */
  readonly carries: { readonly output: string | null; readonly scratchpad: string | null };
  readonly whispers: readonly { readonly to: string; readonly text: TextView }[];
  readonly lints: readonly { readonly code: string; readonly line: number }[];
  readonly usage: Usage;
  /** As on the terminal; null when the program ran to its end. */
  readonly failure: ErrorView | null;
}

/** State of a record. */
export interface RecordView {
  readonly version: number;
  /** `whole`: no part changed since it was sealed. A seal is not a signature. */
  readonly seal: 'whole' | 'broken';
  readonly faults: readonly SealFault[];
  /** Parts whose content was erased. */
  readonly erased: readonly string[];
  /** False when the worker was killed and the last emits may be missing. */
  readonly outputComplete: boolean;
  /** Why the turn cannot be executed again; null when it can. */
  readonly notExecutable: string | null;
}

/** The envelope that was executed. */
export interface EnvelopeView {
  /** Null when the envelope cannot be read; then `text` has all of it. */
  readonly sections: {
    readonly userdata: TextView;
    readonly scratchpad: TextView | null;
    readonly output: TextView | null;
    readonly actions: TextView;
  } | null;
  readonly text: TextView | null;
  /** Why it cannot be read; null when it can. */
  readonly problem: string | null;
}

/** An error of a program as a terminal shows it. */
export interface ErrorView extends Pick<ErrorInfo, 'kind' | 'code' | 'name' | 'message' | 'source' | 'line' | 'column'> {
  readonly hint: string | null;
  /** What the terminal prints, with the excerpt of the program; unseen characters are escapes. */
  readonly lines: readonly string[];
}

/** The attempts at a turn that did not decide it. */
export interface AttemptsView {
  /** In order; none when the first attempt decided the turn. */
  readonly attempts: readonly AttemptView[];
  /** The calls with effects of these attempts whose answers the deciding one did not take. */
  readonly leftOver: readonly LeftOver[];
}

/** An attempt at a turn that did not decide it. */
export interface AttemptView {
  /** From 1. */
  readonly attempt: number;
  readonly end: AttemptEnd;
  /** ACTIONS, or the reply if it could not be read. */
  readonly program: TextView;
  /** The error that ended it; of a rejected program its first problem. */
  readonly failure: ErrorView;
  /** The other problems of a rejected program, each as a line. */
  readonly problems: readonly string[];
  readonly calls: number;
  /** The first calls, without verdicts. */
  readonly journal: readonly CallView[];
  /** Of the calls: those that took the answer of an earlier attempt. */
  readonly taken: number;
  readonly output: TextView;
}

/** A line of OUTPUT that has the shape of a token. */
export interface TokenView {
  /** Line of OUTPUT, from 1. */
  readonly line: number;
  readonly token: string;
  readonly ok: boolean;
  /** Whether it decided the turn. */
  readonly decides: boolean;
  /** The code of the check that failed; null when none did. */
  readonly code: string | null;
  readonly message: string | null;
  readonly checks: readonly { readonly name: string; readonly verdict: 'passed' | 'failed' | 'not reached' }[];
  /** Its contents as lines, as on the terminal; of a rejected token they are claims. */
  readonly claims: readonly string[];
}

/** What it takes to verify the tokens of a turn again. Null in a {@link TurnView} for a record without it. */
export interface VerifyView {
  readonly nonce: string;
  /** The public keys of that time; an HS256 key has none. */
  readonly keys: readonly PublicKeyRecord[];
  /** The token clock at the decision. */
  readonly now: number;
  /** Seconds by which a token may appear to come from the future. */
  readonly clockSkew: number;
  /** The answers of the replay cache in order; true for a token id that was not used before. */
  readonly fresh: readonly boolean[];
}

/** `POST /api/sessions/SID/cancel`, without a body. */
export interface CancelView {
  /** False when another process drives the session: it was asked to end it. */
  readonly ended: boolean;
}

/** Body of `POST /api/sessions/SID/complete`: a JSON value, or a failure with this message. */
export type CompleteRequest = { readonly call: string } & ({ readonly value: unknown } | { readonly error: string });

/** `POST /api/sessions/SID/complete`: the session, with its calls as they are now. */
export type CompleteView = Pick<SessionView, 'sid' | 'calls'>;

/**
 * `GET /api/events?sid=SID`: server-sent events, each with this JSON as its data. The event says what to fetch again. With `sid` it also
 * watches a session that has not changed lately.
 */
export type ChangeView =
  /** A session is new or changed. */
  | { readonly kind: 'session'; readonly sid: string }
  /** More sessions changed than the stream names. */
  | { readonly kind: 'sessions' }
  | { readonly kind: 'log' };

/**
 * What `sessions show --html` embeds as JSON in `<script type="application/json" id="snapshot">`: a session without its server. The texts
 * of a snapshot are cut at a higher length, and have no parts.
 */
export interface SnapshotView {
  readonly about: AboutView;
  readonly session: SessionView;
  readonly turns: readonly TurnView[];
}
