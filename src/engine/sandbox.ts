import { parse } from '../../grammar/index.ts';
import { answerTogether, OpenCall, type RunHandlers, readWorkerFrame, type SandboxResult } from '../sandbox/index.ts';
import type { Rejection } from '../wire/admission.ts';
import type { CallIo, FinalReply } from '../wire/call.ts';
import { cancelledError, timeoutError, workerError } from '../wire/errorinfo.ts';
import { type ErrorInfo, RuntimeClosedError } from '../wire/errors.ts';
import type { ForeseeOptions, GuestCall, GuestReply, GuestResult, RunInput, Source, WorkerFrame } from '../wire/protocol.ts';
import type { CheckReport, ForeseenReport, FormatReport } from '../wire/sourcereports.ts';
import { plainMaps } from '../wire/tagged.ts';
import { rejectionOf, unparsed } from '../worker/admission.ts';
import { foreseeSources, formatSource } from '../worker/check.ts';
import { Parser, pureCalls, type Tree } from '../worker/parser.ts';
import { guestInput, partOf } from '../worker/run.ts';
import { runInRealm } from './realm.ts';

type VarFrame = Extract<WorkerFrame, { readonly t: 'var' }>;
type CallFrame = Extract<WorkerFrame, { readonly t: 'tool' | 'prompt' | 'ask' | 'together' }>;

/** All sandboxes parse the same few programs again and again. */
const parser = new Parser(parse);

const STOP: GuestReply = { t: 'halt', error: cancelledError('the program is run again as soon as there is an answer') };

/**
 * A program in this realm whose calls are answered later. The interpreter cannot wait. So it runs the program again from its beginning with
 * the answers so far, and stops at the first question without one. Programs are deterministic, so each run is the same up to there.
 */
class Rerun {
  readonly #input: string;
  readonly #trees: readonly Tree[];
  readonly #handlers: RunHandlers;
  readonly #answers: GuestReply[] = [];
  /** Number of frames of output that the host has received. */
  #delivered = 0;

  constructor(input: RunInput, trees: readonly Tree[], handlers: RunHandlers) {
    this.#input = guestInput(input, trees, pureCalls(input.pure ?? [], trees));
    this.#trees = trees;
    this.#handlers = handlers;
  }

  /** Runs the program until it needs an answer, and returns the frame that waits for it, or the result. */
  next(): { readonly frame: CallFrame | VarFrame } | { readonly result: GuestResult } {
    const waits: (CallFrame | VarFrame)[] = [];
    let answered = 0;
    let delivered = 0;
    const result = runInRealm(this.#input, {
      onOut: (out) => {
        delivered += 1;
        if (delivered <= this.#delivered || waits.length > 0) return;
        this.#delivered = delivered;
        const frame = readWorkerFrame(out);
        if (frame.t === 'out') this.#handlers.onOut(frame);
      },
      answer: (question) => {
        const answer = this.#answers[answered];
        answered += 1;
        if (answer !== undefined) return answer;
        const frame = readWorkerFrame(question);
        if (!isCall(frame) && frame.t !== 'var') throw new TypeError('the interpreter waits at a frame that has no answer');
        waits.push(frame);
        return STOP;
      },
      tree: (file, part) => partOf(this.#trees, file, part),
    });
    const [frame] = waits;
    return frame === undefined ? { result } : { frame };
  }

  answer(reply: GuestReply): void {
    this.#answers.push(reply);
  }
}

function isCall(frame: WorkerFrame): frame is CallFrame {
  return frame.t === 'tool' || frame.t === 'prompt' || frame.t === 'ask' || frame.t === 'together';
}

/** Called when a program begins; its result is disposed of when the program has ended. */
type OnRun = (input: RunInput, session: string | null) => Disposable;

/** Called before each part of a program, up to its next call: true ends the run as the death of a worker process does. */
type IsKilled = (input: RunInput) => boolean;

/**
 * A sandbox in this realm, for tests: the interpreter without a worker, whose calls may take any time. Frames, their checks and open calls
 * are real. Computing takes no time.
 */
export class RealmSandbox {
  readonly #onRun: OnRun;
  readonly #isKilled: IsKilled;
  #closed = false;

  constructor(onRun: OnRun = () => ({ [Symbol.dispose]() {} }), isKilled: IsKilled = () => false) {
    this.#onRun = onRun;
    this.#isKilled = isKilled;
  }

  async run(input: RunInput, handlers: RunHandlers, signal?: AbortSignal): Promise<SandboxResult> {
    if (this.#closed) throw new RuntimeClosedError();
    const parsed = parser.trees(input.sources, input.limits.sourceBytes);
    if (!parsed.ok) return refused(unparsed(input, parsed.errors));
    const rejection = rejectionOf(input, parsed.trees);
    if (rejection !== null) return refused(rejection);
    using _run = this.#onRun(input, handlers.session ?? null);
    const { wallMs } = input.limits;
    const late = timeoutError({ limit: 'wallMs', allowed: wallMs }, `the run took longer than ${wallMs} ms`);
    using over = new RunEnd(wallMs, late, signal);
    const program = new Rerun(input, parsed.trees, handlers);
    handlers.onStarted?.();
    for (;;) {
      if (this.#isKilled(input)) return killed();
      const after = program.next();
      if ('result' in after) return resultOf(after.result);
      if (after.frame.t === 'var') throw new TypeError('the interpreter answers a question that was not put');
      await answered(after.frame, program, handlers, over.signal);
    }
  }

  async parse(sources: readonly Source[], sourceBytes: number): Promise<Pick<CheckReport, 'diagnostics' | 'files'>> {
    return parser.summaries(sources, sourceBytes);
  }

  /** Only parses, because a host of a test needs no advice. */
  async check(sources: readonly Source[], sourceBytes: number): Promise<CheckReport> {
    return { ...(await this.parse(sources, sourceBytes)), findings: [], estimates: [] };
  }

  async foresee(sources: readonly Source[], sourceBytes: number, options: ForeseeOptions): Promise<ForeseenReport> {
    return foreseeSources(sources, sourceBytes, options);
  }

  async format(source: Source, sourceBytes: number): Promise<FormatReport> {
    return formatSource(source, sourceBytes);
  }

  async close(): Promise<void> {
    this.#closed = true;
  }
}

/** The end of what a run waits for: a limit of time, or the cancellation of the run. */
export class RunEnd implements Disposable {
  readonly #over = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #signal: AbortSignal | undefined;
  readonly #cancel = (): void => this.#over.abort(cancelledError('the run was cancelled'));

  /** `late` is the error when `ms` have passed. */
  constructor(ms: number, late: ErrorInfo, signal: AbortSignal | undefined) {
    this.#timer = setTimeout(() => this.#over.abort(late), ms);
    this.#signal = signal;
    if (signal?.aborted === true) this.#cancel();
    signal?.addEventListener('abort', this.#cancel, { once: true });
  }

  /** Aborted with an `ErrorInfo` as its reason. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#cancel);
  }
}

/** Passes one call or several to the host. Queries of variables run the program again; the result is the answer, or the end of the run. */
function answered(frame: CallFrame, program: Rerun, handlers: RunHandlers, over: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const open = new OpenCall({
      send: (sent) => {
        program.answer(sent);
        if (sent.t !== 'var.get' && sent.t !== 'var.set' && sent.t !== 'const') return;
        const after = program.next();
        if ('frame' in after && after.frame.t === 'var') open.answered(after.frame);
        else reject(new TypeError('the interpreter does not answer a question about its variables'));
      },
      closed: () => resolve(),
    });
    const halt = (): void => open.halt(over.reason);
    if (over.aborted) halt();
    over.addEventListener('abort', halt, { once: true });
    const onCall = (call: GuestCall, io: CallIo): Promise<FinalReply> => handlers.onCall(call, io);
    const reply = frame.t === 'together' ? answerTogether(frame.calls, open, onCall) : onCall(frame, open);
    reply.then((found) => open.reply(found), reject);
  });
}

function resultOf(given: GuestResult): SandboxResult {
  const result = { ...given, result: plainMaps(given.result) };
  const { fuel, peakMemoryBytes, toolCalls, outputBytes } = result;
  const usage = { fuel, cpuMs: 0, wallMs: 0, peakMemoryBytes, toolCalls, outputBytes, queueMs: 0 };
  return { result, usage, errors: [], outputComplete: true };
}

function killed(): SandboxResult {
  return { ...refused({ phase: 'exec', error: workerError('the worker process was killed') }), outputComplete: false };
}

function refused({ phase, error, errors = [], findings }: Rejection): SandboxResult {
  const none = { fuel: 0, peakMemoryBytes: 0, toolCalls: 0, outputBytes: 0 };
  const result: GuestResult = { ok: false, phase, result: null, eventErrors: [], error, ...none };
  return { result, usage: { ...none, cpuMs: 0, wallMs: 0, queueMs: 0 }, errors, findings, outputComplete: true };
}
