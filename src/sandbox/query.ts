import { NeuroScriptError, WireError } from '../wire/errors.ts';
import { MAX_FRAME_BYTES } from '../wire/frames.ts';
import type { CheckEnvironment, CheckReport, Diagnostic, FormatReport, HostFrame, ParsedFile, Source, WorkerFrame } from '../wire/protocol.ts';
import type { Gone, WorkerProcess, WorkerTask } from './worker.ts';

/** What a worker found in sources without running them. */
export interface ParseOutcome {
  readonly diagnostics: readonly Diagnostic[];
  readonly files: readonly ParsedFile[];
  /**
   * Names of the sources that end within a block, a bracket, a string or a line that goes on: they may only lack their rest.
   * Absent when there are none.
   */
  readonly open?: readonly string[];
}

/** A question to a worker that runs nothing: how it is asked, and which frame answers it. */
export interface Question<Answer> {
  frame(id: number): HostFrame;
  /** The answer in a frame; undefined when the frame is no answer to this question. */
  answer(frame: WorkerFrame): Answer | undefined;
}

/** Which procedures, events and tools there are in some sources. */
export function parseQuestion(sources: readonly Source[], sourceBytes: number): Question<ParseOutcome> {
  return {
    frame: (id) => ({ t: 'parse', id, sources, sourceBytes }),
    answer: (frame) => {
      if (frame.t !== 'parsed') return undefined;
      const { diagnostics, files, open } = frame;
      return { diagnostics, files, ...(open === undefined ? {} : { open }) };
    },
  };
}

/** What is wrong with sources that run together, and what they cost. */
export function checkQuestion(
  sources: readonly Source[],
  sourceBytes: number,
  environment: CheckEnvironment,
): Question<CheckReport> {
  return {
    frame: (id) => ({ t: 'check', id, sources, sourceBytes, environment }),
    answer: (frame) => {
      if (frame.t !== 'checked') return undefined;
      const { diagnostics, files, findings, estimates } = frame;
      return { diagnostics, files, findings, estimates };
    },
  };
}

/** How a source looks in its canonical layout. */
export function formatQuestion(source: Source, sourceBytes: number): Question<FormatReport> {
  return {
    frame: (id) => ({ t: 'format', id, source, sourceBytes }),
    answer: (frame) => (frame.t === 'formatted' ? { text: frame.text, diagnostics: frame.diagnostics } : undefined),
  };
}

/** For all files of one request together. */
const PARSE_MS = 30_000;

/** Puts one question to a worker. */
export class Inquiry<Answer> implements WorkerTask {
  readonly #worker: WorkerProcess;
  readonly #id: number;
  readonly #question: Question<Answer>;
  readonly #settle: PromiseWithResolvers<Answer>;
  readonly #onEnd: () => void;
  #late = false;
  #timer: NodeJS.Timeout | undefined;

  /** `settle` is rejected with `ERR_TIMEOUT` or `ERR_WORKER` when the worker has no answer; `onEnd` is called once. */
  constructor(
    worker: WorkerProcess,
    id: number,
    question: Question<Answer>,
    settle: PromiseWithResolvers<Answer>,
    onEnd: () => void,
  ) {
    this.#worker = worker;
    this.#id = id;
    this.#question = question;
    this.#settle = settle;
    this.#onEnd = onEnd;
  }

  /** Throws, without having begun, when the sources cannot be sent. */
  begin(): void {
    this.#worker.assign(this, MAX_FRAME_BYTES);
    try {
      this.#worker.send(this.#question.frame(this.#id));
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
    const answer = 'id' in frame && frame.id === this.#id ? this.#question.answer(frame) : undefined;
    if (answer === undefined) throw new WireError(`a frame '${frame.t}' came out of turn`);
    this.#worker.free();
    clearTimeout(this.#timer);
    this.#settle.resolve(answer);
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
