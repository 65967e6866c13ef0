import { quotaError, workerError } from '../wire/errorinfo.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import type { GuestResult, Phase, Usage } from '../wire/protocol.ts';
import type { SandboxResult } from './handlers.ts';
import type { Gone } from './worker.ts';

/** What the host itself has seen of a run whose worker cannot tell. */
export interface Seen {
  /** Of nested loops, which is all that is known. */
  readonly fuel: number;
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly toolCalls: number;
  readonly outputBytes: number;
}

const NOTHING_SEEN: Seen = { fuel: 0, wallMs: 0, cpuMs: 0, toolCalls: 0, outputBytes: 0 };

/** The result of a run that the worker could not report: memory and the script's own fuel are unknown and stand at 0. */
export function lostResult(phase: Phase, error: ErrorInfo, seen: Seen): SandboxResult {
  const { fuel, toolCalls, outputBytes } = seen;
  const usage: Usage = { peakMemoryBytes: 0, ...seen };
  const result: GuestResult = {
    ok: false,
    phase,
    result: null,
    eventErrors: [],
    error,
    fuel,
    peakMemoryBytes: 0,
    toolCalls,
    outputBytes,
  };
  // A worker tells of the start together with what comes after it: one that said nothing may have run the program all the same.
  return { result, usage, errors: [], outputComplete: phase === 'request' };
}

/** The result of a run that never got a worker. */
export function unstartedResult(error: ErrorInfo): SandboxResult {
  return lostResult('request', error, NOTHING_SEEN);
}

/** A worker's result under the host's own decision; of the worker's account only the place in the source is taken over. */
export function withVerdict(result: GuestResult, verdict: ErrorInfo | null): GuestResult {
  if (verdict === null) return result;
  const told = result.error;
  const place =
    told?.code === verdict.code && told.source !== null
      ? { source: told.source, line: told.line, column: told.column, stack: told.stack }
      : {};
  return { ...result, ok: false, result: null, error: { ...verdict, ...place } };
}

/** The error of a run whose worker died of itself. */
export function diedOf({ how, violation, stderr }: Gone, memoryBytes: number): ErrorInfo {
  if (violation !== null) return workerError(`the worker process broke the protocol and was killed: ${violation}`);
  if (/out of memory|is_heap_oom|Allocation failed/i.test(stderr)) {
    return quotaError(
      { limit: 'memoryBytes', allowed: memoryBytes },
      `the program needs more memory than ${memoryBytes} bytes; its worker process ran out of it`,
    );
  }
  const hint = how === 'signal SIGKILL' ? 'somebody else killed it: the system does when memory is short' : lastWords(stderr);
  return workerError(`the worker process crashed: ${how}`, hint);
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The line of a crash report that says most: the first that speaks of an error, else the last. */
function lastWords(text: string): string | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const line = lines.find((candidate) => /error/i.test(candidate)) ?? lines.at(-1);
  return line === undefined ? undefined : `its last words: ${line.trim().slice(0, 300)}`;
}
