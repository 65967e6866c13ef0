import { encodeUserdata, UserdataError } from '../../aeiou/index.ts';
import { ToolError } from '../../tools/index.ts';
import { encode, isValueMap } from '../../wire/codec.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { plainMaps } from '../../wire/maporder.ts';
import type { Value } from '../../wire/values.ts';

/**
 * USERDATA of a nested loop: a prompt that is USERDATA already, as a map or as the text of one, is taken as it is; anything
 * else becomes the field `prompt` (AMB-27). Throws {@link ToolError} 4 for what cannot be USERDATA at all.
 */
export function userdataOf(prompt: Value): unknown {
  // USERDATA is JSON for a model, and canonical: its keys have no order.
  const json = plainMaps(encode(prompt));
  const whole = isValueMap(prompt) ? json : typeof prompt === 'string' ? parsed(prompt) : null;
  if (isUserdata(whole)) return whole;
  const wrapped = { subject: 'ask', fields: { prompt: json } };
  try {
    encodeUserdata(wrapped);
    return wrapped;
  } catch (error) {
    if (!(error instanceof UserdataError)) throw error;
    throw new ToolError(NS_CODES.ArgMismatch, `this cannot be asked: ${error.message}`, undefined, { cause: error });
  }
}

function parsed(text: string): unknown {
  if (!text.trimStart().startsWith('{')) return null;
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
