import type { ToolRuntime } from '../../src/tools/index.ts';
import { decodeOrdered, encode } from '../../src/wire/codec.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';

/** The key of stored labels. A key of a program's map that begins with `$` has two of them when it is stored, so no program can write it. */
const LABELS = '$labels';

/** A value as it is stored: together with the labels of the call that stores it, if it has any. */
export function storedValue(value: unknown, { labels }: ToolRuntime): TaggedJson {
  const json = encode(value);
  return labels.length === 0 ? json : { [LABELS]: labels, value: json };
}

/** A stored value. The result of the call gets the labels that are stored with it. */
export function readValue(stored: TaggedJson, runtime: ToolRuntime): unknown {
  if (typeof stored !== 'object' || stored === null || !(LABELS in stored)) return decodeOrdered(stored);
  const { [LABELS]: labels, value = null } = stored;
  if (Array.isArray(labels)) runtime.carry(labels.filter((label) => typeof label === 'string'));
  return decodeOrdered(value);
}
