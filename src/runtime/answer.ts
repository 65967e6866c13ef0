import { usageError } from '../wire/errorinfo.ts';
import { ConfigError } from '../wire/errors.ts';
import { type RequestLine, requestFromJson } from '../wire/request.ts';
import { type PublicResult, type RunResult, refusedResult, toPublicResult } from '../wire/result.ts';
import type { RunRequest, RunSettings } from './request.ts';
import { type InterpreterOptions, librarySources, type Runtime } from './runtime.ts';

/** How requests are answered. */
export interface AnswerOptions extends InterpreterOptions, Pick<RunSettings, 'signal' | 'onOut' | 'onCall'> {
  /** Puts the journal into every result. */
  readonly journal?: boolean;
}

/**
 * Answers one line of `run --jsonl`, each in a fresh sandbox. A line that is no request, and limits that cannot be, give a result of
 * phase `request` and kind `usage`. Rejects with `RuntimeClosedError` and `BusyError`.
 */
export async function answerRequest(runtime: Runtime, line: string, options: AnswerOptions = {}): Promise<PublicResult> {
  const { signal, onOut, onCall, journal = false, ...connection } = options;
  const outcome = requestFromJson(line);
  if (!outcome.ok) return toPublicResult(outcome.id, refusedResult(outcome.error), journal);
  const settings = {
    ...(signal === undefined ? {} : { signal }),
    ...(onOut === undefined ? {} : { onOut }),
    ...(onCall === undefined ? {} : { onCall }),
  };
  const fork = runtime.interpreter(connection).fork();
  const result = await fork.runRequest({ ...requestOf(outcome.request), ...settings }).catch(refused);
  return toPublicResult(outcome.request.id, result, journal);
}

function requestOf({ src, lib, call, globals, events, limits }: RequestLine): RunRequest {
  const sources = [...librarySources(lib), { name: 'src', text: src }];
  return { sources, globals, events, limits, ...(call === null ? {} : { call }) };
}

function refused(error: unknown): RunResult {
  if (error instanceof ConfigError) return refusedResult(usageError(error.message));
  throw error;
}
