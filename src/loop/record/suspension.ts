import { type Completion, checkedGrant, type Grant } from '../../tools/index.ts';
import { clipped } from '../../wire/clip.ts';
import { defined } from '../../wire/defined.ts';
import { NeuroScriptError } from '../../wire/errors.ts';
import type { AnswerForm, JournalEntry, WaitingCall } from '../../wire/journal.ts';
import type { RunInput, TaggedJson } from '../../wire/protocol.ts';

/** The parts of an earlier execution with which a turn continues. */
export interface EarlierTurn {
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly nonce: string;
  /** Token times that were recorded, in Unix milliseconds. */
  readonly clock: readonly number[];
  /** Token ids that were issued. */
  readonly jtis: readonly string[];
  readonly mints: number;
  readonly mintFailed: boolean;
  readonly ranMs: number;
}

/** A call that waits, and what its tool promised. */
export interface PromisedCall {
  readonly waiting: WaitingCall;
  /** Digest of the tool's definition; null when the executor does not report it. */
  readonly promise: string | null;
}

/** A turn whose tool will answer later. */
export interface SuspendedTurn extends PromisedCall {
  /** Further calls that wait: they ran together with the first. Absent when there are none. */
  readonly alsoWaiting?: readonly PromisedCall[] | undefined;
  /** The execution up to the call, which is repeated to continue. */
  readonly earlier: EarlierTurn & { readonly run: RunInput; readonly journal: readonly JournalEntry[] };
  /** Hash of the ACTIONS that a human approved when the turn began; null when none had to. */
  readonly approved: string | null;
}

/** A human's approval of the ACTIONS of a turn that waits, signed by the host. */
export interface SignedApproval {
  /** Hash of the ACTIONS. */
  readonly plan: string;
  /** The key of the host that signed. */
  readonly kid: string;
  /** In base64url. */
  readonly tag: string;
}

/** A person's answer to the plan of a program, signed by the host. */
export interface SignedPlan {
  /** Number of the attempt at the turn whose program it is, from 1. */
  readonly attempt: number;
  /** SHA-256 of the program and its USERDATA, in hexadecimal. */
  readonly program: string;
  /** SHA-256 of the grant that the person was shown, in hexadecimal. */
  readonly shown: string;
  /** What may be called; null when the plan was refused. */
  readonly grant: Grant | null;
  /** The key of the host that signed. */
  readonly kid: string;
  /** In base64url. */
  readonly tag: string;
}

/** One call that a stored turn waits for. */
export interface StoredCall extends PromisedCall {
  /** Unix milliseconds. */
  readonly since: number;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  /** The answer to the call; null while the turn waits for it. */
  readonly completion: Completion | null;
  /** Whether the completion accepts that the tool's definition has changed. */
  readonly acceptChanged: boolean;
}

/** A suspended turn as it is stored. Any process can continue it. Its own fields are those of the first call that waits. */
export interface Suspension extends StoredCall, Pick<SuspendedTurn, 'earlier'> {
  /** Further calls that wait, in the order of the program. Absent when there are none. */
  readonly alsoWaiting?: readonly StoredCall[] | undefined;
  /** Null when no human had to approve the ACTIONS. */
  readonly approved: SignedApproval | null;
}

/** All calls that a stored turn waits for, in the order of the program. */
export function storedCalls(suspension: Suspension): readonly StoredCall[] {
  return [suspension, ...(suspension.alsoWaiting ?? [])];
}

/** The calls that have no answer yet. */
export function openCalls(suspension: Suspension): readonly StoredCall[] {
  return storedCalls(suspension).filter(({ completion }) => completion === null);
}

/** A call that a session waits for, in a form for the person or program that completes it. */
export interface Waiting {
  /** Id of the call, unique in its session. */
  readonly call: string;
  /** Number of the turn, from 1. */
  readonly turn: number;
  /** Canonical name of the tool. */
  readonly tool: string;
  /** The arguments of the call, as tagged JSON. */
  readonly args: readonly TaggedJson[];
  /** The tool's description of what it waits for. */
  readonly reason: string;
  /** Unix milliseconds. */
  readonly since: number;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  /** What the answer must be; absent for a value of any type, as for a tool that declares no result. */
  readonly answer?: AnswerForm | undefined;
  /** The grant that an answer allows or refuses, for the call `plan`; absent for other calls. */
  readonly plan?: Grant | undefined;
  /** With `plan`: its program, the first 8,192 characters. */
  readonly program?: string | undefined;
  /** True once the call is completed. The session can be resumed when all its calls are. */
  readonly completed: boolean;
  /** The other calls that the session waits for: they ran together with this one. Absent when there are none. */
  readonly also?: readonly Waiting[];
}

/** What happens when a call is not completed in time: its session ends, or the call fails with code 37. */
export type OnExpired = 'halt' | 'error';

/** Default for the longest time that a call may wait: seven days, in milliseconds. */
export const DEFAULT_MAX_WAIT_MS = 7 * 86_400_000;

/** The id of the plan of a turn, among those of calls. */
export const PLAN = 'plan';

/** The id of a call: its turn, and its number among the turn's calls to the host; {@link PLAN} for all that wait for the plan. */
export function callId(turn: number, { seq, plan }: Pick<WaitingCall, 'seq' | 'plan'>): string {
  return plan === undefined ? `${turn}.${seq}` : PLAN;
}

/**
 * A suspension that begins at `now`. `maxWaitMs` limits the time that a tool requested. A call that waited `before` and still waits,
 * while others of its block were answered, keeps its times.
 */
export function suspend(
  { earlier, ...turn }: SuspendedTurn,
  approved: SignedApproval | null,
  now: number,
  maxWaitMs: number,
  before: Suspension | null,
): Suspension {
  const known = new Map((before === null ? [] : openCalls(before)).map((call) => [call.waiting.seq, call]));
  const since = Math.floor(now);
  const stored = ({ waiting, promise }: PromisedCall): StoredCall =>
    known.get(waiting.seq) ?? {
      ...{ waiting, promise, since, completion: null, acceptChanged: false },
      expiresAt: since + Math.min(maxWaitMs, waiting.expiresIn ?? maxWaitMs),
    };
  return { ...stored(turn), alsoWaiting: turn.alsoWaiting?.map(stored), earlier, approved };
}

/** Most characters of a program that waits for the approval of its plan. */
const MOST_SHOWN = 8192;

/** The plan for which a call waits, in a form to compare; null for any other call. An answer to a plan is one to all calls that wait for it. */
export function planText({ waiting: { plan } }: Pick<StoredCall, 'waiting'>): string | null {
  return plan === undefined ? null : JSON.stringify(plan);
}

/**
 * The public form of a suspension. It describes the call `seq`, or else the first without an answer; the others are in `also`, of those that
 * wait for the same plan one.
 */
export function waitingOf(turn: number, suspension: Suspension, seq?: number): Waiting {
  const calls = storedCalls(suspension);
  const first =
    calls.find(({ waiting, completion }) => (seq === undefined ? completion === null : waiting.seq === seq)) ?? suspension;
  const plans = new Set([planText(first)]);
  const others = calls.filter((call) => {
    const plan = planText(call);
    const isShown = call.waiting.seq === first.waiting.seq || (plan !== null && plans.has(plan));
    plans.add(plan);
    return !isShown;
  });
  const also = others.length === 0 ? {} : { also: others.map((call) => publicCall(turn, call)) };
  const text = first.waiting.plan === undefined ? undefined : suspension.earlier.run.sources.at(-1)?.text;
  const program = text && clipped(text, MOST_SHOWN);
  return { ...publicCall(turn, first), ...defined({ program }), ...also };
}

function publicCall(turn: number, { waiting, since, expiresAt, completion }: StoredCall): Waiting {
  const { tool, args, reason, plan, answer } = waiting;
  const granted = plan === undefined ? undefined : checkedGrant('the stored plan', plan);
  return {
    ...defined({ plan: granted, answer }),
    call: callId(turn, waiting),
    turn,
    tool,
    args,
    reason,
    since,
    expiresAt,
    completed: completion !== null,
  };
}

/** The session waits for a call. This is not a failure: complete the call, then resume the session. */
export class SuspendedError extends NeuroScriptError {
  static readonly code = 'ERR_SUSPENDED';
  /** Id of the session. */
  readonly sid: string;
  /** The call to complete. */
  readonly waiting: Waiting;
  constructor(sid: string, waiting: Waiting) {
    const { call, tool, reason, also = [] } = waiting;
    const open = also.filter(({ completed }) => !completed).map((other) => `, and for call ${other.call} of ${other.tool}`);
    super(SuspendedError.code, `session ${JSON.stringify(sid)} waits for call ${call} of ${tool}: ${reason}${open.join('')}`);
    this.sid = sid;
    this.waiting = waiting;
  }
}
