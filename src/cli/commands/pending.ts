import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, JsonError, type JsonValue, parseStrict } from '../../aeiou/index.ts';
import { readOrdinary } from '../../files/ordinary.ts';
import { isUuid, sameUuid } from '../../gate/formats.ts';
import { canonicalPlan, planHash } from '../../loop/index.ts';
import { printable } from '../../report/index.ts';
import { UsageError } from '../terminal/failure.ts';
import { fileTrouble, label } from '../terminal/input.ts';
import { appendWhole } from '../terminal/write.ts';

/** A plan that waits for a human. */
export interface PendingIntent {
  readonly id: string;
  readonly timestamp: string;
  /** The plan as canonical JSON (RFC 8785); the human reads this text. */
  readonly canonical: string;
  /** SHA-256 of {@link canonical}. */
  readonly hash: string;
}

/**
 * The file of pending plans in the queue directory: one line `{"id":UUID,"timestamp":ISO,"plan":JSON}` each, only ever appended.
 * Only commands for humans read it; the gate and the verifier never do.
 */
const PENDING = 'pending.jsonl';

/** Maximum bytes of a plan's line; a human must be able to read it. */
const MAX_BYTES = 1024 * 1024;

/** Maximum bytes of the file. */
const QUEUE_BYTES = 256 * MAX_BYTES;

/** Every plan that is or was pending. Throws {@link UsageError} for a missing file or a malformed line. */
export function readPending(queue: string): readonly PendingIntent[] {
  const path = join(queue, PENDING);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readOrdinary(path, QUEUE_BYTES));
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

/** The plan with this id. Throws {@link UsageError} when there is none or more than one. */
export function pendingOf(queue: string, id: string): PendingIntent {
  const found = readPending(queue).filter((intent) => sameUuid(intent.id, id));
  const [intent] = found;
  if (intent === undefined) throw new UsageError(`plan ${printable(id)} is not in ${printable(join(queue, PENDING))}`);
  if (found.length > 1) throw new UsageError(`the id ${intent.id} is ambiguous: ${found.length} plans have it`);
  return intent;
}

/** Appends the plan of a file. Throws {@link UsageError} for text that is not strict JSON or is too long. */
export function addPending(
  queue: string,
  { file, text }: { readonly file: string; readonly text: string },
  now: number,
): PendingIntent {
  let line: string;
  try {
    const plan = canonicalPlan(parseStrict(text, { numbers: 'doubles', padding: true }));
    line = `{"id":"${randomUUID()}","timestamp":"${new Date(now).toISOString()}","plan":${plan}}\n`;
  } catch (error) {
    if (error instanceof JsonError) throw new UsageError(`${label(file)} is not strict JSON: ${error.message}`);
    throw error;
  }
  if (Buffer.byteLength(line) > MAX_BYTES) throw new UsageError(`${label(file)}: the plan is longer than 1 MiB`);
  if (existsSync(join(queue, PENDING))) readPending(queue);
  try {
    appendWhole(join(queue, PENDING), line, { flush: true, mode: 0o644 });
  } catch (error) {
    throw new UsageError(`cannot write ${printable(join(queue, PENDING))}: ${fileTrouble(error, 'make')}`);
  }
  return intentOf(line.trimEnd());
}

/** Reads one line of the file. Throws {@link UsageError}, and `JsonError` for text that is not strict JSON. */
export function intentOf(line: string): PendingIntent {
  const value: JsonValue = parseStrict(line, { numbers: 'doubles', padding: true });
  if (!isJsonObject(value)) throw new UsageError('it is not a JSON object');
  const { id, timestamp, plan } = value;
  if (!isUuid(id)) throw new UsageError('its "id" is not a UUID');
  if (typeof timestamp !== 'string') throw new UsageError('its "timestamp" is not text');
  if (plan === undefined) throw new UsageError('it has no "plan"');
  return { id, timestamp, canonical: canonicalPlan(plan), hash: planHash(plan) };
}
