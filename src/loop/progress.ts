import { joinDeltas, type LoopEvent } from './events.ts';
import type { LoopResult } from './result.ts';
import { type StreamEvent, stream, type Watched } from './stream.ts';

/** Progress of a session that is read as a stream. */
export type LoopProgress = StreamEvent<LoopEvent, LoopResult>;

/** Resolves when the next turn may begin. */
export type Pace = () => Promise<void>;
export const NO_PACE: Pace = async () => {};

/** The events of a session that `run` drives, as an async iterator. */
export function progress(
  signal: AbortSignal | undefined,
  run: (more: Omit<Watched<LoopEvent>, 'pace'>, pace: Pace) => Promise<LoopResult>,
): AsyncGenerator<LoopProgress, LoopResult, void> {
  const minor = ({ type }: LoopEvent): boolean => type === 'output' || type === 'called';
  return stream({ signal, minor, merge: joinDeltas, run: ({ pace, ...more }) => run(more, pace) });
}
