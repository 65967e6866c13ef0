import { type ParseResult, parse } from '../../../grammar/index.ts';
import { boot } from '../../guest/main.ts';
import { tools as PURE } from '../../guest/pure/index.ts';
import type { SandboxPort } from '../../runtime/index.ts';
import { answerTogether, OpenCall, type RunHandlers, readWorkerFrame, type SandboxResult } from '../../sandbox/index.ts';
import type { Rejection } from '../../wire/admission.ts';
import type { CallIo, FinalReply } from '../../wire/call.ts';
import { cancelledError, timeoutError } from '../../wire/errorinfo.ts';
import { type ErrorInfo, RuntimeClosedError } from '../../wire/errors.ts';
import type { GuestCall, GuestInput, GuestResult, RunInput, Source, WorkerFrame } from '../../wire/protocol.ts';
import type { CheckReport, Diagnostic, ParsedFile } from '../../wire/sourcereports.ts';
import { plainMaps } from '../../wire/tagged.ts';
import { rejectionOf, unparsed } from '../../worker/admission.ts';
import { foreseeSources, formatSource } from '../../worker/check.ts';
import { summaryOf } from '../../worker/parser.ts';

type VarFrame = Extract<WorkerFrame, { readonly t: 'var' }>;
type CallFrame = Extract<WorkerFrame, { readonly t: 'tool' | 'prompt' | 'ask' | 'together' }>;

/** A parsed source: its JSON for the interpreter, and its summary for the host. */
type ParsedSource =
  | { readonly ok: true; readonly json: string; readonly summary: ParsedFile }
  | { readonly ok: false; readonly errors: readonly [Diagnostic, ...Diagnostic[]] };

/** Parsed sources by text. Schedules run the same few programs again and again. */
const parsed = new Map<string, ParsedSource>();
const MOST_PARSED = 2000;

const STOP = JSON.stringify({ t: 'halt', error: cancelledError('the program is run again as soon as there is an answer') });
/** Prefix of the JSON of a frame of output. */
const OUT = '{"t":"out"';

/**
 * The interpreter in this process, for one run. It cannot wait for an answer. So it runs the program again from its beginning with the
 * answers so far, and stops at the first frame without one. Programs are deterministic, so each run is the same up to there.
 */
class Rerun {
  readonly #input: string;
  readonly #handlers: RunHandlers;
  readonly #answers: string[] = [];
  /** Number of frames of output that the host has received. */
  #delivered = 0;

  constructor(input: string, handlers: RunHandlers) {
    this.#input = input;
    this.#handlers = handlers;
  }

  /** Runs the program until it needs an answer, and returns the frame that waits for it, or the result. */
  next(): { readonly frame: CallFrame | VarFrame } | { readonly result: GuestResult } {
    const waits: WorkerFrame[] = [];
    let answered = 0;
    let delivered = 0;
    const receive = (text: string): string => {
      if (text.startsWith(OUT)) {
        delivered += 1;
        if (delivered > this.#delivered && waits.length === 0) {
          this.#delivered = delivered;
          const frame = readWorkerFrame(JSON.parse(text));
          if (frame.t === 'out') this.#handlers.onOut(frame);
        }
        return '';
      }
      const answer = this.#answers[answered];
      answered += 1;
      if (answer !== undefined) return answer;
      waits.push(readWorkerFrame(JSON.parse(text)));
      return STOP;
    };
    const run = boot(
      () => 0,
      receive,
      () => '',
    );
    const text = run(this.#input, () => PURE);
    const [frame] = waits;
    if (frame === undefined) return { result: JSON.parse(text) };
    if (isCall(frame) || frame.t === 'var') return { frame };
    throw new TypeError('the interpreter waits at a frame that has no answer');
  }

  answer(reply: object): void {
    this.#answers.push(JSON.stringify(reply));
  }
}

function isCall(frame: WorkerFrame): frame is CallFrame {
  return frame.t === 'tool' || frame.t === 'prompt' || frame.t === 'ask' || frame.t === 'together';
}

/** The sandbox of a simulated process: the interpreter without a worker. Computing takes no time; waiting takes time of the world. */
export class WorldSandbox implements SandboxPort {
  readonly #onRun: (input: RunInput, session: string | null) => Disposable;
  #closed = false;

  /** `onRun` is called when a program begins; its result is disposed of when the program has ended. */
  constructor(onRun: (input: RunInput, session: string | null) => Disposable) {
    this.#onRun = onRun;
  }

  async run(input: RunInput, handlers: RunHandlers, signal?: AbortSignal): Promise<SandboxResult> {
    if (this.#closed) throw new RuntimeClosedError();
    const files: string[] = [];
    const summaries: ParsedFile[] = [];
    for (const source of input.sources) {
      const found = parsedSource(source, input.limits.sourceBytes);
      if (!found.ok) return refused(unparsed(input, found.errors));
      files.push(found.json);
      summaries.push(found.summary);
    }
    const rejection = rejectionOf(input, summaries);
    if (rejection !== null) return refused(rejection);
    using _run = this.#onRun(input, handlers.session ?? null);
    const over = new AbortController();
    const end = (error: ErrorInfo): void => over.abort(error);
    const cancel = (): void => end(cancelledError('the run was cancelled'));
    const { wallMs } = input.limits;
    const late = setTimeout(
      () => end(timeoutError({ limit: 'wallMs', allowed: wallMs }, `the run took longer than ${wallMs} ms`)),
      wallMs,
    );
    if (signal?.aborted === true) cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      const program = new Rerun(guestInput(input, files), handlers);
      handlers.onStarted?.();
      for (;;) {
        const after = program.next();
        if ('result' in after) return resultOf(after.result);
        if (after.frame.t === 'var') throw new TypeError('the interpreter answers a question that was not put');
        await answered(after.frame, program, handlers, over.signal);
      }
    } finally {
      clearTimeout(late);
      signal?.removeEventListener('abort', cancel);
    }
  }

  async parse(sources: readonly Source[], sourceBytes: number): Promise<Pick<CheckReport, 'diagnostics' | 'files'>> {
    const found = sources.map((source) => parsedSource(source, sourceBytes));
    return {
      diagnostics: found.flatMap((each) => (each.ok ? [] : each.errors)),
      files: found.flatMap((each) => (each.ok ? [each.summary] : [])),
    };
  }

  /** Only parses, because a host of a world needs no advice. */
  async check(sources: readonly Source[], sourceBytes: number): Promise<CheckReport> {
    return { ...(await this.parse(sources, sourceBytes)), findings: [], estimates: [] };
  }

  async foresee(...[sources, sourceBytes, options]: Parameters<SandboxPort['foresee']>): ReturnType<SandboxPort['foresee']> {
    return foreseeSources(sources, sourceBytes, options);
  }

  async format(...[source, sourceBytes]: Parameters<SandboxPort['format']>): ReturnType<SandboxPort['format']> {
    return formatSource(source, sourceBytes);
  }

  async close(): Promise<void> {
    this.#closed = true;
  }
}

/** Passes one call or several to the host. Queries of variables run the program again; the result is the answer, or the end of the run. */
function answered(frame: CallFrame, program: Rerun, handlers: RunHandlers, over: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const open = new OpenCall(
      (sent) => {
        program.answer(sent);
        if (sent.t !== 'var.get' && sent.t !== 'var.set' && sent.t !== 'const') return;
        const after = program.next();
        if ('frame' in after && after.frame.t === 'var') open.answered(after.frame);
        else reject(new TypeError('the interpreter does not answer a question about its variables'));
      },
      () => resolve(),
    );
    const halt = (): void => open.halt(over.reason);
    if (over.aborted) halt();
    over.addEventListener('abort', halt, { once: true });
    const onCall = (call: GuestCall, io: CallIo): Promise<FinalReply> => handlers.onCall(call, io);
    const reply = frame.t === 'together' ? answerTogether(frame.calls, open, onCall, () => {}) : onCall(frame, open);
    reply.then((found) => open.reply(found), reject);
  });
}

function parsedSource({ name, text, interactive = false }: Source, maxBytes: number): ParsedSource {
  const key = `${interactive} ${name}\n${text}`;
  const known = parsed.get(key);
  if (known !== undefined) return known;
  const result = parse(text, { name, maxBytes, interactive });
  const found: ParsedSource = result.ok
    ? { ok: true, json: JSON.stringify(result.file), summary: summaryOf(result.file) }
    : { ok: false, errors: withFile(result.errors, name) };
  if (parsed.size >= MOST_PARSED) parsed.clear();
  parsed.set(key, found);
  return found;
}

type ParseErrors = Extract<ParseResult, { readonly ok: false }>['errors'];

function withFile(errors: ParseErrors, file: string): [Diagnostic, ...Diagnostic[]] {
  const [first, ...rest] = errors.map((error): Diagnostic => ({ ...error, file }));
  if (first === undefined) throw new TypeError('a source without errors does not parse');
  return [first, ...rest];
}

function guestInput({ sources: _, admission: __, ...rest }: RunInput, files: readonly string[]): string {
  const head = JSON.stringify(rest satisfies Omit<GuestInput, 'files'>);
  return `${head.slice(0, -1)},"files":[${files.join(',')}]}`;
}

function resultOf(given: GuestResult): SandboxResult {
  const result = { ...given, result: plainMaps(given.result) };
  const { fuel, peakMemoryBytes, toolCalls, outputBytes } = result;
  const usage = { fuel, cpuMs: 0, wallMs: 0, peakMemoryBytes, toolCalls, outputBytes, queueMs: 0 };
  return { result, usage, errors: [], outputComplete: true };
}

function refused({ phase, error, errors = [], findings }: Rejection): SandboxResult {
  const none = { fuel: 0, peakMemoryBytes: 0, toolCalls: 0, outputBytes: 0 };
  const result: GuestResult = { ok: false, phase, result: null, eventErrors: [], error, ...none };
  return { result, usage: { ...none, cpuMs: 0, wallMs: 0, queueMs: 0 }, errors, findings, outputComplete: true };
}
