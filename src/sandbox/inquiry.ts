import { NeuroScriptError, WireError } from '../wire/errors.ts';
import { MAX_FRAME_BYTES } from '../wire/frames.ts';
import type { Diagnostic, ParsedFile, Source, WorkerFrame } from '../wire/protocol.ts';
import type { Gone, WorkerProcess, WorkerTask } from './worker.ts';

/** What a worker found in sources without running them. */
export interface ParseOutcome {
  readonly diagnostics: readonly Diagnostic[];
  readonly files: readonly ParsedFile[];
}

/** For all files of one request together. */
const PARSE_MS = 30_000;

/** Parses sources in a worker. */
export class Inquiry implements WorkerTask {
  readonly #worker: WorkerProcess;
  readonly #id: number;
  readonly #settle: PromiseWithResolvers<ParseOutcome>;
  readonly #onEnd: () => void;
  #late = false;
  #timer: NodeJS.Timeout | undefined;

  /** `settle` is rejected with `ERR_TIMEOUT` or `ERR_WORKER` when the worker has no answer; `onEnd` is called once. */
  constructor(worker: WorkerProcess, id: number, settle: PromiseWithResolvers<ParseOutcome>, onEnd: () => void) {
    this.#worker = worker;
    this.#id = id;
    this.#settle = settle;
    this.#onEnd = onEnd;
  }

  /** Throws, without having begun, when the sources cannot be sent. */
  begin(sources: readonly Source[], sourceBytes: number): void {
    this.#worker.assign(this, MAX_FRAME_BYTES);
    try {
      this.#worker.send({ t: 'parse', id: this.#id, sources, sourceBytes });
    } catch (error) {
      this.#worker.free();
      throw error;
    }
    this.#timer = setTimeout(() => {
      this.#late = true;
      this.#worker.kill();
    }, PARSE_MS);
  }

  /** Gives the request up, for good. */
  cancel(): void {
    this.#worker.kill();
  }

  onFrame(frame: WorkerFrame): void {
    if (frame.t !== 'parsed' || frame.id !== this.#id) throw new WireError(`a frame '${frame.t}' came out of turn`);
    this.#worker.free();
    clearTimeout(this.#timer);
    this.#settle.resolve({ diagnostics: frame.diagnostics, files: frame.files });
    this.#onEnd();
  }

  onGone({ how, violation }: Gone): void {
    clearTimeout(this.#timer);
    this.#settle.reject(
      this.#late
        ? new NeuroScriptError('ERR_TIMEOUT', `parsing took longer than ${PARSE_MS} ms`)
        : new NeuroScriptError('ERR_WORKER', `the worker process died while parsing: ${violation ?? how}`),
    );
    this.#onEnd();
  }
}
