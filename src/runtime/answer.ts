import { usageError } from '../wire/errorinfo.ts';
import { ConfigError } from '../wire/errors.ts';
import { type RunRequest, requestFromJson } from '../wire/request.ts';
import type { RunResult } from '../wire/result.ts';
import { type PublicResult, refusedResult, toPublicResult } from '../wire/result.ts';
import type { InterpreterOptions, Runtime } from './runtime.ts';

/** How requests are answered. */
export interface AnswerOptions extends InterpreterOptions {
  readonly signal?: AbortSignal;
  /** Puts the journal into every result. */
  readonly journal?: boolean;
}

/**
 * One line of `run --jsonl` to its result: a fresh sandbox per request. A line that is no request, and limits that cannot
 * be, are results of phase `request` and kind `usage`. Rejects with `RuntimeClosedError` and `BusyError`.
 */
export async function answerRequest(runtime: Runtime, line: string, options: AnswerOptions = {}): Promise<PublicResult> {
  const { signal, journal = false, ...connection } = options;
  const outcome = requestFromJson(line);
  if (!outcome.ok) return toPublicResult(outcome.id, refusedResult(outcome.error), journal);
  const { request } = outcome;
  const result = await performRequest(runtime, request, connection, signal);
  return toPublicResult(request.id, result, journal);
}

async function performRequest(
  runtime: Runtime,
  request: RunRequest,
  connection: InterpreterOptions,
  signal: AbortSignal | undefined,
): Promise<RunResult> {
  const { src, lib, call, globals, events, limits } = request;
  const interpreter = runtime.interpreter(connection);
  const libraries = lib.map((text, index) => ({ name: index === 0 ? 'lib' : `lib${index + 1}`, text, definitions: true }));
  try {
    return await interpreter.fork({ limits }).perform({
      sources: [...libraries, { name: 'src', text: src }],
      globals,
      events,
      ...(call === null ? {} : { call }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (error instanceof ConfigError) return refusedResult(usageError(error.message));
    throw error;
  }
}
