import { isTimestamp, sameUuid } from './formats.ts';
import { MalformedLine } from './lines.ts';
import { EXECUTED, readQueue, reasonOf } from './queue.ts';
import { parseRecord } from './record.ts';

/** What `executed.jsonl` says about one intent. */
export type History =
  | { readonly state: 'not executed' }
  /** The timestamp of the first record; null when it has none that is safe to show. */
  | { readonly state: 'executed'; readonly timestamp: string | null }
  | { readonly state: 'malformed'; readonly line: number }
  | { readonly state: 'unreadable'; readonly why: string };

/**
 * Reads the whole record of executions, even after a match: one malformed line makes the file invalid. A missing file in an
 * existing directory is an empty record.
 */
export function historyOf(queue: string, intentId: string): History {
  let found: History = { state: 'not executed' };
  try {
    readQueue(queue, EXECUTED, parseRecord, ({ id, timestamp, hash }, line) => {
      if (sameUuid(id, intentId)) {
        const known = timestamp !== null && isTimestamp(timestamp) ? timestamp : null;
        if (found.state === 'not executed') found = { state: 'executed', timestamp: known };
      } else if (timestamp === null || hash === null) throw new MalformedLine(line);
    });
    return found;
  } catch (error) {
    if (error instanceof MalformedLine) return { state: 'malformed', line: error.line };
    return { state: 'unreadable', why: reasonOf(error) };
  }
}
