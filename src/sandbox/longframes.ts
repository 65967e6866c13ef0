import { framesIn } from '../wire/frames.ts';
import { textsOf } from '../wire/frametext.ts';
import { parseInPieces } from '../wire/jsonpieces.ts';
import { type Pieces, plainInPieces } from '../wire/pieces.ts';
import type { TaggedJson, WorkerFrame } from '../wire/protocol.ts';
import { readMarkedFrame } from './workerframes.ts';

/** The frames of a long text. */
export interface LongRead {
  readonly frames: readonly WorkerFrame[];
  /** Upper bound for `jsonUnits` of the frames. */
  readonly units: number;
}

/**
 * Decodes, parses and reads the frames of a text in pieces. `chunks`: its bytes. `marked`: keys in the values of output and results have
 * the `$` that keeps their place. Throws `WireError`.
 */
export function* readInPieces(
  chunks: readonly Uint8Array[],
  maxValues: number,
  maxKeys?: number,
  marked = false,
): Pieces<LongRead> {
  const { value, units } = yield* parseInPieces(textsOf(chunks), maxValues, maxKeys);
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
