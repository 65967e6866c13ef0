import { decodeBase64Url, encodeBase64Url } from './base64url.ts';
import { nodeFs } from './builtin.ts';
import { type CryptoPort, defaultCrypto, ED25519_KEY_BYTES } from './crypto.ts';
import { JsonError, KeyError } from './errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseStrict } from './json.ts';
import { type KeyInit, type KeyRole, Keyring, type KeyringOptions } from './keys.ts';
import { toUtf8 } from './text.ts';

/**
 * A file of keys, with their private halves: JSON, `{"version":1,"keys":[…]}`, private and public halves as base64url,
 * times as Unix seconds. Nobody but its owner may be able to read it.
 *
 * A key is `{"kid","role","alg":"Ed25519","seed"}`, `{…,"alg":"Ed25519","public"}` without a private half, or
 * `{…,"alg":"HS256","secret"}`; `"verifyUntil"` with retired keys.
 */
const VERSION = 1;

/** Group and others: no access of any kind. */
const FORBIDDEN_MODE = 0o077;
/** Group and others: no writing. */
const FORBIDDEN_TO_CHANGE = 0o022;
const OWNER_ONLY = 0o600;
const MAX_FILE_BYTES = 1024 * 1024;

/** Two new Ed25519 keys, primary and fallback, named `<name>-primary` and `<name>-fallback`. */
export function generateKeys(name: string): readonly KeyInit[] {
  const seed = (): Uint8Array => crypto.getRandomValues(new Uint8Array(ED25519_KEY_BYTES));
  return [
    { kid: `${name}-primary`, role: 'primary', alg: 'Ed25519', seed: seed() },
    { kid: `${name}-fallback`, role: 'fallback', alg: 'Ed25519', seed: seed() },
  ];
}

/** The text of a key file. Signers elsewhere have no place in it: their keys are written with the public half alone. */
export function formatKeys(keys: readonly KeyInit[]): string {
  return `${JSON.stringify({ version: VERSION, keys: keys.map(record) }, null, 2)}\n`;
}

/** Reads the text of a key file. Throws {@link KeyError} (`ERR_KEY`, detail `file`) that names what is wrong, never a key. */
export function parseKeys(text: string | Uint8Array): readonly KeyInit[] {
  const file = objectOf(parse(text), 'the key file', ['version', 'keys']);
  if (file['version'] !== VERSION) throw broken(`the key file has a version other than ${VERSION}`);
  const keys = file['keys'];
  if (!Array.isArray(keys)) throw broken("'keys' of the key file must be a list");
  return keys.map((key, index) => keyOf(key, index));
}

/** A keyring with the keys of a file's text. Throws {@link KeyError}. */
export function keyringFrom(keys: readonly KeyInit[], options: KeyringOptions): Keyring {
  const keyring = new Keyring(options);
  for (const key of keys) keyring.add(key);
  return keyring;
}

/**
 * Reads a key file. On POSIX it must be a plain file that only its owner can access (0600 or less), which is checked on the
 * opened file, so nobody can swap it in between. Throws {@link KeyError}: `mode` for the permissions, `file` for the rest.
 */
export function loadKeyFile(path: string): readonly KeyInit[] {
  return readKeyFile(path, FORBIDDEN_MODE);
}

/**
 * As {@link loadKeyFile}, for verifiers: a file of public halves alone may be read by everyone, though changed by its owner
 * only. One with a private half in it is held to 0600 like any other.
 */
export function loadVerifyKeys(path: string): readonly KeyInit[] {
  const keys = readKeyFile(path, FORBIDDEN_TO_CHANGE);
  return keys.every(isPublic) ? keys : loadKeyFile(path);
}

function isPublic(key: KeyInit): boolean {
  return key.alg === 'Ed25519' && !('seed' in key);
}

function readKeyFile(path: string, forbidden: number): readonly KeyInit[] {
  const fs = needFs();
  const file = openFile(fs, path);
  try {
    const stat = fs.fstatSync(file);
    if (!stat.isFile()) throw broken(`${path} is no plain file`);
    if (process.platform !== 'win32' && (stat.mode & forbidden) !== 0)
      throw new KeyError('mode', `others can access ${path} (mode ${octal(stat.mode)}); run: chmod 600 ${path}`);
    if (stat.size > MAX_FILE_BYTES) throw broken(`${path} has more than ${MAX_FILE_BYTES} bytes`);
    return parseKeys(fs.readFileSync(file));
  } finally {
    fs.closeSync(file);
  }
}

/**
 * Writes a key file with mode 0600, whole or not at all: to a new file beside it, which then takes its place. Throws
 * {@link KeyError} (`file`) when that cannot be done.
 */
export function saveKeyFile(path: string, keys: readonly KeyInit[]): void {
  const fs = needFs();
  const draft = `${path}.${encodeBase64Url(crypto.getRandomValues(new Uint8Array(9)))}.new`;
  try {
    const file = fs.openSync(draft, 'wx', OWNER_ONLY);
    try {
      fs.writeSync(file, toUtf8(formatKeys(keys)));
      fs.fsyncSync(file);
    } finally {
      fs.closeSync(file);
    }
    fs.renameSync(draft, path);
  } catch (cause) {
    fs.rmSync(draft, { force: true });
    throw broken(`${path} cannot be written: ${reasonOf(cause)}`, cause);
  }
}

/** The public half of keys, for verifiers elsewhere: Ed25519 keys alone, each as a retired key. */
export function publicKeys(keys: readonly KeyInit[], crypto: CryptoPort = defaultCrypto): readonly KeyInit[] {
  return keys.flatMap((key) => {
    if (key.alg === 'HS256') return [];
    const publicKey = 'seed' in key ? crypto.ed25519PublicKey(key.seed) : key.publicKey;
    const until = key.verifyUntil === undefined ? {} : { verifyUntil: key.verifyUntil };
    return [{ kid: key.kid, role: 'retired' as const, alg: key.alg, publicKey, ...until }];
  });
}

function record(key: KeyInit): Readonly<Record<string, string | number>> {
  const { kid, role, alg, verifyUntil } = key;
  const until = verifyUntil === undefined ? {} : { verifyUntil };
  if (key.alg === 'HS256') return { kid, role, alg, secret: encodeBase64Url(key.secret), ...until };
  if ('seed' in key) return { kid, role, alg, seed: encodeBase64Url(key.seed), ...until };
  return { kid, role, alg, public: encodeBase64Url(key.publicKey), ...until };
}

function keyOf(value: JsonValue, index: number): KeyInit {
  const what = `key ${index + 1} of the key file`;
  const key = objectOf(value, what, ['kid', 'role', 'alg', 'seed', 'public', 'secret', 'verifyUntil']);
  const { kid, role, alg, verifyUntil } = key;
  if (typeof kid !== 'string') throw broken(`${what} has no 'kid'`);
  if (!isRole(role)) throw broken(`${what}: 'role' must be primary, fallback or retired`);
  if (verifyUntil !== undefined && typeof verifyUntil !== 'number') throw broken(`${what}: 'verifyUntil' must be a Unix second`);
  const base = { kid, role, ...(verifyUntil === undefined ? {} : { verifyUntil }) };
  const material = (['seed', 'public', 'secret'] as const).filter((name) => key[name] !== undefined);
  const [name] = material;
  if (name === undefined || material.length > 1) throw broken(`${what} must have one of 'seed', 'public' and 'secret'`);
  const bytes = bytesOf(key, name, what);
  if (alg === 'HS256' && name === 'secret') return { ...base, alg, secret: bytes };
  if (alg === 'Ed25519' && name === 'seed') return { ...base, alg, seed: bytes };
  if (alg === 'Ed25519' && name === 'public') return { ...base, alg, publicKey: bytes };
  throw broken(`${what}: '${name}' does not go with its 'alg'`);
}

function bytesOf(key: JsonObject, name: string, what: string): Uint8Array {
  const text = key[name];
  const bytes = typeof text === 'string' ? decodeBase64Url(text) : null;
  if (bytes === null) throw broken(`${what}: '${name}' is no base64url`);
  return bytes;
}

function objectOf(value: JsonValue, what: string, known: readonly string[]): JsonObject {
  if (!isJsonObject(value)) throw broken(`${what} must be an object`);
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined) throw broken(`${what} has the unknown field '${unknown.slice(0, 40)}'`);
  return value;
}

function isRole(value: JsonValue | undefined): value is KeyRole {
  return value === 'primary' || value === 'fallback' || value === 'retired';
}

/** Without the parser's own words: they may quote what stands in the file. */
function parse(text: string | Uint8Array): JsonValue {
  try {
    return parseStrict(text, { numbers: 'integers', padding: true });
  } catch (error) {
    if (error instanceof JsonError) throw broken(`the key file is no strict JSON (${error.detail})`);
    throw error;
  }
}

function needFs(): typeof import('node:fs') {
  const fs = nodeFs();
  if (fs === null) throw broken('key files need a file system; use parseKeys here');
  return fs;
}

function openFile(fs: typeof import('node:fs'), path: string): number {
  try {
    return fs.openSync(path, 'r');
  } catch (cause) {
    throw broken(`${path} cannot be read: ${reasonOf(cause)}`, cause);
  }
}

/** The system's error code alone, which is one word, if there is one; a file that is not there is the usual reason. */
function reasonOf(cause: unknown): string {
  if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return 'there is no such file or folder';
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return cause instanceof Error ? cause.message : String(cause);
}

function octal(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}

function broken(message: string, cause?: unknown): KeyError {
  return new KeyError('file', message, cause === undefined ? undefined : { cause });
}
