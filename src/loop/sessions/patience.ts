import { StoreError } from '../../sqlite/error.ts';

/** The pauses between attempts, in milliseconds. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1000;

/** Repeats a write to a store that cannot be reached for a moment, as long as `pause` resolves with true. Rejects with the last error. */
export async function patiently(write: () => Promise<void>, pause: (ms: number) => Promise<boolean>): Promise<void> {
  for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(2 * ms, LONGEST_PAUSE_MS)) {
    try {
      return await write();
    } catch (error) {
      // A busy store, or one whose disk failed, may succeed at the next attempt.
      const isPassing = error instanceof StoreError && (error.detail === 'busy' || error.detail === 'io');
      if (!isPassing || !(await pause(ms))) throw error;
    }
  }
}
