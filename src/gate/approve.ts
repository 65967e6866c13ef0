import { appendLine } from './executor/append.ts';
import type { Intent } from './executor/attempts.ts';
import { ExecutorError } from './executor/error.ts';
import { QueueLock } from './executor/lock.ts';
import { parseComplete } from './executor/record.ts';
import { isHash, isUuid, sameUuid } from './formats.ts';
import { APPROVED } from './queue.ts';
import { lineOf } from './record.ts';

const LOCK = 'approved.lock';

/**
 * Writes down that a human approved an intent: one more line of `approved.jsonl`, kept by the disk when this returns. For the tool
 * in which the human says yes, and for nothing else. `now` is Unix milliseconds. Throws {@link ExecutorError}
 * `ERR_GATE_LOCKED`, and `ERR_GATE_RECORD` for a UUID that was approved before: an approval is given once and never changed.
 */
export function recordApproved(queue: string, { intentId, hash }: Intent, now: number): void {
  if (!isUuid(intentId) || !isHash(hash)) throw new ExecutorError('ERR_GATE_RECORD', 'only a UUID and a SHA-256 can be approved');
  const lock = QueueLock.take(queue, now, LOCK);
  try {
    const line = lineOf({ id: intentId, timestamp: new Date(now).toISOString(), hash });
    appendLine(queue, APPROVED, line, parseComplete, ({ id }) => {
      if (sameUuid(id, intentId)) throw new ExecutorError('ERR_GATE_RECORD', 'the intent was approved before');
    });
  } finally {
    lock.release();
  }
}
