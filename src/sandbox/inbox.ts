import { setImmediate as nextRound } from 'node:timers/promises';
import { FrameReader, framesIn, parseFrames } from '../wire/frames.ts';
import { PIECE_UNITS, textOf, textsOf } from '../wire/frametext.ts';
import { parseInPieces } from '../wire/jsonpieces.ts';
import { type Pieces, plainInPieces } from '../wire/pieces.ts';
import type { TaggedJson, WorkerFrame } from '../wire/protocol.ts';
import { messageOf } from '../wire/unknown.ts';
import type { StartedWorker } from './launch.ts';
import { readMarkedFrame, readWorkerFrame } from './workerframes.ts';

/** The most that frames may have. */
interface Bounds {
  readonly bytes: number;
  readonly values: number;
  /** Whether keys in the values of output and results keep the `$` that keeps their place. */
  readonly marked?: boolean | undefined;
}

/** The worker whose frames these are. */
interface InboxOwner {
  /** Whether no frame of the worker counts any more. */
  isOver(): boolean;
  /** Takes a frame; `units` is an upper bound for `jsonUnits` of it. A frame that it throws for breaks the protocol. */
  onFrame(frame: WorkerFrame, units: number): void;
  /** The worker has broken the protocol. */
  onViolation(what: string): void;
}

/** Most bytes of a frame, and values in it, of a worker without a task. */
export const HELLO_BYTES = 64 * 1024;
/** Largest ratio between the written units of a value and the units of its text: `1e20` has only four. */
const LONGER = 6;

/** Reads the frames of one worker, each once and in order. */
export class Inbox {
  readonly #frames: StartedWorker['frames'];
  readonly #owner: InboxOwner;
  readonly #reader = new FrameReader(HELLO_BYTES);
  #bounds: Bounds = { bytes: HELLO_BYTES, values: HELLO_BYTES };
  /** Resolves when the long frame that is being parsed in pieces is read; null without one. Never rejects. */
  #reading: Promise<void> | null = null;
  /** Whether another frame follows the present one in the same list. */
  #follows = false;

  constructor(frames: StartedWorker['frames'], owner: InboxOwner) {
    this.#frames = frames;
    this.#owner = owner;
    frames.on('data', (chunk: Buffer) => this.#receive(chunk));
  }

  /** Reads frames within these bounds from now on. */
  bound(bounds: Bounds): void {
    this.#bounds = bounds;
    this.#reader.maxBytes = bounds.bytes;
  }

  /** Whether bytes have come that no task has taken. */
  get hasMore(): boolean {
    return this.#follows || this.#reader.partial;
  }

  /** Whether the last frame is cut off. */
  get partial(): boolean {
    return this.#reader.partial;
  }

  /** Resolves when the long frame is read that is being read now; null without one. Never rejects. */
  get reading(): Promise<void> | null {
    return this.#reading;
  }

  /** Calls `then` after reading the frames that have arrived. */
  afterArrived(then: () => void): void {
    setImmediate(() => {
      if (this.#reading === null) then();
      else void this.#reading.then(then);
    });
  }

  #receive(chunk: Uint8Array): void {
    this.#attempt(() => {
      const whole = this.#reading === null ? this.#reader.whole(chunk) : null;
      if (whole !== null) {
        this.#take(whole);
        return;
      }
      this.#reader.push(chunk);
      this.#takeNext();
    });
  }

  #attempt(work: () => void): void {
    if (this.#owner.isOver()) return;
    try {
      work();
    } catch (error) {
      this.#owner.onViolation(messageOf(error));
    }
  }

  #takeNext(): void {
    while (this.#reading === null && !this.#owner.isOver()) {
      const chunks = this.#reader.take();
      if (chunks === null) return;
      const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
      if (bytes <= PIECE_UNITS) this.#take(textOf(chunks));
      else this.#reading = this.#takeLong(chunks);
    }
  }

  #take(text: string): void {
    const { values, marked } = this.#bounds;
    const read = marked === true ? readMarkedFrame : readWorkerFrame;
    this.#pass(parseFrames(text, values).map(read), text.length * LONGER);
  }

  /** Takes the frames of a long text later, in pieces, because decoding and parsing block the host. */
  async #takeLong(chunks: readonly Uint8Array[]): Promise<void> {
    this.#frames.pause();
    const { values, marked } = this.#bounds;
    const reading = readInPieces(chunks, values, marked);
    let read: LongRead | null = null;
    while (read === null && !this.#owner.isOver()) {
      await nextRound();
      this.#attempt(() => {
        const piece = reading.next();
        if (piece.done === true) read = piece.value;
      });
    }
    // Bytes after a result must be seen before another task gets the worker.
    this.#frames.resume();
    await nextRound();
    this.#frames.pause();
    this.#attempt(() => {
      if (read !== null) this.#pass(read.frames, read.units);
    });
    this.#reading = null;
    this.#attempt(() => this.#takeNext());
    if (this.#reading === null) this.#frames.resume();
  }

  #pass(frames: readonly WorkerFrame[], units: number): void {
    for (const [index, frame] of frames.entries()) {
      if (this.#owner.isOver()) return;
      this.#follows = index + 1 < frames.length;
      this.#owner.onFrame(frame, units);
    }
  }
}

/** The frames of a long text. */
interface LongRead {
  readonly frames: readonly WorkerFrame[];
  /** Upper bound for `jsonUnits` of the frames. */
  readonly units: number;
}

/**
 * Decodes, parses and reads the frames of a text in pieces. `chunks`: its bytes. `marked`: keys in the values of output and results have
 * the `$` that keeps their place. Throws `WireError`.
 */
function* readInPieces(chunks: readonly Uint8Array[], maxValues: number, marked = false): Pieces<LongRead> {
  const { value, units } = yield* parseInPieces(textsOf(chunks), maxValues);
  const frames: WorkerFrame[] = [];
  for (const frame of framesIn(value)) {
    yield;
    const read = readMarkedFrame(frame);
    yield;
    frames.push(marked ? read : yield* shown(read));
  }
  yield;
  return { frames, units };
}

/** The frame with the keys of the script in its values. */
function* shown(frame: WorkerFrame): Pieces<WorkerFrame> {
  if (frame.t === 'out') {
    const values: TaggedJson[] = [];
    for (const value of frame.values) values.push(yield* plainInPieces(value));
    return { ...frame, values };
  }
  if (frame.t !== 'result') return frame;
  return { ...frame, result: { ...frame.result, result: yield* plainInPieces(frame.result.result) } };
}
