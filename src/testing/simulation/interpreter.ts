import { type ParseResult, parse } from '../../../grammar/index.ts';
import { boot } from '../../guest/main.ts';
import { tools as PURE } from '../../guest/pure/index.ts';
import type { SandboxPort } from '../../runtime/index.ts';
import type { RunHandlers, SandboxResult } from '../../sandbox/index.ts';
import type { CallIo, ClosingReply } from '../../wire/call.ts';
import { cancelledError, timeoutError } from '../../wire/errorinfo.ts';
import { type ErrorInfo, RuntimeClosedError } from '../../wire/errors.ts';
import type { ForkQuery } from '../../wire/journal.ts';
import { plainMaps } from '../../wire/maporder.ts';
import type {
  BranchEnd,
  GuestCall,
  GuestFrame,
  GuestInput,
  GuestReply,
  GuestResult,
  RunInput,
  Source,
  TogetherFrame,
} from '../../wire/protocol.ts';
import type { CheckReport, Diagnostic, ParsedFile } from '../../wire/sourcereports.ts';
import { foreseeSources, formatSource } from '../../worker/check.ts';
import { summaryOf, syntaxError } from '../../worker/parser.ts';

type CallFrame = GuestCall | TogetherFrame;
type VarFrame = Extract<GuestFrame, { readonly t: 'var' }>;

/** A parsed source: as JSON for the interpreter, and as the host sees it. */
type ParsedSource =
  | { readonly ok: true; readonly json: string; readonly summary: ParsedFile }
  | { readonly ok: false; readonly errors: readonly [Diagnostic, ...Diagnostic[]] };

/** Parsed sources by text. Schedules run the same few programs again and again. */
const parsed = new Map<string, ParsedSource>();
const MOST_PARSED = 2000;

const STOP: GuestReply = { t: 'halt', error: cancelledError('the program is run again as soon as there is an answer') };

/**
 * The interpreter in this process, for one run. It cannot wait for an answer, so it runs the program again from its beginning with the
 * answers so far, and stops at the first frame that has none. Programs are deterministic, so each time the same happens up to there.
 */
class Rerun {
  readonly #input: string;
  readonly #handlers: RunHandlers;
  readonly #answers: string[] = [];
  /** Frames of output that the host has got. */
  #delivered = 0;

  constructor(input: string, handlers: RunHandlers) {
    this.#input = input;
    this.#handlers = handlers;
  }

  /** Runs the program until it needs an answer, and returns the frame that waits for it, or the result. */
  next(): { readonly frame: CallFrame | VarFrame } | { readonly result: GuestResult } {
    const waits: GuestFrame[] = [];
    let answered = 0;
    let delivered = 0;
    const receive = (text: string): string => {
      const frame: GuestFrame = JSON.parse(text);
      if (frame.t === 'out') {
        delivered += 1;
        if (delivered > this.#delivered && waits.length === 0) {
          this.#delivered = delivered;
          this.#handlers.onOut({ ...frame, values: frame.values.map(plainMaps) });
        }
        return '';
      }
      const answer = this.#answers[answered];
      answered += 1;
      if (answer !== undefined) return answer;
      waits.push(frame);
      return JSON.stringify(STOP);
    };
    const run = boot(
      () => 0,
      receive,
      () => '',
    );
    const text = run(this.#input, () => PURE);
    const [frame] = waits;
    if (frame === undefined) return { result: JSON.parse(text) };
    if (frame.t === 'out' || frame.t === 'probe') throw new TypeError('the interpreter waits at a frame that has no answer');
    return { frame };
  }

  answer(reply: GuestReply): void {
    this.#answers.push(JSON.stringify(reply));
  }

  /** Puts a question about variables to the program, which stands at a call. */
  ask(query: ForkQuery): VarFrame {
    this.answer(query);
    const after = this.next();
    if ('frame' in after && after.frame.t === 'var') return after.frame;
    throw new RuntimeClosedError('the call is over: its variables cannot be reached any more');
  }
}

/** The sandbox of a simulated process: the interpreter without a worker. What computes takes no time here; what waits takes that of the world. */
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
    for (const source of input.sources) {
      const found = parsedSource(source, input.limits.sourceBytes);
      if (!found.ok) return refused(syntaxError(found.errors[0]), found.errors);
      files.push(found.json);
    }
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
        program.answer(await answerOf(after.frame, program, handlers, over.signal));
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

  /** Parses alone: a host of a world needs no advice. */
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

/** The host's answer to a frame of one call or several; that of the end of the run when it comes first. */
async function answerOf(frame: CallFrame, program: Rerun, handlers: RunHandlers, over: AbortSignal): Promise<ClosingReply> {
  const ended = new Promise<ClosingReply>((resolve) => {
    const halt = (): void => resolve({ t: 'halt', error: over.reason });
    if (over.aborted) halt();
    over.addEventListener('abort', halt, { once: true });
  });
  if (frame.t !== 'together') return Promise.race([ended, handlers.onCall(frame, ioOf(program, over))]);
  const ends = frame.calls.map(async (call): Promise<BranchEnd | ClosingReply> => {
    const reply = await handlers.onCall(call, ioOf(null, over));
    if (reply.t === 'ok') return { value: reply.value };
    return reply.t === 'error' ? { code: reply.code, message: reply.message } : reply;
  });
  const all = Promise.all(ends).then((found): ClosingReply => {
    const halted = found.find((each): each is ClosingReply => 't' in each);
    return halted ?? { t: 'all', ends: found.filter((each): each is BranchEnd => !('t' in each)) };
  });
  return Promise.race([ended, all]);
}

/** Access to the program of an open call; none to that of calls that run together. */
function ioOf(program: Rerun | null, signal: AbortSignal): CallIo {
  const queries: ForkQuery[] = [];
  const ask = async (query: ForkQuery): Promise<VarFrame> => {
    if (program === null || signal.aborted) throw new RuntimeClosedError('the variables of the program cannot be reached');
    queries.push(query);
    return program.ask(query);
  };
  return {
    signal,
    get over() {
      return signal.aborted;
    },
    whenOver(callback) {
      if (signal.aborted) callback();
      signal.addEventListener('abort', callback, { once: true });
      return () => signal.removeEventListener('abort', callback);
    },
    queries,
    repeat: async (query) => void (await ask(query)),
    getVar: async (name) => ask({ t: 'var.get', name }),
    setVar: async (name, value) => (await ask({ t: 'var.set', name, value })).error,
    defineConst: async (name, value, redefine) => (await ask({ t: 'const', name, value, redefine })).error,
  };
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

function guestInput({ sources: _, ...rest }: RunInput, files: readonly string[]): string {
  const head = JSON.stringify(rest satisfies Omit<GuestInput, 'files'>);
  return `${head.slice(0, -1)},"files":[${files.join(',')}]}`;
}

function resultOf(given: GuestResult): SandboxResult {
  const result = { ...given, result: plainMaps(given.result) };
  const { fuel, peakMemoryBytes, toolCalls, outputBytes } = result;
  const usage = { fuel, cpuMs: 0, wallMs: 0, peakMemoryBytes, toolCalls, outputBytes };
  return { result, usage, errors: [], outputComplete: true };
}

function refused(error: ErrorInfo, errors: readonly Diagnostic[]): SandboxResult {
  const none = { fuel: 0, peakMemoryBytes: 0, toolCalls: 0, outputBytes: 0 };
  const result: GuestResult = { ok: false, phase: 'parse', result: null, eventErrors: [], error, ...none };
  return { result, usage: { ...none, cpuMs: 0, wallMs: 0 }, errors, outputComplete: true };
}
