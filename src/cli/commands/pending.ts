import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, JsonError, type JsonValue, parseStrict } from '../../aeiou/index.ts';
import { isUuid, sameUuid } from '../../gate/formats.ts';
import { canonicalPlan, planHash } from '../../loop/index.ts';
import { printable } from '../../report/index.ts';
import { UsageError } from '../terminal/failure.ts';
import { fileTrouble } from '../terminal/input.ts';

/** A plan that waits for a human. */
export interface PendingIntent {
  readonly id: string;
  readonly timestamp: string;
  /** RFC 8785, what the human reads. */
  readonly canonical: string;
  /** Of {@link canonical}. */
  readonly hash: string;
}

/**
 * Where plans wait, in the queue directory: one line `{"id":UUID,"timestamp":ISO,"plan":JSON}` each, appended and never
 * changed. Only tools for humans open it; the gate and the verifier never do (ARGO-3-5).
 */
const PENDING = 'pending.jsonl';

/** Most bytes of a plan's line: what a human can still read. */
const MAX_BYTES = 1024 * 1024;

/** Every plan that waits or waited. Throws {@link UsageError} for a file that is missing or has a line that is none. */
export function readPending(queue: string): readonly PendingIntent[] {
  const path = join(queue, PENDING);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
  } catch (error) {
    throw new UsageError(`cannot read ${printable(path)}: ${fileTrouble(error)}`);
  }
  const lines = text.split('\n');
  if (lines.pop() !== '') throw new UsageError(`the last line of ${printable(path)} was never finished`);
  return lines.map((line, index) => {
    try {
      return intentOf(line);
    } catch (error) {
      if (!(error instanceof JsonError || error instanceof UsageError)) throw error;
      throw new UsageError(`${printable(path)}, line ${index + 1}: ${printable(error.message)}`);
    }
  });
}

/** The one plan of that id. Throws {@link UsageError} when there is none, or more than one. */
export function pendingOf(queue: string, id: string): PendingIntent {
  const found = readPending(queue).filter((intent) => sameUuid(intent.id, id));
  const [intent] = found;
  if (intent === undefined) throw new UsageError(`there is no plan ${printable(id)} in ${printable(join(queue, PENDING))}`);
  if (found.length > 1) throw new UsageError(`there are ${found.length} plans ${intent.id}; nobody can say which one is meant`);
  return intent;
}

/** Puts a plan where a human will find it. Throws {@link UsageError} for text that is no strict JSON or too long. */
export function addPending(queue: string, planText: string, now: number): PendingIntent {
  let line: string;
  try {
    const plan = canonicalPlan(parseStrict(planText, { numbers: 'doubles', padding: true }));
    line = `{"id":"${randomUUID()}","timestamp":"${new Date(now).toISOString()}","plan":${plan}}\n`;
  } catch (error) {
    if (error instanceof JsonError) throw new UsageError(`the plan is no JSON that everybody reads alike: ${error.message}`);
    throw error;
  }
  if (Buffer.byteLength(line) > MAX_BYTES) throw new UsageError('the plan is longer than 1 MiB, which nobody reads');
  if (existsSync(join(queue, PENDING))) readPending(queue);
  try {
    appendFileSync(join(queue, PENDING), line, { flush: true, mode: 0o644 });
  } catch (error) {
    throw new UsageError(`cannot write ${printable(join(queue, PENDING))}: ${fileTrouble(error, 'make')}`);
  }
  return intentOf(line.trimEnd());
}

/** Reads one line of the file. Throws {@link UsageError}, and `JsonError` for what is no strict JSON. */
export function intentOf(line: string): PendingIntent {
  const value: JsonValue = parseStrict(line, { numbers: 'doubles', padding: true });
  if (!isJsonObject(value)) throw new UsageError('it is no JSON object');
  const { id, timestamp, plan } = value;
  if (!isUuid(id)) throw new UsageError('its "id" is no UUID');
  if (typeof timestamp !== 'string') throw new UsageError('its "timestamp" is no text');
  if (plan === undefined) throw new UsageError('it has no "plan"');
  return { id, timestamp, canonical: canonicalPlan(plan), hash: planHash(plan) };
}
