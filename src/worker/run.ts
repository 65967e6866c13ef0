import { internalError, quotaError } from '../wire/errorinfo.ts';
import type { ErrorInfo, ErrorKind } from '../wire/errors.ts';
import type { LimitValues } from '../wire/limits.ts';
import type { GuestInput, GuestResult, RunInput, WorkerUsage } from '../wire/protocol.ts';
import { grouped } from '../wire/text/grouped.ts';
import { messageOf } from '../wire/unknown.ts';
import { Bridge, type HostPort } from './bridge.ts';
import type { GuestPorts, Prepared } from './image.ts';
import { nowMs } from './node.ts';
import type { Tree } from './parser.ts';

/** The end of a run, for the `result` frame. */
export interface Ended {
  readonly result: GuestResult;
  readonly usage: WorkerUsage;
  readonly last: boolean;
}

/** Kinds of errors after which an isolate serves another run: the program or its request is wrong, and nothing was exceeded. */
const ORDINARY: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['syntax', 'runtime', 'policy', 'usage']);

/**
 * The time after which V8 stops a program that does not check the clocks, which needs a bug in the interpreter. V8 counts elapsed time,
 * so a program on a busy machine needs room. On Linux the host stops such a program first, by the CPU time of the process.
 */
const v8TimeoutMs = ({ cpuMs }: LimitValues): number => cpuMs * 4 + 250;

/** One run in a prepared isolate, from `started` to its result. */
export class Run implements GuestPorts {
  readonly #prepared: Prepared;
  readonly #input: RunInput;
  readonly #limits: LimitValues;
  readonly #bridge: Bridge;
  readonly #trees: readonly Tree[];
  readonly #startCpu: number;
  readonly #startWall = nowMs();

  /** `startCpu` is the CPU time that the isolate has used before, milliseconds. */
  constructor(prepared: Prepared, startCpu: number, input: RunInput, port: HostPort, trees: readonly Tree[]) {
    this.#prepared = prepared;
    this.#startCpu = startCpu;
    this.#input = input;
    this.#limits = input.limits;
    this.#trees = trees;
    this.#bridge = new Bridge(port, input);
  }

  /** Whether the isolate may serve another run after this end: nothing was exceeded, halted or broken. */
  isClean({ result: { error }, last }: Ended): boolean {
    return !last && !this.#bridge.halted && this.#bridge.breach === null && (error === null || ORDINARY.has(error.kind));
  }

  clock(measured: boolean): number {
    const elapsed = nowMs() - this.#startWall;
    if (measured) return Math.floor(elapsed * 1000);
    if (this.#bridge.breach !== null) return 1;
    // A program computes on one thread, so its CPU time is at most the elapsed time. Reading the CPU time takes longer than a statement.
    const most = elapsed + this.#bridge.nestedCpuMs;
    if (most >= this.#limits.cpuMs && this.#cpuMs() >= this.#limits.cpuMs) return 1;
    return elapsed >= this.#limits.wallMs ? 2 : 0;
  }

  /** CPU time of the isolate and of its nested loops, milliseconds. */
  #cpuMs(): number {
    return this.#prepared.cpuMs - this.#startCpu + this.#bridge.nestedCpuMs;
  }

  host(frame: unknown, follows: boolean): string {
    return this.#bridge.pass(frame, follows);
  }

  tree(file: unknown, part: unknown): string {
    return partOf(this.#trees, file, part);
  }

  /**
   * Runs the program, which calls these pure tools, to its end. Does not throw: a failure of the isolate is a result with an error.
   */
  execute(pure: readonly string[]): Ended {
    const outcome = this.#apply(guestInput(this.#input, this.#trees, pure));
    const breach = this.#bridge.breach ?? outcome.breach;
    const wallMs = nowMs() - this.#startWall;
    const ended = breach === null ? outcome.result : { ...outcome.result, ok: false, error: breach };
    const result = { ...ended, error: measured(ended.error, { cpuMs: outcome.cpuMs, wallMs }) };
    const { fuel, peakMemoryBytes, toolCalls, outputBytes } = result;
    const usage: WorkerUsage = { fuel, cpuMs: outcome.cpuMs, wallMs, peakMemoryBytes, toolCalls, outputBytes };
    return { result, usage, last: outcome.last };
  }

  #apply(input: string): { result: GuestResult; breach: ErrorInfo | null; last: boolean; cpuMs: number } {
    let text: unknown;
    try {
      text = this.#prepared.run(input, v8TimeoutMs(this.#limits));
    } catch (error) {
      return this.#broken(error);
    }
    const used = this.#cpuMs();
    const result = typeof text === 'string' ? readResult(text) : null;
    if (result !== null) return { result, breach: null, last: false, cpuMs: used };
    const breach = internalError('the interpreter ended without a result');
    return { result: NO_RESULT, breach, last: true, cpuMs: used };
  }

  /** The result when the isolate threw, exceeded its heap limit, or was stopped by V8. Its state cannot be trusted any more. */
  #broken(error: unknown): { result: GuestResult; breach: ErrorInfo; last: boolean; cpuMs: number } {
    const message = messageOf(error);
    const elapsed = nowMs() - this.#startWall - this.#bridge.waitedMs;
    const used = this.#prepared.lost ? elapsed + this.#bridge.nestedCpuMs : this.#cpuMs();
    const end = (breach: ErrorInfo) => ({ result: NO_RESULT, breach, last: true, cpuMs: used });
    if (this.#prepared.lost || /memory limit|allocation failed/.test(message)) {
      const allowed = this.#limits.memoryBytes;
      return end(quotaError({ limit: 'memoryBytes', allowed }, `the program needs more memory than ${grouped(allowed)} bytes`));
    }
    if (message === 'Script execution timed out.') {
      const allowed = this.#limits.cpuMs;
      const ran = Math.round(elapsed);
      return end(
        quotaError(
          { limit: 'cpuMs', allowed, used: ran },
          `the program ran for ${grouped(ran)} ms, ${grouped(allowed)} ms are allowed`,
        ),
      );
    }
    return end(internalError(`the interpreter failed: ${message.slice(0, 500)}`));
  }
}

/** Adds the time used to an error of a time limit. The interpreter has no clock and knows only that the time is over. */
function measured(error: ErrorInfo | null, spent: Readonly<Record<string, number>>): ErrorInfo | null {
  const used = spent[error?.limit ?? ''];
  return error === null || used === undefined ? error : { ...error, used: Math.max(error.allowed ?? 0, Math.round(used)) };
}

/** The result of a run whose interpreter ended without one. */
const NO_RESULT: GuestResult = {
  ok: false,
  phase: 'exec',
  result: null,
  eventErrors: [],
  error: null,
  fuel: 0,
  peakMemoryBytes: 0,
  toolCalls: 0,
  outputBytes: 0,
};

/** The JSON of one part of a file; empty for unknown numbers. */
export function partOf(trees: readonly Tree[], file: unknown, part: unknown): string {
  return typeof file === 'number' && typeof part === 'number' ? (trees[file]?.parts[part] ?? '') : '';
}

/** The JSON of limits, which many runs share. */
const limitTexts = new WeakMap<LimitValues, string>();

/**
 * The JSON of a `GuestInput`, with the pure tools that the program calls. The trees are inserted as JSON, because parsing and writing them
 * again would cost more than a small run.
 */
export function guestInput(input: RunInput, trees: readonly Tree[], pure: readonly string[]): string {
  const { sources: _, admission: __, pure: ___, limits, ...rest } = input;
  const own: Omit<GuestInput, 'files' | 'limits'> = pure.length === 0 ? rest : { ...rest, pure };
  const head = JSON.stringify(own);
  const bounds = limitTexts.get(limits) ?? JSON.stringify(limits);
  limitTexts.set(limits, bounds);
  return `${head.slice(0, -1)},"limits":${bounds},"files":[${trees.map(({ head }) => head).join(',')}]}`;
}

/** The guest's result; null when the text is none. The host checks every field. */
function readResult(text: string): GuestResult | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || !('ok' in value) || !('fuel' in value)) return null;
    return value as GuestResult;
  } catch {
    return null;
  }
}
