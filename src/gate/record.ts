import { isUuid } from './formats.ts';

/** A line of `approved.jsonl` or `executed.jsonl`. Further keys are allowed and ignored. */
export interface QueueRecord {
  /** A UUID in the letter case of the file. */
  readonly id: string;
  /** Null when it is missing or not a text; the record is then incomplete. */
  readonly timestamp: string | null;
  /** Null as above. */
  readonly hash: string | null;
}

/** Parses one line. Null unless it is a JSON object without duplicate keys whose id is a UUID. */
export function parseRecord(line: string): QueueRecord | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || hasDoubleKey(line, value)) return null;
  const id = own(value, 'id');
  return isUuid(id) ? { id, timestamp: textOf(own(value, 'timestamp')), hash: textOf(own(value, 'hash')) } : null;
}

/** Parses one line like {@link parseRecord}. Null also for an incomplete record: writers append nothing after one. */
export function parseCompleteRecord(line: string): QueueRecord | null {
  const record = parseRecord(line);
  return record?.timestamp == null || record.hash === null ? null : record;
}

export function lineOf(record: { readonly id: string; readonly timestamp: string; readonly hash: string }): string {
  const { id, timestamp, hash } = record;
  return `${JSON.stringify({ id, timestamp, hash })}\n`;
}

function own(value: object, key: string): unknown {
  return Object.getOwnPropertyDescriptor(value, key)?.value;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

const TOKEN = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g;

/** Whether the top level of a valid JSON object has a duplicate key. `JSON.parse` would silently take the second of two ids. */
function hasDoubleKey(json: string, value: object): boolean {
  // Of two equal keys the value has one. So JSON that is the text of its value has none twice, and most lines are that.
  if (JSON.stringify(value) === json) return false;
  const keys = new Set<string>();
  let depth = 0;
  for (const [token, colon] of json.matchAll(TOKEN)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (colon !== undefined && depth === 1) {
      const key = String(JSON.parse(token.slice(0, -colon.length)));
      if (keys.has(key)) return true;
      keys.add(key);
    }
  }
  return false;
}
