import type { FinalReply } from '../../wire/call.ts';
import { encode, encodeInPieces } from '../../wire/codec.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { quotaError, shorten, workerError } from '../../wire/errorinfo.ts';
import { MAX_FRAME_VALUES } from '../../wire/frames.ts';
import type { JournalOutcome } from '../../wire/journal.ts';
import { inPieces, isHeavy, isLight } from '../../wire/pieces.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import { messageOf } from '../../wire/unknown.ts';
import { TooLargeError, ValueError } from '../../wire/values.ts';
import type { ToolDefinition } from '../define/definition.ts';
import { Halt, ToolError } from '../errors.ts';
import { ownRound } from './large.ts';

/** An answer as the journal keeps it. */
export function outcomeOf(reply: FinalReply): JournalOutcome {
  return reply.t === 'ok' ? { ok: true, value: reply.value } : failureOf(reply);
}

/** An answer without a value as the journal keeps it. */
export function failureOf(reply: Exclude<FinalReply, { t: 'ok' }>): Exclude<JournalOutcome, { ok: true }> {
  if (reply.t === 'halt') return { ok: false, halted: reply.error };
  const { code, message, hint } = reply;
  return { ok: false, code, message, hint };
}

/** The answer to a call that failed. An error that is neither {@link ToolError} nor {@link Halt} is a fault of the host. */
export function replyFor(error: unknown): FinalReply {
  if (error instanceof Halt) return { t: 'halt', error: error.info };
  if (error instanceof ToolError) {
    const code = Number.isSafeInteger(error.nsCode) && error.nsCode >= 0 ? error.nsCode : NS_CODES.ToolExecutionFailed;
    return {
      t: 'error',
      code,
      message: shorten(error.message),
      hint: typeof error.hint === 'string' ? shorten(error.hint) : undefined,
    };
  }
  return { t: 'halt', error: workerError(`a tool call failed inside the host: ${shorten(messageOf(error))}`) };
}

/** The exception of a tool as an error of the language, without its stack. A tool that made the call must not make it again in its turn. */
export function translate(tool: ToolDefinition, error: unknown, tries: number): Error {
  if (error instanceof ToolError && error.retryAfterMs !== null) {
    const { nsCode, message, hint, cause } = error;
    return new ToolError(nsCode, tries > 1 ? `${message} (tried ${tries} times)` : message, hint, { cause });
  }
  if (error instanceof Halt || error instanceof ToolError) return error;
  const message = `tool '${tool.canonicalName}' failed: ${messageOf(error)}`;
  return new ToolError(NS_CODES.ToolExecutionFailed, message, undefined, { cause: error });
}

/**
 * Encodes a value, a large one in pieces. Rejects with {@link ToolError} `code`, with `what` before the problem, for a value that no
 * script can hold. Rejects with {@link Halt}, which no script can catch, for one that breaches `toolBytes` or has more values than a
 * frame may have.
 */
export async function encodeAs(code: number, what: string, value: unknown, maxBytes: number): Promise<TaggedJson> {
  try {
    if (isHeavy(value)) return await inPieces(encodeInPieces(value, maxBytes, MAX_FRAME_VALUES), ownRound);
    if (!isLight(value)) await ownRound();
    return encode(value, maxBytes, MAX_FRAME_VALUES);
  } catch (cause) {
    if (cause instanceof TooLargeError) throw tooLarge(what, maxBytes, cause.message);
    if (!(cause instanceof ValueError)) throw cause;
    throw new ToolError(code, `${what}: ${cause.message}`, undefined, { cause });
  }
}

/** The end of a run with a value that breaches `toolBytes`. */
export function tooLarge(what: string, allowed: number, problem = `the value is larger than ${allowed} bytes of JSON`): Halt {
  return new Halt(quotaError({ limit: 'toolBytes', allowed }, `${what}: ${problem}`));
}
