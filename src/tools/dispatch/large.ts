import { createHash, hash } from 'node:crypto';
import { setImmediate as nextRound } from 'node:timers/promises';
import { decode, decodeInPieces, decodeOrdered, decodeOrderedInPieces } from '../../wire/codec.ts';
import { inPieces, isHeavy, isLight, jsonBytes, type Pieces } from '../../wire/pieces.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import type { OrderedValue, Value } from '../../wire/values.ts';

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

/** JSON as a text, or as bytes of UTF-8. */
export type Json = string | Buffer;

/** The JSON of a message or a value: a text where that is short. */
export function jsonOf(message: object | TaggedJson): Json | Promise<Json> {
  if (isHeavy(message)) return inPieces(allBytes(message), ownRound);
  return isLight(message) ? JSON.stringify(message) : ownRound().then(() => JSON.stringify(message));
}

function* allBytes(message: object | TaggedJson): Pieces<Buffer> {
  const parts = yield* jsonBytes(message);
  const bytes = Buffer.allocUnsafeSlow(parts.reduce((sum, part) => sum + part.length, 0));
  let end = 0;
  for (const part of parts) {
    end += part.copy(bytes, end);
    yield;
  }
  return bytes;
}

/** The bytes of the JSON of a value in UTF-8. */
export async function jsonSize(value: TaggedJson): Promise<number> {
  const json = await jsonOf(value);
  return typeof json === 'string' ? Buffer.byteLength(json) : json.length;
}

const HASHED_BYTES = 256 * 1024;

/** SHA-256 of the JSON of some values, in lower-case hexadecimal. */
export async function digestOf(args: readonly TaggedJson[]): Promise<string> {
  const json = await jsonOf(args);
  if (json.length <= HASHED_BYTES) return hash('sha256', json, 'hex');
  const bytes = typeof json === 'string' ? Buffer.from(json) : json;
  const digest = createHash('sha256');
  for (let at = 0; at < bytes.length; at += HASHED_BYTES) {
    digest.update(bytes.subarray(at, at + HASHED_BYTES));
    await ownRound();
  }
  return digest.digest('hex');
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Waits for a round of the event loop in which nobody else does a piece of work on values: many calls may end in one round, and their
 * pieces would add up.
 */
export function ownRound(): Promise<unknown> {
  last = last.then(() => nextRound());
  return last;
}
