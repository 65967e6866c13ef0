import { setImmediate as nextRound } from 'node:timers/promises';

let last: Promise<unknown> = Promise.resolve();

/**
 * Waits for a round of the event loop in which nobody else does a piece of work on values: many calls may end in one round, and their
 * pieces would add up.
 */
export function ownRound(): Promise<unknown> {
  last = last.then(() => nextRound());
  return last;
}
