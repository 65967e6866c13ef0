import { isHash, isUuid, sameUuid } from '../formats.ts';
import { EXECUTED } from '../queue.ts';
import { lineOf, parseRecord, type QueueRecord } from '../record.ts';
import { appendLine } from './append.ts';
import type { Intent } from './attempts.ts';
import { ExecutorError } from './error.ts';
import type { QueueLock } from './lock.ts';

/**
 * Writes down that an intent was executed: one more line of `executed.jsonl`, kept by the disk when this returns. Only after
 * the execution succeeded, and under the lock that was taken before the gate was asked. `now` is Unix milliseconds. Throws
 * {@link ExecutorError} `ERR_GATE_RECORD`: then the intent was executed and may not be recorded, which a human must put
 * right.
 */
export function recordExecuted(lock: QueueLock, { intentId, hash }: Intent, now: number): void {
  if (!isUuid(intentId) || !isHash(hash)) throw new ExecutorError('ERR_GATE_RECORD', 'only a UUID and a SHA-256 can be recorded');
  if (!lock.isHeld()) throw new ExecutorError('ERR_GATE_RECORD', 'the lock of the queue was taken away');
  const line = lineOf({ id: intentId, timestamp: new Date(now).toISOString(), hash });
  appendLine(lock.queue, EXECUTED, line, parseComplete, ({ id }) => {
    if (sameUuid(id, intentId)) throw new ExecutorError('ERR_GATE_RECORD', 'the intent is recorded already');
  });
}

/** As {@link parseRecord}, for writers: a record must be complete to be followed by another. */
export function parseComplete(text: string): QueueRecord | null {
  const record = parseRecord(text);
  return record?.timestamp == null || record.hash === null ? null : record;
}
