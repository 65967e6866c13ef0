import { encode } from './codec.ts';
import { Failure } from './errors.ts';
import type { Frame } from './frame.ts';
import type { Machine } from './machine.ts';
import { utf8Bytes } from './utf8.ts';
import type { Value } from './values.ts';

const { stringify } = JSON;

/**
 * The variables of a frame as the JSON of `Variables`. All of them together get no more bytes than one answer of a tool may
 * have (`toolBytes`): they travel in one frame. What does not fit, or nests too deeply to leave, is named and left behind.
 */
export function finalVariables(machine: Machine, frame: Frame): string {
  const kept: string[] = [];
  const lost: string[] = [];
  let room = machine.limits.toolBytes;
  for (const [name, value] of variablesOf(frame)) {
    // JSON is no shorter than the text in it: what cannot fit is not written to find that out.
    const json = typeof value === 'string' && value.length > room ? null : written(machine, value);
    const text = json === null ? null : `{"name":${stringify(name)},"value":${json}}`;
    const bytes = text === null ? 0 : utf8Bytes(machine, text);
    if (text === null || bytes > room) lost.push(name);
    else {
      kept.push(text);
      room -= bytes;
    }
  }
  return `{"kept":[${kept.join(',')}],"lost":${stringify(lost)}}`;
}

/** Those that are set, under the names of the source and under those that only tools know. */
function* variablesOf(frame: Frame): Generator<readonly [string, Value]> {
  for (const [name, slot] of frame.layout.scope) {
    const value = frame.slots[slot];
    if (value !== undefined) yield [name, value];
  }
  yield* frame.rare?.extra ?? [];
}

/** Null for a value that cannot be sent. */
function written(machine: Machine, value: Value): string | null {
  try {
    return encode(machine, value, 'host');
  } catch (thrown) {
    if (thrown instanceof Failure) return null;
    throw thrown;
  }
}
