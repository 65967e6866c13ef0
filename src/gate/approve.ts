import { appendLine } from './executor/append.ts';
import type { Intent } from './executor/attempts.ts';
import { ExecutorError } from './executor/error.ts';
import { QueueLock } from './executor/lock.ts';
import { timestampOf } from './executor/timestamp.ts';
import { isHash, isUuid, sameUuid } from './formats.ts';
import { APPROVED } from './queue.ts';
import { lineOf, parseCompleteRecord } from './record.ts';

const LOCK = 'approved.lock';

/**
 * Records that a human approved an intent. It appends a line to `approved.jsonl` and returns when the disk has it. Call it
 * only from the tool in which the human approves. `now` is Unix milliseconds. Throws {@link ExecutorError}
 * `ERR_GATE_LOCKED`, and `ERR_GATE_RECORD` for an intent that was approved before: an approval never changes.
 */
export function recordApproved(queue: string, intent: Intent, now: number): void {
  const { intentId, hash } = intent ?? {};
  if (!isUuid(intentId) || !isHash(hash)) throw new ExecutorError('ERR_GATE_RECORD', 'only a UUID and a SHA-256 can be approved');
  const lock = new QueueLock(queue, now, LOCK);
  try {
    const line = lineOf({ id: intentId, timestamp: timestampOf(now), hash });
    appendLine(queue, APPROVED, line, parseCompleteRecord, ({ id }) => {
      if (sameUuid(id, intentId)) throw new ExecutorError('ERR_GATE_RECORD', 'the intent was approved before');
    });
  } finally {
    lock.release();
  }
}
