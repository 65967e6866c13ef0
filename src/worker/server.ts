import type { Rejection } from '../wire/admission.ts';
import { quotaError, usageError } from '../wire/errorinfo.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import { excessOf, frameLimit, frameValues, MAX_FRAME_VALUES, MAX_REPORT_BYTES } from '../wire/frames.ts';
import { probeBytes } from '../wire/heat.ts';
import type { HostFrame, SentInput, SentSource } from '../wire/hostframes.ts';
import type { LimitValues } from '../wire/limits.ts';
import type { GuestResult, RunInput, Source, WorkerFrame } from '../wire/protocol.ts';
import { grouped } from '../wire/text/grouped.ts';
import { rejectionOf, unparsed } from './admission.ts';
import type { HostPort } from './bridge.ts';
import { checkSources, foreseeSources, formatSource } from './check.ts';
import type { GuestPorts, Image, Prepared } from './image.ts';
import { nowMs } from './node.ts';
import { type Parser, partsFor, pureCalls, type Tree } from './parser.ts';
import type { FramePort } from './pipe.ts';
import { PreparedIsolates } from './prepared.ts';
import { type Ended, Run } from './run.ts';
import type { Tidier } from './tidy.ts';
import { WARMUP_ID, Warmup } from './warmup.ts';

const MB = 1024 * 1024;

/**
 * Heap for the interpreter, the tree of a small program and V8's evacuation. It is small because V8 uses all of its heap before it
 * collects, and the process must not grow beyond 1.25 times the limit.
 */
const BASE_HEAP_MB = 6;
/** Trees up to this number of characters of JSON fit into {@link BASE_HEAP_MB}. */
const SMALL_TREES = 128 * 1024;
/** Heap of a tree and its compiled form, in bytes per character. */
const TREE_FACTOR = 16;
/** The worker sends `started` at once for a program that took longer to prepare, so that the host does not measure the parser's time. */
const READY_MS = 5;

/** What a server needs of the process or thread that it runs in. */
export interface WorkerPlace {
  /** Whether the host has ended. It is asked while a program computes. */
  isHostGone(): boolean;
  /** Ends the worker. The interpreter may be on the stack. */
  end(): void;
}

/** Answers a host's frames one after another until it closes the pipe or says `exit`. */
export class Server implements HostPort, GuestPorts {
  readonly #parser: Parser;
  #frames: FramePort | null = null;
  #isolates: PreparedIsolates | null = null;
  /** The isolate of the last run. Disposing of it takes time, so it waits until the host sends `prepare` or the next run. */
  #spent: Prepared | null = null;
  /** The ports of the running isolate. */
  #run: GuestPorts | null = null;
  /** The warm-up program, for later isolates. */
  #warmup: Warmup | null = null;
  /** Clock checks of this run. */
  #checks = 0;
  /** Sources that later runs may use, by the host's numbers. */
  readonly #kept = new Map<number, Source>();
  /** The limits of the last run. */
  #limits: LimitValues | null = null;
  readonly #place: WorkerPlace;
  readonly #tidier: Tidier | null;

  /** Without a `tidier`, V8 alone decides when garbage is collected. */
  constructor(parser: Parser, place: WorkerPlace, tidier: Tidier | null) {
    this.#parser = parser;
    this.#place = place;
    this.#tidier = tidier;
  }

  /** Prepares the first isolate of an image, which needs this server's ports. */
  prepare(image: Image, memoryBytes: number): void {
    this.#isolates = new PreparedIsolates(image, heapMb(memoryBytes, 0), (isolate) => this.#warmUp(isolate));
    this.#isolates.step();
  }

  clock(measured: boolean): number {
    if (measured) return this.#run?.clock(true) ?? 0;
    // A program that computes does not read the pipe. The first check comes before the first statement. At the second the program has run
    // for a while, so held frames are sent.
    if (++this.#checks > 1) {
      if (this.#place.isHostGone()) this.#place.end();
      this.#frames?.flush();
    }
    return this.#run?.clock(false) ?? 1;
  }

  host(frame: unknown, follows: boolean): string {
    return this.#run?.host(frame, follows) ?? '';
  }

  tree(file: unknown, part: unknown): string {
    return this.#run?.tree(file, part) ?? '';
  }

  read(): string {
    const text = this.#frames?.read() ?? null;
    // The host closed the pipe during a run.
    if (text === null) this.#place.end();
    return text ?? '';
  }

  write(text: string): void {
    this.#frames?.write(text);
  }

  hold(text: string): void {
    this.#frames?.hold(text);
  }

  /** Answers frames until the host sends `exit` or closes the pipe. */
  serve(frames: FramePort): void {
    this.#frames = frames;
    for (;;) {
      const text = frames.read();
      if (text === null) return;
      // The host is trusted: its frames need no check.
      const frame = JSON.parse(text) as HostFrame;
      if (frame.t === 'exit') return;
      if (frame.t === 'parse') {
        const report = { t: 'parsed', id: frame.id, ...this.#parser.summaries(frame.sources, frame.sourceBytes) } as const;
        this.#report(report, frame.sources, { ...report, files: [] });
      } else if (frame.t === 'check') {
        const report = {
          ...({ t: 'checked', id: frame.id } as const),
          ...checkSources(frame.sources, frame.sourceBytes, frame.environment),
        };
        this.#report(report, frame.sources, { ...report, files: [], findings: [], estimates: [] });
      } else if (frame.t === 'foresee') {
        const report = {
          ...({ t: 'foreseen', id: frame.id } as const),
          ...foreseeSources(frame.sources, frame.sourceBytes, frame.options),
        };
        this.#report(report, frame.sources, { ...report, foreseen: null });
      } else if (frame.t === 'format') {
        const report = { t: 'formatted', id: frame.id, ...formatSource(frame.source, frame.sourceBytes) } as const;
        this.#report(report, [frame.source], { ...report, text: null });
      } else if (frame.t === 'run') {
        const { parsed } = this.#parser;
        if (this.#runProgram(frame.id, this.#complete(frame.input), frame.isolate)) return;
        if (this.#parser.parsed > parsed) this.#tidier?.afterText();
      } else if (frame.t === 'prepare') {
        this.#dispose();
        this.#isolates?.step();
      } else if (frame.t === 'tidy') {
        this.#tidier?.atRest();
      } else if (frame.t === 'discard') {
        this.#isolates?.discard(frame.isolates);
      } else if (frame.t === 'keep') {
        this.#kept.set(frame.number, frame.source);
      } else if (frame.t === 'drop') {
        this.#kept.delete(frame.number);
      } else {
        this.#send({ t: 'fatal', message: `a frame '${frame.t}' came while no call was open` });
        return;
      }
    }
  }

  #complete(sent: SentInput): RunInput {
    const limits = sent.limits ?? this.#limits;
    if (limits === null) throw new Error('the first run has no limits');
    this.#limits = limits;
    return { ...sent, limits, sources: sent.sources.map((source) => this.#source(source)) };
  }

  #source(sent: SentSource): Source {
    if ('text' in sent) return sent;
    const kept = this.#kept.get(sent.kept);
    if (kept === undefined) throw new Error(`no source ${sent.kept} is kept here`);
    return kept;
  }

  /** Returns true when this worker must not be used again. */
  #runProgram(id: number, input: RunInput, isolate?: number): boolean {
    const asked = nowMs();
    const refused = oversized(input);
    if (refused !== null) return this.#refuse(id, { phase: 'parse', error: refused });
    const parsed = this.#parser.trees(input.sources, input.limits.sourceBytes);
    if (!parsed.ok) return this.#refuse(id, unparsed(input, parsed.errors));
    const stray = strayCommand(input, parsed.trees);
    if (stray !== null) return this.#refuse(id, { phase: 'load', error: stray });
    const rejection = rejectionOf(input, parsed.trees);
    if (rejection !== null) return this.#refuse(id, rejection);

    this.#dispose();
    if (this.#isolates === null) throw new Error('the server has no image');
    const chars = parsed.trees.reduce((sum, tree) => sum + tree.chars, 0);
    const heap = heapMb(input.limits.memoryBytes, chars) + Math.ceil(probeBytes(input) / MB);
    const { prepared, startCpu } = this.#isolates.take(heap, isolate);
    const pure = pureCalls(input.pure ?? [], parsed.trees);
    const parts = partsFor(input, parsed.trees, pure);
    prepared.load(parts);
    this.hold(JSON.stringify({ t: 'started', id } satisfies WorkerFrame));
    if (nowMs() - asked > READY_MS) this.#frames?.flush();
    this.#checks = 0;
    // The CPU time of loading parts of the interpreter does not count for the run.
    const run = new Run(prepared, parts.length > 0 ? prepared.cpuMs : startCpu, input, this, parsed.trees);
    this.#run = run;
    const ended = run.execute(pure);
    this.#run = null;
    if (id === WARMUP_ID && ended.result.ok) this.#warmup = new Warmup(input, parsed.trees);
    this.#sendResult(id, ended, input);
    if (ended.last) return true;
    if (isolate === undefined) this.#spent = prepared;
    else if (run.isClean(ended)) this.#isolates.keep(isolate, prepared, heap);
    else this.#isolates.giveUp(prepared);
    return false;
  }

  #dispose(): void {
    this.#spent?.dispose();
    this.#spent = null;
  }

  /** Runs the warm-up program in an isolate. Returns false before that program has run once as others do. */
  #warmUp(isolate: Prepared): boolean {
    if (this.#warmup === null) return false;
    this.#run = this.#warmup;
    this.#warmup.run(isolate);
    this.#run = null;
    return true;
  }

  #refuse(id: number, { phase, error, errors = [], findings }: Rejection): false {
    const spent = { fuel: 0, peakMemoryBytes: 0, toolCalls: 0, outputBytes: 0 };
    const result: GuestResult = { ok: false, phase, result: null, eventErrors: [], error, ...spent };
    this.#send({ t: 'result', id, result, usage: { ...spent, cpuMs: 0, wallMs: 0 }, errors, findings, last: false });
    return false;
  }

  /** Sends a result. A value that is too large for a frame is refused here with its reason, before the host refuses the frame. */
  #sendResult(id: number, ended: Ended, { limits }: RunInput): void {
    const text = JSON.stringify({ t: 'result', id, errors: [], ...ended } satisfies WorkerFrame);
    const allowed = frameLimit(limits);
    const used = Buffer.byteLength(text, 'utf8');
    const excess = excessOf(text, frameValues(limits));
    if (used <= allowed && excess === null) {
      this.write(text);
      return;
    }
    const message =
      excess === null
        ? `the returned value has ${grouped(used)} bytes as JSON, ${grouped(allowed)} are allowed`
        : `the returned values have more than ${excess}`;
    const error = quotaError({ limit: 'toolBytes', allowed, used }, message);
    const { variables: _, ...counted } = ended.result;
    const result: GuestResult = { ...counted, ok: false, result: null, eventErrors: [], error };
    this.#send({ t: 'result', id, errors: [], ...ended, result });
  }

  /** Sends a report about sources, or `empty` with one error if the report is too large for the host. */
  #report(report: Report, [first]: readonly Source[], empty: Report): void {
    const text = JSON.stringify(report);
    const fits = Buffer.byteLength(text) <= MAX_REPORT_BYTES && excessOf(text) === null;
    if (fits) this.write(text);
    else this.#refuseReport(first, empty);
    this.#tidier?.afterText();
  }

  #refuseReport(first: Source | undefined, empty: Report): void {
    const place = { s: 0, e: 0, line: 1, column: 1, endLine: 1, endColumn: 1 };
    const message = `the report on these sources is larger than ${MAX_REPORT_BYTES} bytes or ${MAX_FRAME_VALUES} values; ask about fewer`;
    this.#send({ ...empty, diagnostics: [{ file: first?.name ?? '', ...place, message }] });
  }

  #send(frame: WorkerFrame): void {
    this.write(JSON.stringify(frame));
  }
}

/** A worker's report about sources. */
type Report = Extract<WorkerFrame, { t: 'parsed' | 'checked' | 'foreseen' | 'formatted' }>;

/** The smallest heap limit that isolated-vm accepts. */
const MIN_HEAP_MB = 8;

/**
 * Heap limit for a run, in MB. The interpreter refuses values beyond `memoryBytes` by its own accounting. The limit of the isolate
 * is for memory that this accounting misses, so it is an eighth higher, with room for the trees.
 */
function heapMb(memoryBytes: number, treeChars: number): number {
  const trees = treeChars > SMALL_TREES ? Math.ceil((treeChars * TREE_FACTOR) / MB) : 0;
  return Math.max(MIN_HEAP_MB, Math.ceil((memoryBytes * 1.125) / MB) + BASE_HEAP_MB + trees);
}

/** The error of a command block in a library; null when there is none. */
function strayCommand({ sources }: RunInput, trees: readonly Tree[]): ErrorInfo | null {
  for (const [index, { name, definitions }] of sources.entries()) {
    const line = trees[index]?.command ?? null;
    if (definitions !== true || line === null) continue;
    const error = usageError(`'${name}' is a library: it holds definitions, and no command block`);
    return { ...error, source: name, line, column: 1, hint: "put what is to run into 'src'" };
  }
  return null;
}

/** The error of the first source that is too large; null when there is none. */
function oversized({ sources, limits }: RunInput): ErrorInfo | null {
  const allowed = limits.sourceBytes;
  for (const { name, text } of sources) {
    const used = Buffer.byteLength(text, 'utf8');
    if (used <= allowed) continue;
    const message = `the source has ${grouped(used)} bytes, ${grouped(allowed)} are allowed`;
    return { ...quotaError({ limit: 'sourceBytes', allowed, used }, message), source: name };
  }
  return null;
}
