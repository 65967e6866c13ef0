import { usageError } from '../wire/errorinfo.ts';
import { ConfigError } from '../wire/errors.ts';
import type { OutFrame } from '../wire/protocol.ts';
import { type PublicResult, type RequestId, type RunResult, refusedResult, toPublicResult } from '../wire/result.ts';
import type { Fork } from './fork.ts';
import { type RequestLine, requestFromJson } from './line.ts';
import type { RunRequest } from './request.ts';
import { type InterpreterOptions, librarySources, type Runtime } from './runtime.ts';
import type { TenantInit } from './tenants.ts';

/** Options of answering requests. */
export interface AnswerOptions extends InterpreterOptions {
  /** Cancels the run. */
  readonly signal?: AbortSignal | undefined;
  /** The tenant of the request, as in `RunOptions`. */
  readonly tenant?: string | TenantInit | undefined;
  /** Receives what the program emits and whispers, as it comes. */
  readonly onOut?: ((out: OutFrame) => void) | undefined;
  /** Marks keys, as in `RunSettings`. */
  readonly markedKeys?: boolean;
  /** Puts the journal into every result. */
  readonly journal?: boolean;
}

/**
 * Answers one line of `run --jsonl`, each in a fresh sandbox. A line that is no request, and invalid limits, give a result of phase
 * `request` and kind `usage`. Rejects with `ConfigError` for an invalid tenant, with `RuntimeClosedError` and `BusyError`.
 */
export async function answerRequest(runtime: Runtime, line: string, options: AnswerOptions = {}): Promise<PublicResult> {
  const { signal, tenant, onOut, markedKeys = false, journal = false, ...connection } = options;
  using turn = tenant === undefined ? null : runtime.turn({ tenant: runtime.tenant(tenant).id });
  const fork = runtime.interpreter(connection).fork(turn === null ? {} : { turn });
  const { id, result } = await runLine(fork, line, {
    markedKeys,
    signal,
    onOut,
  });
  return toPublicResult(id, result, journal);
}

/** The settings of a run that are not in its line. */
type LineSettings = Pick<RunRequest, 'signal' | 'onOut' | 'onCall' | 'onInput' | 'mayWait' | 'markedKeys'>;

/** Runs one line of `run --jsonl` in a fork. Resolves and rejects as {@link answerRequest}. */
export async function runLine(fork: Fork, line: string, settings: LineSettings): Promise<{ id: RequestId; result: RunResult }> {
  const outcome = requestFromJson(line);
  if (!outcome.ok) return { id: outcome.id, result: refusedResult(outcome.error) };
  const { request } = outcome;
  return { id: request.id, result: await fork.runRequest({ ...runRequestOf(request), ...settings }).catch(refused) };
}

/** The run that a request asks for. */
export function runRequestOf({ src, lib, call, globals, events, limits }: RequestLine): RunRequest {
  const sources = [...librarySources(lib), { name: 'src', text: src }];
  return { sources, globals, events, limits, ...(call === null ? {} : { call }) };
}

function refused(error: unknown): RunResult {
  if (error instanceof ConfigError) return refusedResult(usageError(error.message));
  throw error;
}
