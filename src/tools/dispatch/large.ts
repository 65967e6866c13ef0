import { createHash, hash } from 'node:crypto';
import { decode, decodeInPieces, decodeOrdered, decodeOrderedInPieces } from '../../wire/codec.ts';
import { inPieces, isHeavy, isLight, textInPieces } from '../../wire/pieces.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import type { OrderedValue, Value } from '../../wire/values.ts';
import { ownRound } from './rounds.ts';

/*
 * Work on the values of calls. Work on large values is done in pieces, and the event loop does other work in between; small values take
 * no detour.
 */

/** The value of tagged JSON. Throws or rejects as `decode` throws. */
export function valueFrom(json: TaggedJson): Value | Promise<Value> {
  return isHeavy(json) ? inPieces(decodeInPieces(json), ownRound) : decode(json);
}

/** As {@link valueFrom}, with maps as ES maps. */
export function orderedValueFrom(json: TaggedJson): OrderedValue | Promise<OrderedValue> {
  return isHeavy(json) ? inPieces(decodeOrderedInPieces(json), ownRound) : decodeOrdered(json);
}

/** The JSON of a message or a value. */
export function textOf(message: object | TaggedJson): string | Promise<string> {
  if (isHeavy(message)) return inPieces(textInPieces(message), ownRound);
  return isLight(message) ? JSON.stringify(message) : ownRound().then(() => JSON.stringify(message));
}

const HASHED_BYTES = 256 * 1024;

/** SHA-256 of the JSON of some values, in lower-case hexadecimal. */
export async function digestOf(args: readonly TaggedJson[]): Promise<string> {
  const text = await textOf(args);
  if (text.length <= HASHED_BYTES) return hash('sha256', text, 'hex');
  const bytes = Buffer.from(text);
  const digest = createHash('sha256');
  for (let at = 0; at < bytes.length; at += HASHED_BYTES) {
    digest.update(bytes.subarray(at, at + HASHED_BYTES));
    await ownRound();
  }
  return digest.digest('hex');
}
