import { isUuid } from './formats.ts';

/** A line of `approved.jsonl` or `executed.jsonl`; keys beyond these three are allowed and not read. */
export interface QueueRecord {
  /** A UUID, in the letter case of the file. */
  readonly id: string;
  /** Null when it is missing or no text: then the record is complete for nobody. */
  readonly timestamp: string | null;
  /** Null as above. */
  readonly hash: string | null;
}

/** Reads one line. Null for what leaves any doubt: no JSON, no object, a key that stands there twice, an id that is no UUID. */
export function parseRecord(line: string): QueueRecord | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || hasDoubleKey(line)) return null;
  const id = own(value, 'id');
  return isUuid(id) ? { id, timestamp: textOf(own(value, 'timestamp')), hash: textOf(own(value, 'hash')) } : null;
}

/** A record as the writers put it into a file, line feed included. */
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

const TOKEN = /"(?:[^"\\]+|\\.)*"(\s*:)?|[{}[\]]/g;

/**
 * Whether an object that is known to be valid JSON has a key twice on its first level: of two ids JSON.parse would silently
 * believe the second.
 */
function hasDoubleKey(json: string): boolean {
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
