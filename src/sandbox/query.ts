import { NeuroScriptError, WireError } from '../wire/errors.ts';
import { MAX_FRAME_VALUES, MAX_REPORT_BYTES } from '../wire/frames.ts';
import type { HostFrame } from '../wire/hostframes.ts';
import type { ForeseeOptions, Source, WorkerFrame } from '../wire/protocol.ts';
import type {
  CheckEnvironment,
  CheckReport,
  Diagnostic,
  ForeseenReport,
  FormatReport,
  ParsedFile,
} from '../wire/sourcereports.ts';
import type { Gone, WorkerProcess, WorkerTask } from './worker.ts';

/** A worker's summary of sources that it did not run. */
export interface ParseOutcome {
  /** The syntax errors of all sources. */
  readonly diagnostics: readonly Diagnostic[];
  /** What each source defines that parses. */
  readonly files: readonly ParsedFile[];
  /**
   * Names of the sources that may only be incomplete: they end within a block, a bracket, a string or a continued line. Absent when there
   * are none.
   */
  readonly open?: readonly string[] | undefined;
}

/** A request to a worker that runs no program: the frame that asks and the frame that answers. */
export interface Query<Answer> {
  frame(id: number): HostFrame;
  /** The answer in a frame; undefined when the frame does not answer this query. */
  answer(frame: WorkerFrame): Answer | undefined;
}

/** Asks which procedures, events and tools some sources have. */
export function parseQuery(sources: readonly Source[], sourceBytes: number): Query<ParseOutcome> {
  return {
    frame: (id) => ({ t: 'parse', id, sources, sourceBytes }),
    answer: (frame) => {
      if (frame.t !== 'parsed') return undefined;
      const { diagnostics, files, open } = frame;
      return { diagnostics, files, open };
    },
  };
}

/** Asks what is wrong with sources that run together, and what they cost. */
export function checkQuery(sources: readonly Source[], sourceBytes: number, environment: CheckEnvironment): Query<CheckReport> {
  return {
    frame: (id) => ({ t: 'check', id, sources, sourceBytes, environment }),
    answer: (frame) => {
      if (frame.t !== 'checked') return undefined;
      const { diagnostics, files, findings, estimates } = frame;
      return { diagnostics, files, findings, estimates };
    },
  };
}

/** Asks what sources that run together can do. */
export function foreseeQuery(sources: readonly Source[], sourceBytes: number, options: ForeseeOptions): Query<ForeseenReport> {
  return {
    frame: (id) => ({ t: 'foresee', id, sources, sourceBytes, options }),
    answer: (frame) => (frame.t === 'foreseen' ? { diagnostics: frame.diagnostics, foreseen: frame.foreseen } : undefined),
  };
}

/** Asks for a source in its canonical layout. */
export function formatQuery(source: Source, sourceBytes: number): Query<FormatReport> {
  return {
    frame: (id) => ({ t: 'format', id, source, sourceBytes }),
    answer: (frame) => (frame.t === 'formatted' ? { text: frame.text, diagnostics: frame.diagnostics } : undefined),
  };
}

/** Most milliseconds that a worker may take for all files of one query. */
const QUERY_MS = 30_000;

/** The members of a worker that a query uses. */
type QueriedWorker = Pick<WorkerProcess, 'assign' | 'send' | 'free' | 'kill' | 'runs'>;

/** One query on one worker. */
export class QueryTask<Answer> implements WorkerTask {
  readonly #worker: QueriedWorker;
  readonly #id: number;
  readonly #query: Query<Answer>;
  readonly #settle: PromiseWithResolvers<Answer>;
  readonly #onEnd: (spoiled: NeuroScriptError | null) => void;
  #late = false;
  /** Whether a frame came that does not answer this query. An earlier task may have sent it. */
  #stray = false;
  #timer: NodeJS.Timeout | undefined;

  /**
   * `settle` rejects with `ERR_TIMEOUT` or `ERR_WORKER` when the worker does not answer. `onEnd` is called once. With `error`, a worker
   * that had served other tasks sent a frame of another task. The query is then not settled and can be sent again.
   */
  constructor(
    worker: QueriedWorker,
    id: number,
    query: Query<Answer>,
    settle: PromiseWithResolvers<Answer>,
    onEnd: (spoiled: NeuroScriptError | null) => void,
  ) {
    this.#worker = worker;
    this.#id = id;
    this.#query = query;
    this.#settle = settle;
    this.#onEnd = onEnd;
  }

  /** Sends the query. Throws when the sources cannot be sent; the worker is free then. */
  begin(): void {
    this.#worker.assign(this, MAX_REPORT_BYTES, MAX_FRAME_VALUES);
    try {
      this.#worker.send(this.#query.frame(this.#id));
    } catch (error) {
      this.#worker.free();
      throw error;
    }
    this.#timer = setTimeout(() => {
      this.#late = true;
      this.#worker.kill();
    }, QUERY_MS);
  }

  /** Gives the query up and kills its worker. */
  cancel(): void {
    this.#worker.kill();
  }

  onFrame(frame: WorkerFrame): void {
    const answer = 'id' in frame && frame.id === this.#id ? this.#query.answer(frame) : undefined;
    if (answer === undefined) {
      this.#stray = true;
      throw new WireError(`a frame '${frame.t}' came out of turn`);
    }
    this.#worker.free();
    clearTimeout(this.#timer);
    this.#settle.resolve(answer);
    this.#onEnd(null);
  }

  onGone({ how, violation }: Gone): void {
    clearTimeout(this.#timer);
    const error = this.#late
      ? new NeuroScriptError('ERR_TIMEOUT', `parsing took longer than ${QUERY_MS} ms`)
      : new NeuroScriptError('ERR_WORKER', `the worker process died while parsing: ${violation ?? how}`);
    const spoiled = this.#stray && violation !== null && this.#worker.runs > 0;
    if (!spoiled) this.#settle.reject(error);
    this.#onEnd(spoiled ? error : null);
  }
}
