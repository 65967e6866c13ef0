import { encode } from './codec.ts';
import { Failure } from './errors.ts';
import { type Frame, variablesOf } from './frame.ts';
import type { Machine } from './machine.ts';
import { utf8Bytes } from './utf8.ts';
import type { Value } from './values.ts';

const { stringify } = JSON;

/**
 * The variables of a frame as the JSON of `Variables`. Together they may have as many bytes as one answer of a tool (`toolBytes`),
 * because they are sent in one frame. A variable that does not fit, or nests too deep to be sent, is only named.
 */
export function finalVariables(machine: Machine, frame: Frame): string {
  const kept: string[] = [];
  const lost: string[] = [];
  let room = machine.limits.toolBytes;
  for (const [name, value] of variablesOf(frame)) {
    // The JSON of a text is no shorter than the text, so a text that cannot fit is not encoded.
    const json = typeof value === 'string' && value.length > room ? null : written(machine, value);
    const text = json === null ? null : `{"name":${stringify(name)},"value":${json}${labelled(machine, frame, name, value)}}`;
    const bytes = text === null ? 0 : utf8Bytes(machine, text);
    if (text === null || bytes > room) lost.push(name);
    else {
      kept.push(text);
      room -= bytes;
    }
  }
  return `{"kept":[${kept.join(',')}],"lost":${stringify(lost)}}`;
}

/** The labels of a variable; empty for none. */
function labelled({ flow }: Machine, frame: Frame, name: string, value: Value): string {
  const labels = flow?.namesOf(frame, name, value) ?? [];
  return labels.length === 0 ? '' : `,"labels":${stringify(labels)}`;
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
