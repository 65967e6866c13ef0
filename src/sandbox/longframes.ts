import { framesIn } from '../wire/frames.ts';
import { parseInPieces } from '../wire/jsonpieces.ts';
import { type Pieces, plainInPieces } from '../wire/pieces.ts';
import type { TaggedJson, WorkerFrame } from '../wire/protocol.ts';
import { isRecord } from '../wire/unknown.ts';
import { readWorkerFrame } from './workerframes.ts';

/** The frames of a long text. */
export interface LongRead {
  readonly frames: readonly WorkerFrame[];
  /** Upper bound for `jsonUnits` of the frames. */
  readonly units: number;
}

/** Parses and reads the frames of a text in pieces. Throws `WireError`. */
export function* readInPieces(text: string, maxValues: number, maxKeys?: number): Pieces<LongRead> {
  const { value, units } = yield* parseInPieces(text, maxValues, maxKeys);
  const frames: WorkerFrame[] = [];
  for (const frame of framesIn(value)) {
    yield;
    frames.push(yield* readOne(frame));
  }
  yield;
  return { frames, units };
}

/** Reads a frame. The reader gets nil in place of the values of a result; these are converted in pieces. */
function* readOne(frame: unknown): Pieces<WorkerFrame> {
  if (!isRecord(frame)) return readWorkerFrame(frame);
  const { t, values, result } = frame;
  if (t === 'out' && Array.isArray(values)) {
    const read = readWorkerFrame({ ...frame, values: values.map(() => null) });
    yield;
    const plain = yield* plainInPieces(values);
    return read.t === 'out' && Array.isArray(plain) ? { ...read, values: plain } : read;
  }
  if (t !== 'result' || !isRecord(result) || result['result'] === undefined) return readWorkerFrame(frame);
  const read = readWorkerFrame({ ...frame, result: { ...result, result: null } });
  yield;
  // Every value of JSON has the shape of tagged JSON.
  const plain = yield* plainInPieces(result['result'] as TaggedJson);
  return read.t === 'result' ? { ...read, result: { ...read.result, result: plain } } : read;
}
