import { type Progress, progressOf } from '../record/kept.ts';
import type { ClaimedSession, NextTurn, StartedTurn } from './store.ts';

/** A turn to continue after its last call: its process died, and its calls were kept. */
export interface KeptTurn {
  readonly kind: 'kept';
  readonly started: StartedTurn;
  readonly progress: Progress;
}

/** How a session's next turn begins: as the store says, or after the calls that were kept. */
export type Point = NextTurn | KeptTurn;

/** Where a claimed session goes on. Throws `StoreError` (`damaged`) for kept calls that cannot be read. */
export function pointOf({ next, steps }: Pick<ClaimedSession, 'next' | 'steps'>): Point {
  if (next.kind === 'fresh') return next;
  const progress = progressOf(
    steps.map(({ body }) => body),
    next.started.suspended,
  );
  return progress === null ? next : { kind: 'kept', started: next.started, progress };
}
