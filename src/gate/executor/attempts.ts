import { sameUuid } from '../formats.ts';
import { readQueue, reasonOf } from '../queue.ts';
import { parseRecord } from '../record.ts';
import { appendLine } from './append.ts';
import { ExecutorError } from './error.ts';
import type { QueueLock } from './lock.ts';
import { timestampOf } from './timestamp.ts';

/** The executor's journal. The gate never opens it. */
export const ATTEMPTS = 'attempts.jsonl';

/** `started` is recorded before the work runs; each of the others ends the attempt. */
export type AttemptState = 'started' | 'failed' | 'executed';

export interface Attempt {
  readonly id: string;
  readonly timestamp: string;
  readonly state: AttemptState;
}

/** The intent to approve, execute or record. */
export interface Intent {
  /** Id of the intent. */
  readonly intentId: string;
  /** SHA-256 of the approved plan, 64 hexadecimal digits. */
  readonly hash: string;
}

/**
 * Throws {@link ExecutorError} `ERR_GATE_ATTEMPT` when an attempt at this intent started and never ended: its executor died,
 * and the effects of its work are unknown. Also throws it when the journal cannot be read.
 */
export function refuseOpenAttempt(queue: string, intentId: string): void {
  let last: Attempt | null = null;
  try {
    readQueue(queue, ATTEMPTS, parseAttempt, (attempt) => {
      if (sameUuid(attempt.id, intentId)) last = attempt;
    });
  } catch (cause) {
    throw new ExecutorError('ERR_GATE_ATTEMPT', `${ATTEMPTS} cannot be read: ${reasonOf(cause)}`, { cause });
  }
  const open = openOf(last);
  if (open !== null)
    throw new ExecutorError('ERR_GATE_ATTEMPT', `an attempt started at ${open.timestamp}, and its outcome is unknown`);
}

/** Records the start or the end of an attempt. Throws {@link ExecutorError} `ERR_GATE_RECORD`. */
export function recordAttempt(lock: QueueLock, { intentId, hash }: Intent, state: AttemptState, now: number): void {
  const line = `${JSON.stringify({ id: intentId, timestamp: timestampOf(now), hash, state })}\n`;
  appendLine(lock.queue, ATTEMPTS, line, parseAttempt, () => {});
}

function openOf(attempt: Attempt | null): Attempt | null {
  return attempt?.state === 'started' ? attempt : null;
}

/** Parses one line; null for a malformed line. */
export function parseAttempt(text: string): Attempt | null {
  const record = parseRecord(text);
  if (record === null || record.timestamp === null || record.hash === null) return null;
  const { id, timestamp } = record;
  const { state }: { readonly state?: unknown } = JSON.parse(text);
  return state === 'started' || state === 'failed' || state === 'executed' ? { id, timestamp, state } : null;
}
