import { checkMethods, checkObject } from '../arguments.ts';
import { type TokenDetail, TokenError } from '../errors.ts';
import { canonicalize } from '../json/canonical.ts';
import { isJsonObject, type JsonObject } from '../json/strict.ts';
import type { KeyLookup, VerifyKey } from '../keys/keyring.ts';
import {
  ACTIONS,
  type DecodedToken,
  decodeToken,
  failed,
  isAction,
  malformed,
  TOKEN_KIND,
  type TokenFailure,
  type TokenPayload,
} from './format.ts';
import type { ReplayCache } from './replay.ts';

/** The turn, the time and the keys that a token is verified against. */
export interface VerifyOptions {
  /** Finds the key that a token names. */
  readonly keys: KeyLookup;
  /** The session that the token must name. */
  readonly sessionId: string;
  /** The turn that the token must name. */
  readonly turnIndex: number;
  /** The nonce that the token must name. */
  readonly turnNonce: string;
  /** Unix seconds at the time of verification; fractions are dropped. */
  readonly now: number;
  /** Seconds that `issued_at` may lie in the future; without it, any number. */
  readonly clockSkew?: number | undefined;
  /** Remembers used token ids; without it, the caller must detect replays. */
  readonly replay?: ReplayCache;
}

/** The payload of a valid token of this turn, or the check that failed. */
export type Verification =
  /** The content of the token, which is authentic. */
  { readonly ok: true; readonly payload: TokenPayload } | TokenFailure;

/**
 * Verifies that a line is a token of this turn. The first check that fails decides, in this order: length → grammar →
 * base64url → strict JSON → kid → registry, tag length → canonical form → tag → version, kind, fields, action → scope → time
 * → replay. No content is believed before the tag verifies. The id is remembered only when every other check passed, so
 * that an invalid token cannot block a valid one. No line makes it throw.
 */
export function verifyToken(line: string, options: VerifyOptions): Verification {
  checkObject('the options of verifyToken', options);
  if (typeof options.keys?.lookup !== 'function') checkMethods('the keys of verifyToken', options.keys, 'lookup');
  const decoded = decodeToken(line);
  if (!decoded.ok) return decoded;
  const { token } = decoded;
  const forged = checkTag(token, options.keys);
  if (forged !== null) return forged;
  const payload = token.payload;
  const invalid = checkFields(token);
  if (invalid !== null || !isTokenPayload(payload)) return invalid ?? malformed('field', 'a field has the wrong type');
  const refused = checkScope(payload, options) ?? checkTime(payload, options);
  if (refused !== null) return refused;
  if (options.replay !== undefined && !options.replay.add(options.sessionId, payload.jti))
    return failed('ERR_TOKEN_REPLAY', 'replay', 'the token was used before');
  return { ok: true, payload };
}

/** The payload of a token that {@link verifyToken} accepts. Throws {@link TokenError} for every other line. */
export function requireToken(line: string, options: VerifyOptions): TokenPayload {
  const result = verifyToken(line, options);
  if (!result.ok) throw new TokenError(result.code, result.detail, result.message);
  return result.payload;
}

function checkTag(token: DecodedToken, keys: KeyLookup): TokenFailure | null {
  const kid = token.payload['kid'];
  if (typeof kid !== 'string') return malformed('kid', "the payload has no text 'kid'");
  const key = keys.lookup(kid);
  if (key === null) return failed('ERR_TOKEN_VERIFY', 'unknown_kid', 'no key with that kid is registered');
  if (token.tag.length !== key.tagBytes)
    return failed(
      'ERR_TOKEN_VERIFY',
      'tag_length',
      `a tag of ${key.alg} has ${key.tagBytes} bytes, this one ${token.tag.length}`,
    );
  if (canonicalize(token.payload) !== token.text)
    return failed('ERR_TOKEN_VERIFY', 'canonical', 'the payload is not in canonical form');
  if (!verifies(key, token)) return failed('ERR_TOKEN_VERIFY', 'tag', 'the tag does not belong to the payload');
  return null;
}

/** An application may supply keys of its own. When such a key throws, the tag does not verify. */
function verifies(key: VerifyKey, token: DecodedToken): boolean {
  try {
    return key.verify(token.message, token.tag);
  } catch {
    return false;
  }
}

function checkFields({ kind, payload }: DecodedToken): TokenFailure | null {
  if (payload['v'] !== 3) return malformed('version', 'the version is not 3');
  if (payload['kind'] !== kind || kind !== TOKEN_KIND)
    return malformed('kind', `the kind is not ${TOKEN_KIND}, or differs between line and payload`);
  for (const name of ['jti', 'session_id', 'turn_nonce'])
    if (typeof payload[name] !== 'string' || payload[name] === '') return malformed('field', `'${name}' is not a text`);
  for (const name of ['turn_index', 'issued_at', 'ttl'])
    if (typeof payload[name] !== 'number' && !(name === 'ttl' && payload[name] === undefined))
      return malformed('field', `'${name}' is not an integer`);
  const control = payload['payload'];
  if (!isJsonObject(control)) return malformed('field', "'payload' is not an object");
  for (const name of ['request', 'telemetry'])
    if (control[name] !== undefined && !isJsonObject(control[name])) return malformed('field', `'${name}' is not an object`);
  if (!isAction(control['action'])) return malformed('action', `'action' is not one of ${ACTIONS.join(', ')}`);
  return null;
}

/** Narrows the type of a payload that passed {@link checkFields}. */
function isTokenPayload(payload: JsonObject): payload is TokenPayload {
  return isJsonObject(payload['payload']) && isAction(payload['payload']['action']);
}

function checkScope(payload: TokenPayload, options: VerifyOptions): TokenFailure | null {
  const other = (detail: TokenDetail, what: string): TokenFailure =>
    failed('ERR_TOKEN_SCOPE', detail, `the token was minted for another ${what}`);
  if (payload.session_id !== options.sessionId) return other('session', 'session');
  if (payload.turn_index !== options.turnIndex) return other('turn', 'turn');
  if (payload.turn_nonce !== options.turnNonce) return other('nonce', 'run of this turn');
  return null;
}

function checkTime(payload: TokenPayload, options: VerifyOptions): TokenFailure | null {
  const now = Math.floor(options.now);
  if (payload.ttl !== undefined && now > payload.issued_at + payload.ttl)
    return failed('ERR_TOKEN_TTL', 'expired', `the token expired ${now - payload.issued_at - payload.ttl} s ago`);
  if (options.clockSkew !== undefined && payload.issued_at > now + options.clockSkew)
    return failed('ERR_TOKEN_TTL', 'future', `the token was issued ${payload.issued_at - now} s in the future`);
  return null;
}
