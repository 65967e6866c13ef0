import { quotaError, workerError } from '../wire/errorinfo.ts';
import type { ErrorInfo, ErrorKind } from '../wire/errors.ts';
import type { GuestResult, Phase, Usage, WorkerUsage } from '../wire/protocol.ts';
import type { Diagnostic, JudgedNames, LintFinding } from '../wire/sourcereports.ts';
import type { Measuring } from './measuring.ts';
import type { Gone } from './worker.ts';

/** The result of a run, made by its worker or by the host. */
export interface SandboxResult {
  readonly result: GuestResult;
  readonly usage: Usage;
  /** All syntax errors, when they are the reason why the program did not start. */
  readonly errors: readonly Diagnostic[];
  /** The calls for which its sources were rejected; absent when there are none. */
  readonly findings?: readonly LintFinding[] | undefined;
  /** What the findings depend on. */
  readonly names?: JudgedNames | undefined;
  /** False when the worker or its isolate was stopped from outside: output that it had gathered may be missing. */
  readonly outputComplete: boolean;
  /** Present for a measured run. */
  readonly measuring?: Measuring;
}

/** The host's measurements of a run. The host knows only the fuel of nested loops. */
export type Measured = Omit<WorkerUsage, 'peakMemoryBytes'>;

const NOTHING_MEASURED: Measured = { fuel: 0, wallMs: 0, cpuMs: 0, toolCalls: 0, outputBytes: 0 };

/** The result of a run that the worker could not report. Its memory and its own fuel are unknown and count as 0. */
export function lostResult(phase: Phase, error: ErrorInfo, measured: Measured): SandboxResult {
  const { fuel, toolCalls, outputBytes } = measured;
  const counted = { fuel, peakMemoryBytes: 0, toolCalls, outputBytes };
  const result: GuestResult = { ok: false, phase, result: null, eventErrors: [], error, ...counted };
  // A worker sends `started` together with later frames, so the program of a silent worker may have run.
  return { result, usage: { peakMemoryBytes: 0, ...measured, queueMs: 0 }, errors: [], outputComplete: phase === 'request' };
}

/** The result of a run that never got a worker. */
export function unstartedResult(error: ErrorInfo): SandboxResult {
  return lostResult('request', error, NOTHING_MEASURED);
}

/** A worker's result with the host's verdict in place of its error; only the position in the source is the worker's. */
export function withVerdict(result: GuestResult, verdict: ErrorInfo | null): GuestResult {
  if (verdict === null) return result;
  const reported = result.error;
  const place =
    reported?.code === verdict.code && reported.source !== null
      ? { source: reported.source, line: reported.line, column: reported.column, stack: reported.stack }
      : {};
  return { ...result, ok: false, result: null, error: { ...verdict, ...place } };
}

/** The codes without a number that the interpreter and the parser report, and their kinds. Only the host gives other codes. */
const REPORTABLE: ReadonlyMap<string, ErrorKind> = new Map<string, ErrorKind>([
  ['ERR_QUOTA', 'quota'],
  ['ERR_ENV_SIZE', 'quota'],
  ['ERR_TIMEOUT', 'timeout'],
  ['ERR_USAGE', 'usage'],
  ['ERR_INTERNAL', 'internal'],
]);
const LANGUAGE_KINDS: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['syntax', 'runtime', 'policy']);

/** Whether a worker may report an error of this code and kind. */
export function isReportable({ code, kind }: ErrorInfo): boolean {
  return code.startsWith('NS') ? LANGUAGE_KINDS.has(kind) : REPORTABLE.get(code) === kind;
}

/** What V8 writes before it ends a process that is out of memory, or that asks for a larger list than there can be. */
const OUT_OF_MEMORY = /out of memory|is_heap_oom|Allocation failed|Fatal JavaScript invalid size error/i;

/** The error of a run whose worker ended unexpectedly. */
export function crashError({ how, violation, stderr, outOfMemory }: Gone, memoryBytes: number): ErrorInfo {
  if (violation !== null) return workerError(`the worker process broke the protocol and was killed: ${violation}`);
  if (outOfMemory || OUT_OF_MEMORY.test(stderr)) {
    return quotaError(
      { limit: 'memoryBytes', allowed: memoryBytes },
      `the program needs more memory than ${memoryBytes} bytes; its worker process ran out of it`,
    );
  }
  const hint = how === 'signal SIGKILL' ? 'another process killed it; the system does so when memory is short' : lastLine(stderr);
  return workerError(`the worker process crashed: ${how}`, hint);
}

/** The most informative line of a crash report: the first that mentions an error, else the last. */
function lastLine(text: string): string | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const line = lines.find((candidate) => /error/i.test(candidate)) ?? lines.at(-1);
  return line === undefined ? undefined : `it last wrote: ${line.trim().slice(0, 300)}`;
}
