import { isHash, isUuid, sameUuid } from '../formats.ts';
import { EXECUTED } from '../queue.ts';
import { lineOf, parseCompleteRecord } from '../record.ts';
import { appendLine } from './append.ts';
import type { Intent } from './attempts.ts';
import { ExecutorError } from './error.ts';
import type { QueueLock } from './lock.ts';
import { timestampOf } from './timestamp.ts';

/**
 * Records that an intent was executed. It appends a line to `executed.jsonl` and returns when the disk has it. Call it after
 * the execution succeeded, under the lock that was taken before the gate was asked. `now` is Unix milliseconds. Throws
 * {@link ExecutorError} `ERR_GATE_RECORD`: the intent was then executed without a reliable record, which a human must
 * correct.
 */
export function recordExecuted(lock: QueueLock, intent: Intent, now: number): void {
  const { intentId, hash } = intent ?? {};
  if (!isUuid(intentId) || !isHash(hash)) throw new ExecutorError('ERR_GATE_RECORD', 'only a UUID and a SHA-256 can be recorded');
  if (typeof lock?.isHeld !== 'function')
    throw new ExecutorError('ERR_GATE_RECORD', 'the lock is missing: take a QueueLock before you ask the gate');
  if (!lock.isHeld()) throw new ExecutorError('ERR_GATE_RECORD', 'this process no longer holds the lock of the queue');
  const line = lineOf({ id: intentId, timestamp: timestampOf(now), hash });
  appendLine(lock.queue, EXECUTED, line, parseCompleteRecord, ({ id }) => {
    if (sameUuid(id, intentId)) throw new ExecutorError('ERR_GATE_RECORD', 'the intent is recorded already');
  });
}
