import { JsonError, UserdataError } from '../errors.ts';
import { canonicalize } from '../json/canonical.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseStrict } from '../json/strict.ts';
import { utf8Length } from '../utf8.ts';

/** The data that the host gives to the program. Further names are allowed and kept. Frozen at every depth. */
export type Userdata = JsonObject & {
  /** What the session is about, for people and programs. */
  readonly subject: string;
  /** The task, for the agent. */
  readonly brief?: string;
  /** Any further data, which programs read by name. */
  readonly fields: JsonObject;
};

/** Bounds of USERDATA. */
export interface UserdataOptions {
  /** Most bytes of one text anywhere in USERDATA; larger assets are passed by reference. Default 64 KiB. */
  readonly maxStringBytes?: number;
}

const DEFAULT_MAX_STRING_BYTES = 64 * 1024;

/**
 * Reads and checks USERDATA. White space and fractions are allowed. Duplicate names, lone surrogates, numbers that would be rounded, and
 * deep nesting are refused. Throws {@link UserdataError}.
 */
export function validateUserdata(input: string | Uint8Array, options: UserdataOptions = {}): Userdata {
  const value = read(input);
  if (!isJsonObject(value)) throw new UserdataError('not_object', 'USERDATA must be a JSON object');
  if (!isUserdata(value)) throw new UserdataError(...fault(value));
  checkAssets(value, options.maxStringBytes ?? DEFAULT_MAX_STRING_BYTES);
  return value;
}

/**
 * Writes USERDATA as canonical JSON, so that the same data always gives the same envelope, and checks it like
 * {@link validateUserdata}. JSON escapes line feeds, so the text cannot contain a marker line. Throws {@link UserdataError}.
 */
export function encodeUserdata(value: unknown, options: UserdataOptions = {}): string {
  const text = write(value);
  validateUserdata(text, options);
  return text;
}

function read(input: string | Uint8Array): JsonValue {
  try {
    return parseStrict(input, { numbers: 'doubles', padding: true });
  } catch (error) {
    if (error instanceof JsonError)
      throw new UserdataError('json', `USERDATA is not strict JSON: ${error.message}`, { cause: error });
    throw error;
  }
}

function write(value: unknown): string {
  try {
    return canonicalize(value, 'doubles');
  } catch (error) {
    if (error instanceof JsonError)
      throw new UserdataError('value', `USERDATA cannot be written as JSON: ${error.message}`, { cause: error });
    throw error;
  }
}

function isUserdata(value: JsonObject): value is Userdata {
  return (
    typeof value.subject === 'string' &&
    (value.brief === undefined || typeof value.brief === 'string') &&
    isJsonObject(value.fields)
  );
}

function fault(value: JsonObject): readonly ['subject' | 'brief' | 'fields', string] {
  if (typeof value.subject !== 'string') return ['subject', "USERDATA needs 'subject', a text"];
  if (value.brief !== undefined && typeof value.brief !== 'string')
    return ['brief', "'brief' in USERDATA must be a text or absent"];
  return ['fields', "USERDATA needs 'fields', an object (it may be empty)"];
}

function checkAssets(value: JsonValue, allowed: number): void {
  if (typeof value === 'string') {
    if (value.length * 3 > allowed && utf8Length(value) > allowed)
      throw new UserdataError('asset', `a text in USERDATA has more than ${allowed} bytes; pass large assets by id or URI`);
  } else if (Array.isArray(value)) {
    for (const item of value) checkAssets(item, allowed);
  } else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      checkAssets(name, allowed);
      checkAssets(member, allowed);
    }
  }
}
