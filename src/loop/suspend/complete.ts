import { z } from 'zod';
import type { Keyring } from '../../aeiou/index.ts';
import { FIRST_ISSUE } from '../../files/check.ts';
import { type Completion, checkedGrant, type Grant, grantDigest, widerThan } from '../../tools/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { ConfigError, NeuroScriptError } from '../../wire/errors.ts';
import { taggedFrom } from '../../wire/foreign.ts';
import { limitOf } from '../../wire/limits.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import { timeText } from '../../wire/time.ts';
import { ValueError } from '../../wire/values.ts';
import type { Clock } from '../clock.ts';
import {
  callId,
  PLAN,
  planText,
  type SignedPlan,
  type StoredCall,
  type Suspension,
  storedCalls,
  type Waiting,
  waitingOf,
} from '../record/suspension.ts';
import type { SessionCoordinator } from '../sessions/coordinator.ts';
import type { DrivenSession } from '../sessions/lease.ts';
import type { SessionState, SessionStore, StartedTurn } from '../sessions/store.ts';
import { promiseFor, type TurnExecutor } from '../turn/executor.ts';
import { readReply, sectionsOf } from '../turn/input.ts';
import { programDigest, signPlan } from './signed.ts';

/** Why a call cannot be completed. */
export type CallErrorCode =
  /** The session has no such call, or the call never waited. */
  | 'ERR_CALL_UNKNOWN'
  | 'ERR_CALL_COMPLETED'
  /** The session was cancelled while it waited. */
  | 'ERR_CALL_CANCELLED'
  | 'ERR_CALL_EXPIRED'
  /** The tool's definition requires another type of result. */
  | 'ERR_CALL_TYPE'
  /** The tool is missing, or its definition has changed since it was called. */
  | 'ERR_CALL_CHANGED';

/** A call cannot be completed, or its turn cannot continue with the completion. */
export class CallError extends NeuroScriptError {
  declare readonly code: CallErrorCode;
  constructor(code: CallErrorCode, message: string) {
    super(code, message);
  }
}

/** The answer to a call: a result as tagged JSON, or an error. */
export type CallAnswer =
  /** The value that the call returns. */
  | { readonly result: TaggedJson }
  /** The script can catch the error. `code` is an error code of the language; 21 when absent. */
  | { readonly error: { readonly message: string; readonly code?: number } };

/** Options of completing a call. */
export interface CompleteOptions {
  /** Continue although the tool's definition has changed since it was called. */
  readonly acceptChanged?: boolean;
  /** With the call `plan` and the result true: a narrower form of the grant, which is approved in its place. */
  readonly grant?: Grant | undefined;
}

/** Parts that {@link completeCall} uses. */
export interface Completer {
  readonly coordinator: SessionCoordinator;
  readonly executor: TurnExecutor;
  readonly clock: Clock;
  /** Signs the approvals of plans. */
  readonly keyring: Keyring;
}

/**
 * Stores the answer to a call for which a session waits. The session continues when it is driven next. The caller holds the
 * session's lock. Throws {@link CallError}, `ConfigError` for an answer of another form, and as `claim` of the store does.
 */
export async function completeCall(
  completer: Completer,
  sid: string,
  call: string,
  answer: CallAnswer,
  options: CompleteOptions = {},
): Promise<Waiting> {
  const { coordinator, executor, clock } = completer;
  const answered = completionOf(answer);
  using _alone = await coordinator.work.alone(sid);
  const claimed = await coordinator.claim(sid);
  try {
    const { next } = claimed;
    const stored = next.kind === 'waiting' ? callNamed(next.suspended, next.started.turn, call) : undefined;
    if (next.kind !== 'waiting' || stored === undefined) throw await whyNotWaiting(coordinator, claimed, call);
    const { started, suspended } = next;
    if (stored.completion !== null) throw new CallError('ERR_CALL_COMPLETED', `call ${call} was completed before`);
    if (claimed.cancelled) throw cancelled(call);
    const { expiresAt } = stored;
    if (clock.now() >= expiresAt) throw new CallError('ERR_CALL_EXPIRED', `call ${call} expired at ${timeText(expiresAt)}`);
    const acceptChanged = options.acceptChanged ?? false;
    // Who approves a plan answers for a grant, and needs no tools for that. The driver compares the tool before it goes on.
    if (!acceptChanged && stored.waiting.plan === undefined) checkToolUnchanged(executor, call, stored);
    const completion = answered.ok ? { ok: answered.ok, value: await fitting(executor, call, stored, answered.value) } : answered;
    const kept = withAnswer(suspended, { ...stored, completion, acceptChanged });
    const plans =
      stored.waiting.plan === undefined
        ? started.plans
        : await withPlan(completer, claimed.state, started, stored, completion, options);
    await coordinator.start({ ...started, suspended: kept, plans }, claimed);
    return waitingOf(started.turn, kept, stored.waiting.seq);
  } finally {
    await coordinator.release(claimed);
  }
}

/** The answers to plans of a turn, with another one. Throws {@link CallError} (`ERR_CALL_TYPE`) for a grant that is not narrower, and as {@link mustBeKnown}. */
async function withPlan(
  { keyring, coordinator }: Completer,
  state: SessionState,
  { turn, attempts, reply, plans = [] }: StartedTurn,
  { waiting }: StoredCall,
  completion: Completion,
  options: CompleteOptions,
): Promise<readonly SignedPlan[]> {
  const proposed = checkedGrant('the stored plan', waiting.plan);
  const isAllowed = completion.ok && completion.value === true;
  // The programs are what the person was shown, whatever a narrower form says of them.
  const grant = isAllowed
    ? { ...checkedGrant('the grant', options.grant === undefined ? proposed : options.grant), programs: proposed.programs }
    : null;
  const wider = grant === null ? null : widerThan(grant, proposed);
  if (wider !== null) throw new CallError('ERR_CALL_TYPE', `call ${PLAN}: a grant can only be narrowed: ${wider}`);
  const program = programDigest(readReply(sectionsOf(state), reply ?? ''));
  const signing = { attempt: attempts.length + 1, program, shown: grantDigest(proposed), grant };
  const signed = await signPlan(keyring, { sid: state.sid, turn }, signing);
  if (signed === null) throw new ConfigError('the approval of a plan is signed, and the fallback key cannot sign');
  await mustBeKnown(coordinator.store, signed.kid);
  return [...plans, signed];
}

/** Throws {@link ConfigError} when hosts drive the sessions of the store, and none of them knows the key: they would ask again. */
async function mustBeKnown({ hosts }: SessionStore, kid: string): Promise<void> {
  const known = ((await hosts?.list()) ?? []).filter(({ lives, kids }) => lives && kids.length > 0).map(({ kids }) => kids);
  if (known.length === 0 || known.some((kids) => kids.includes(kid))) return;
  throw new ConfigError(
    `call ${PLAN}: the answer would be signed with the key ${kid}, which no host of this store knows (they know ${known[0]?.join(', ')}): answer with the key file of the hosts`,
  );
}

/** The call of this id: of several that wait for plans, the first that nobody has answered. */
function callNamed(suspension: Suspension, turn: number, id: string): StoredCall | undefined {
  const named = storedCalls(suspension).filter(({ waiting }) => callId(turn, waiting) === id);
  return named.find(({ completion }) => completion === null) ?? named[0];
}

/** The suspension with the answer to one of its calls, and to all calls that wait for the same plan. */
function withAnswer(suspension: Suspension, answered: StoredCall): Suspension {
  const plan = planText(answered);
  const of = <Call extends StoredCall>(call: Call): Call =>
    call.waiting.seq === answered.waiting.seq || (plan !== null && planText(call) === plan)
      ? { ...call, completion: answered.completion, acceptChanged: answered.acceptChanged }
      : call;
  const { alsoWaiting } = suspension;
  return { ...of(suspension), alsoWaiting: alsoWaiting?.map(of) };
}

/** Throws {@link CallError} (`ERR_CALL_CHANGED`) when the definition of the called tool, or of a tool of the plan, has changed. */
export function checkToolUnchanged(executor: TurnExecutor, call: string, { waiting, promise, acceptChanged }: StoredCall): void {
  const now = promiseFor(executor, waiting);
  if (promise === null || promise === now || acceptChanged) return;
  const what =
    waiting.plan !== undefined
      ? 'a tool of the plan is missing, or has changed since the plan was shown'
      : now === null
        ? `the tool ${waiting.tool} is not there; go on with the tools it was called with`
        : `the tool ${waiting.tool} has changed since it was called`;
  throw new CallError('ERR_CALL_CHANGED', `call ${call}: ${what}`);
}

/** A copy of the result. Throws {@link CallError} (`ERR_CALL_TYPE`) for what is no value, or none that the tool promises. */
async function fitting(executor: TurnExecutor, call: string, { waiting }: StoredCall, result: unknown): Promise<TaggedJson> {
  const refuse = (problem: string): never => {
    throw new CallError('ERR_CALL_TYPE', `call ${call}: ${problem}`);
  };
  if (waiting.allows === true)
    return typeof result === 'boolean' ? result : refuse('answer true to allow it, or false to refuse it');
  const value = orRefused(() => taggedFrom(result), refuse);
  const misfit = (await executor.misfit?.(waiting.tool, value)) ?? null;
  return misfit === null ? value : refuse(misfit);
}

function orRefused<T>(make: () => T, refuse: (problem: string) => never): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof ValueError) return refuse(error.message);
    throw error;
  }
}

const ANSWER = z.union([
  // The executor checks the value.
  z.strictObject({ result: z.custom<TaggedJson>((value) => value !== undefined) }),
  z.strictObject({
    error: z.strictObject({ message: z.string().refine((text) => text.isWellFormed()), code: z.int().min(1).optional() }),
  }),
]);

/** An answer of any origin in the form that the dispatcher takes. Throws {@link ConfigError} for one of another form. */
export function completionOf(answer: CallAnswer): Completion {
  const { data } = ANSWER.safeParse(answer, FIRST_ISSUE);
  if (data === undefined)
    throw new ConfigError(
      'the answer to a call must be { result }, with a value, or { error: { message, code? } }, with a text and a whole number from 1',
    );
  if ('result' in data) return { ok: true, value: data.result };
  const { message, code = NS_CODES.ToolExecutionFailed } = data.error;
  return { ok: false, code, message };
}

/** The error for a call that does not wait: it was completed before, or it never existed. */
async function whyNotWaiting(coordinator: SessionCoordinator, { state, next }: DrivenSession, call: string): Promise<CallError> {
  const [, turn, seq] = /^([1-9]\d{0,8})\.([1-9]\d{0,8})$/.exec(call) ?? [];
  const unknown = new CallError(
    'ERR_CALL_UNKNOWN',
    `session ${JSON.stringify(state.sid)} has no call ${call.slice(0, 40)} that waits`,
  );
  if (turn === undefined || seq === undefined) return unknown;
  const record = (await coordinator.store.turns(state.sid)).find((each) => each.turn === Number(turn));
  const waits = next.kind === 'waiting' && next.started.turn === Number(turn) ? next.suspended.earlier.journal : [];
  const journal = record?.journal ?? waits;
  const entry = journal.find((each) => each.seq === Number(seq));
  if (entry !== undefined) return new CallError('ERR_CALL_COMPLETED', `call ${call} was answered before`);
  const waited = record?.error?.code === 'ERR_CALL_EXPIRED' || record?.error?.code === 'ERR_CANCELLED';
  if (!waited || Number(seq) > journal.length + limitOf('togetherCalls').max) return unknown;
  return record?.reason === 'ERR_CALL_EXPIRED'
    ? new CallError('ERR_CALL_EXPIRED', `call ${call} was not completed in time, and its session has ended`)
    : cancelled(call);
}

function cancelled(call: string): CallError {
  return new CallError('ERR_CALL_CANCELLED', `call ${call} no longer waits: its session was cancelled`);
}
