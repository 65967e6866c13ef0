import { decodeBase64Url, encodeBase64Url } from '../../crypto/index.ts';
import { otherVersion, STORED_VERSION } from '../../wire/forms.ts';
import { checkObjects } from '../arguments.ts';
import { JsonError, KeyError } from '../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseStrict } from '../json/strict.ts';
import type { KeyInit, KeyRole } from './keyring.ts';

/**
 * The text of a key file is JSON: `{"version":1,"keys":[…]}`, with key material as base64url and times as Unix seconds. A
 * key is `{"kid","role","alg":"Ed25519","seed"}`, or `{…,"alg":"Ed25519","public"}` without its private half, or
 * `{…,"alg":"HS256","secret"}`. Retired keys may have `"verifyUntil"`.
 */
/** Writes the text of a key file. A key with a remote signer is written with its public half alone. */
export function formatKeys(keys: readonly KeyInit[]): string {
  checkObjects('the keys', keys);
  return `${JSON.stringify({ version: STORED_VERSION, keys: keys.map(record) }, null, 2)}\n`;
}

/** Reads the text of a key file. Throws {@link KeyError} (`ERR_KEY`, detail `file`); its message never shows key material. */
export function parseKeys(text: string | Uint8Array): readonly KeyInit[] {
  const file = objectOf(parse(text), 'the key file', ['version', 'keys']);
  if (file['version'] !== STORED_VERSION) throw keyFileError(otherVersion('the key file', file['version']));
  const keys = file['keys'];
  if (!Array.isArray(keys)) throw keyFileError("'keys' of the key file must be a list");
  return keys.map((key, index) => keyOf(key, index));
}

function record(key: KeyInit): Readonly<Record<string, string | number | undefined>> {
  const { kid, role, alg, verifyUntil } = key;
  if (key.alg === 'HS256') return { kid, role, alg, verifyUntil, secret: encodeBase64Url(key.secret) };
  if ('seed' in key) return { kid, role, alg, verifyUntil, seed: encodeBase64Url(key.seed) };
  return { kid, role, alg, verifyUntil, public: encodeBase64Url(key.publicKey) };
}

function keyOf(value: JsonValue, index: number): KeyInit {
  const what = `key ${index + 1} of the key file`;
  const key = objectOf(value, what, ['kid', 'role', 'alg', 'seed', 'public', 'secret', 'verifyUntil']);
  const { kid, role, alg, verifyUntil } = key;
  if (typeof kid !== 'string') throw keyFileError(`${what} has no 'kid'`);
  if (!isRole(role)) throw keyFileError(`${what}: 'role' must be ${ROLES.join(', ')}`);
  if (verifyUntil !== undefined && typeof verifyUntil !== 'number')
    throw keyFileError(`${what}: 'verifyUntil' must be a Unix second`);
  const base = { kid, role, verifyUntil };
  const material = (['seed', 'public', 'secret'] as const).filter((name) => key[name] !== undefined);
  const [name] = material;
  if (name === undefined || material.length > 1) throw keyFileError(`${what} must have one of 'seed', 'public' and 'secret'`);
  const bytes = bytesOf(key, name, what);
  if (alg === 'HS256' && name === 'secret') return { ...base, alg, secret: bytes };
  if (alg === 'Ed25519' && name === 'seed') return { ...base, alg, seed: bytes };
  if (alg === 'Ed25519' && name === 'public') return { ...base, alg, publicKey: bytes };
  throw keyFileError(`${what}: '${name}' does not belong to its 'alg'`);
}

function bytesOf(key: JsonObject, name: string, what: string): Uint8Array {
  const text = key[name];
  const bytes = typeof text === 'string' ? decodeBase64Url(text) : null;
  if (bytes === null) throw keyFileError(`${what}: '${name}' is not base64url`);
  return bytes;
}

function objectOf(value: JsonValue, what: string, known: readonly string[]): JsonObject {
  if (!isJsonObject(value)) throw keyFileError(`${what} must be an object`);
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined) throw keyFileError(`${what} has the unknown field '${unknown.slice(0, 40)}'`);
  return value;
}

const ROLES: readonly KeyRole[] = ['primary', 'fallback', 'next-primary', 'next-fallback', 'retired'];

function isRole(value: JsonValue | undefined): value is KeyRole {
  return ROLES.some((role) => role === value);
}

/** Leaves the parser's message out of the error: it may quote the file. */
function parse(text: string | Uint8Array): JsonValue {
  try {
    return parseStrict(text, { numbers: 'integers', padding: true });
  } catch (error) {
    if (error instanceof JsonError) throw keyFileError(`the key file is not strict JSON (${error.detail})`);
    throw error;
  }
}

/** A {@link KeyError} about the key file itself. */
export function keyFileError(message: string, options?: ErrorOptions): KeyError {
  return new KeyError('file', message, options);
}
