import { decodeBase64Url, encodeBase64Url } from '../../crypto/index.ts';
import { typeName } from '../arguments.ts';
import { JsonError, type TokenCode, type TokenDetail } from '../errors.ts';
import { isJsonObject, type JsonObject, parseStrict } from '../json/strict.ts';
import { fromUtf8 } from '../utf8.ts';

/** The only kind of token in this version. */
export const TOKEN_KIND = 'LOOP';
/** Most bytes of a token line. */
export const MAX_TOKEN_BYTES = 1024;
export const ACTIONS = ['continue', 'done', 'abort'] as const;
/** The request of a program to the host loop. */
export type Action = (typeof ACTIONS)[number];

/** The payload of a token: the action, and further data of the program. */
export type ControlPayload = JsonObject & {
  /** What the program asks of the host loop. */
  readonly action: Action;
  /** Data that goes with the request. */
  readonly request?: JsonObject;
  /** Data for observers, without effect. */
  readonly telemetry?: JsonObject;
};

/** The signed content of a token. Fields that this version does not know are kept and ignored. */
export type TokenPayload = JsonObject & {
  readonly v: 3;
  /** The kind, as in the text of the token. */
  readonly kind: typeof TOKEN_KIND;
  /** Id of the token, which no other token of its host has. */
  readonly jti: string;
  /** The session that may use the token. */
  readonly session_id: string;
  /** The turn that may use the token, from 1. */
  readonly turn_index: number;
  /** 16 random bytes as base64url. */
  readonly turn_nonce: string;
  /** Unix seconds. */
  readonly issued_at: number;
  /** Seconds. A token without it does not expire. */
  readonly ttl?: number;
  /** Key that signed. */
  readonly kid: string;
  /** The request of the program. */
  readonly payload: ControlPayload;
};

export const TOKEN_PREFIX = '<<<NSMAG:V3:';
const TOKEN = /^<<<NSMAG:V3:([A-Z0-9_]+):([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)>>>$/;

/**
 * Whether a line of OUTPUT has exactly the form of a token. The length is checked first, and the pattern takes time linear in
 * it.
 */
export function isTokenLine(line: string): boolean {
  return typeof line === 'string' && line.length <= MAX_TOKEN_BYTES && line.startsWith(TOKEN_PREFIX) && TOKEN.test(line);
}

export function isAction(value: unknown): value is Action {
  return ACTIONS.some((action) => action === value);
}

const NONCE_BYTES = 16;

/** A new turn nonce from the platform's cryptographic randomness: 16 bytes, written as 22 characters. */
export function newTurnNonce(): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
}

/** Whether a text is 16 bytes in canonical base64url. */
export function isTurnNonce(text: string): boolean {
  return decodeBase64Url(text)?.length === NONCE_BYTES;
}

/** The parts of a token. Nothing in it is authenticated before `verifyToken`. */
export interface DecodedToken {
  /** The kind in the text of the token, such as `LOOP`. */
  readonly kind: string;
  /** The bytes of the payload, which the tag covers. */
  readonly message: Uint8Array;
  /** The same bytes as text. */
  readonly text: string;
  /** The content that the token claims. */
  readonly payload: JsonObject;
  /** The bytes of the signature. */
  readonly tag: Uint8Array;
}

/** A check that failed, with a sentence about it. */
export interface TokenFailure {
  readonly ok: false;
  /** The kind of failure. */
  readonly code: TokenCode;
  /** The check that failed. */
  readonly detail: TokenDetail;
  /** What is wrong, as a sentence for logs. */
  readonly message: string;
}

/** Decodes a line as far as possible without keys. Checks length, grammar, base64url and that the payload is a strict JSON object. */
export function decodeToken(line: string): { readonly ok: true; readonly token: DecodedToken } | TokenFailure {
  if (typeof line !== 'string') return malformed('grammar', `a token is a text, got ${typeName(line)}`);
  if (line.length > MAX_TOKEN_BYTES) return malformed('length', `a token has at most ${MAX_TOKEN_BYTES} bytes`);
  const [, kind, payload64, tag64] = TOKEN.exec(line) ?? [];
  if (kind === undefined || payload64 === undefined || tag64 === undefined)
    return malformed('grammar', 'the line is not exactly <<<NSMAG:V3:KIND:PAYLOAD.TAG>>>');
  const message = decodeBase64Url(payload64);
  const tag = decodeBase64Url(tag64);
  if (message === null || tag === null) return malformed('base64', 'the payload or the tag is not canonical base64url');
  const text = fromUtf8(message);
  if (text === null) return malformed('json', 'the payload is not valid UTF-8');
  try {
    const payload = parseStrict(text, { numbers: 'integers', padding: false });
    if (!isJsonObject(payload)) return malformed('json', 'the payload is not a JSON object');
    return { ok: true, token: { kind, message, text, payload, tag } };
  } catch (error) {
    if (error instanceof JsonError) return malformed('json', `the payload is not strict JSON: ${error.message}`);
    throw error;
  }
}

/** A failure for a wrong structure: `ERR_TOKEN_PARSE`. */
export function malformed(detail: TokenDetail, message: string): TokenFailure {
  return failed('ERR_TOKEN_PARSE', detail, message);
}

export function failed(code: TokenCode, detail: TokenDetail, message: string): TokenFailure {
  return { ok: false, code, detail, message };
}
