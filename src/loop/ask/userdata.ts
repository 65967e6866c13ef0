import { encodeUserdata, MAX_ENVELOPE_BYTES, UserdataError } from '../../aeiou/index.ts';
import { ToolError } from '../../tools/index.ts';
import { encode } from '../../wire/codec.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { plainMaps } from '../../wire/tagged.ts';
import { isValueMap, type Value } from '../../wire/values.ts';

/**
 * USERDATA of a nested loop. A prompt that is USERDATA already, as a map or as JSON text, stays as it is; any other prompt
 * becomes the field `prompt`. Throws {@link ToolError} 4 for a value that cannot be part of USERDATA.
 */
export function userdataOf(prompt: Value): unknown {
  // USERDATA is canonical JSON, which sorts keys, so the order of the program's map is dropped.
  const json = plainMaps(encode(prompt));
  const whole = isValueMap(prompt) ? json : typeof prompt === 'string' ? parsed(prompt) : null;
  if (isUserdata(whole)) return whole;
  const wrapped = { subject: 'ask', fields: { prompt: json } };
  try {
    encodeUserdata(wrapped);
    return wrapped;
  } catch (error) {
    if (!(error instanceof UserdataError)) throw error;
    throw new ToolError(NS_CODES.ArgMismatch, `the prompt cannot be sent: ${error.message}`, undefined, { cause: error });
  }
}

function parsed(text: string): unknown {
  // A text that is longer than an envelope cannot be part of one.
  if (text.length > MAX_ENVELOPE_BYTES || !text.trimStart().startsWith('{')) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isUserdata(value: unknown): boolean {
  if (value === null) return false;
  try {
    encodeUserdata(value);
    return true;
  } catch (error) {
    if (error instanceof UserdataError) return false;
    throw error;
  }
}
