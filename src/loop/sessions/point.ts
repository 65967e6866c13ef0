import { StoreError } from '../../sqlite/error.ts';
import type { JournalEntry } from '../../wire/journal.ts';
import { countedAttempts } from '../record/attempt.ts';
import { type Progress, progressOf } from '../record/kept.ts';
import type { ClaimedSession, NextTurn, StartedTurn } from './store.ts';

/** A turn to continue after its last call: its process died, and its calls were kept. */
export interface KeptTurn {
  readonly kind: 'kept';
  readonly started: StartedTurn;
  readonly progress: Progress;
}

/** The start of a session's next turn: as stored, or after the calls that were kept. */
export type Point = NextTurn | KeptTurn;

/** What a store knows of a session's next turn, whose kept calls may have been read. */
type Known = Pick<ClaimedSession, 'state' | 'steps'> & { readonly next: Point };

/** The point at which a session continues. Throws `StoreError` (`damaged`) for kept calls that cannot be read. */
export function pointOf({ state, next, steps }: Known): Point {
  if (next.kind === 'fresh' || next.kind === 'kept') return next;
  const progress = progressOf(
    steps.map(({ body }) => body),
    countedAttempts(next.started.attempts),
    next.started.suspended,
    state.sid,
  );
  return progress === null ? next : { kind: 'kept', started: next.started, progress };
}

/** The kept calls of a turn that have ended; none for a turn that cannot be read. */
export function keptCalls(session: Known): readonly JournalEntry[] {
  try {
    const point = pointOf(session);
    return point.kind === 'kept' ? point.progress.journal : [];
  } catch (error) {
    if (error instanceof StoreError) return [];
    throw error;
  }
}
