import type { Completion } from '../../tools/index.ts';
import { decode } from '../../wire/codec.ts';
import { NS_CODES } from '../../wire/codes.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import { ValueError } from '../../wire/values.ts';
import type { Clock } from '../ports.ts';
import type { Keeper } from '../sessions/keeper.ts';
import type { ClaimedSession } from '../sessions/store.ts';
import type { TurnExecutor } from '../turn/executor.ts';
import { CallError } from './errors.ts';
import { callId, type Suspension, type Waiting, waitingOf } from './suspension.ts';

/** What a call is completed with: a result, as tagged JSON, or why there is none. */
export type CallAnswer =
  | { readonly result: TaggedJson }
  /** The script can catch it; `code` is one of the language, 21 when absent. */
  | { readonly error: { readonly message: string; readonly code?: number } };

/** How a call is completed. */
export interface CompleteOptions {
  /** Go on although the tool promises something else now than when it was called. */
  readonly acceptChanged?: boolean;
}

/** What completing takes. */
export interface Completer {
  readonly keeper: Keeper;
  readonly executor: TurnExecutor;
  readonly clock: Clock;
}

/**
 * Keeps the answer to a call that a session waits for; the session goes on when it is driven the next time. The caller
 * holds the session's lock. Throws {@link CallError}, and as `claim` of the store does.
 */
export async function completeCall(
  { keeper, executor, clock }: Completer,
  sid: string,
  call: string,
  answer: CallAnswer,
  options: CompleteOptions = {},
): Promise<Waiting> {
  const claimed = await keeper.claim(sid);
  try {
    const { started } = claimed;
    const suspension = started?.suspended ?? null;
    if (started === null || suspension === null || callId(started.turn, suspension.waiting) !== call)
      throw await whyNot(keeper, claimed, call);
    if (suspension.completion !== null) throw new CallError('ERR_CALL_COMPLETED', `call ${call} was completed before`);
    if (claimed.cancelled) throw cancelled(call);
    if (clock.now() >= suspension.expiresAt) throw expired(call, suspension);
    const acceptChanged = options.acceptChanged ?? false;
    if (!acceptChanged) mustBeUnchanged(executor, call, suspension);
    const completion = completionOf(answer);
    if (completion.ok) await mustFit(executor, call, suspension, completion.value);
    const completed = { ...suspension, completion, acceptChanged };
    await keeper.start({ ...started, suspended: completed });
    return waitingOf(started.turn, completed);
  } finally {
    await keeper.release(sid);
  }
}

/** Throws {@link CallError} (`ERR_CALL_CHANGED`) when a tool does not promise any more what it promised. */
export function mustBeUnchanged(executor: TurnExecutor, call: string, { waiting, promise, acceptChanged }: Suspension): void {
  const { tool } = waiting;
  const now = executor.promise?.(tool) ?? null;
  if (promise === null || promise === now || acceptChanged) return;
  const why =
    now === null ? 'is not there; go on with the tools it was called with' : 'promises something else than when it was called';
  throw new CallError('ERR_CALL_CHANGED', `call ${call}: the tool ${tool} ${why}`);
}

async function mustFit(executor: TurnExecutor, call: string, { waiting }: Suspension, value: TaggedJson): Promise<void> {
  const problem = unholdable(value) ?? (await executor.misfit?.(waiting.tool, value)) ?? null;
  if (problem !== null) throw new CallError('ERR_CALL_TYPE', `call ${call}: ${problem}`);
}

/** Why a value is none that a script can hold; null when it is one. */
function unholdable(value: TaggedJson): string | null {
  try {
    decode(value);
    return null;
  } catch (error) {
    if (error instanceof ValueError) return error.message;
    throw error;
  }
}

function completionOf(answer: CallAnswer): Completion {
  if ('result' in answer) return { ok: true, value: answer.result };
  return { ok: false, code: answer.error.code ?? NS_CODES.ToolExecutionFailed, message: answer.error.message };
}

/** Why there is no such call that waits: it is over, in one way or another, or never was. */
async function whyNot(keeper: Keeper, { state, started }: ClaimedSession, call: string): Promise<CallError> {
  const [, turn, seq] = /^([1-9]\d{0,8})\.([1-9]\d{0,8})$/.exec(call) ?? [];
  const unknown = new CallError(
    'ERR_CALL_UNKNOWN',
    `session ${JSON.stringify(state.sid)} has no call ${call.slice(0, 40)} that waits`,
  );
  if (turn === undefined || seq === undefined) return unknown;
  const record = (await keeper.store.turns(state.sid)).find((each) => each.turn === Number(turn));
  const open = started?.turn === Number(turn) ? started.suspended : null;
  const journal = record?.journal ?? open?.earlier.journal ?? [];
  const entry = journal.find((each) => each.seq === Number(seq));
  if (entry !== undefined) return new CallError('ERR_CALL_COMPLETED', `call ${call} was answered before`);
  const waited = record?.error?.code === 'ERR_CALL_EXPIRED' || record?.error?.code === 'ERR_CANCELLED';
  if (!waited || Number(seq) !== journal.length + 1) return unknown;
  return record?.reason === 'ERR_CALL_EXPIRED'
    ? new CallError('ERR_CALL_EXPIRED', `call ${call} was not completed in time, and its session has ended`)
    : cancelled(call);
}

function cancelled(call: string): CallError {
  return new CallError('ERR_CALL_CANCELLED', `call ${call} is not waited for any more: its session was cancelled`);
}

function expired(call: string, { expiresAt }: Suspension): CallError {
  return new CallError('ERR_CALL_EXPIRED', `call ${call} had to be completed until ${new Date(expiresAt).toISOString()}`);
}
