import { decodeBase64Url } from './base64url.ts';
import { JsonError, type TokenCode, type TokenDetail } from './errors.ts';
import { isJsonObject, type JsonObject, parseStrict } from './json.ts';
import { fromUtf8 } from './text.ts';

/** The only kind of this version (A3-5.2). */
export const TOKEN_KIND = 'LOOP';
/** Bytes of a token line, inclusive (A3-6.2-4). */
export const MAX_TOKEN_BYTES = 1024;
/** What a token can ask for. */
export const ACTIONS = ['continue', 'done', 'abort'] as const;
/** What the program asks of the loop (A3-5.2-1). */
export type Action = (typeof ACTIONS)[number];

/** What the program asked for: `action`, and whatever else it had signed (AMB-28). */
export interface ControlPayload extends JsonObject {
  readonly action: Action;
  readonly request?: JsonObject;
  readonly telemetry?: JsonObject;
}

/** The signed content of a token (A3-6.3). Fields that this version does not know are kept, and ignored (A3-12-3). */
export interface TokenPayload extends JsonObject {
  readonly v: 3;
  readonly kind: typeof TOKEN_KIND;
  readonly jti: string;
  readonly session_id: string;
  readonly turn_index: number;
  /** 16 bytes as base64url. */
  readonly turn_nonce: string;
  /** Unix seconds. */
  readonly issued_at: number;
  /** Seconds; absent: the token does not expire by itself. */
  readonly ttl?: number;
  readonly kid: string;
  readonly payload: ControlPayload;
}

/** How every token starts. */
export const TOKEN_PREFIX = '<<<NSMAG:V3:';
const TOKEN = /^<<<NSMAG:V3:([A-Z0-9_]+):([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)>>>$/;

/** Whether a line of OUTPUT is a candidate: the TOKEN grammar exactly, at most 1024 bytes (AMB-06). Linear, length first. */
export function isTokenLine(line: string): boolean {
  return line.length <= MAX_TOKEN_BYTES && line.startsWith(TOKEN_PREFIX) && TOKEN.test(line);
}

/** Whether a value is one of the three actions, exactly. */
export function isAction(value: unknown): value is Action {
  return ACTIONS.some((action) => action === value);
}

/** A token taken apart. Nothing in it is authenticated: for display and for `verify.ts`. */
export interface DecodedToken {
  readonly kind: string;
  /** The payload's bytes, which the tag covers. */
  readonly message: Uint8Array;
  /** The payload's text, as it stands in the token. */
  readonly text: string;
  readonly payload: JsonObject;
  readonly tag: Uint8Array;
}

/** A check that failed, and how to say it. */
export interface TokenFailure {
  readonly ok: false;
  readonly code: TokenCode;
  readonly detail: TokenDetail;
  readonly message: string;
}

/** Takes a line apart as far as that goes without keys: length, grammar, base64url, strict JSON object. */
export function decodeToken(line: string): { readonly ok: true; readonly token: DecodedToken } | TokenFailure {
  if (line.length > MAX_TOKEN_BYTES) return malformed('length', `a token has at most ${MAX_TOKEN_BYTES} bytes`);
  const [, kind, payload64, tag64] = TOKEN.exec(line) ?? [];
  if (kind === undefined || payload64 === undefined || tag64 === undefined)
    return malformed('grammar', 'the line is not exactly <<<NSMAG:V3:KIND:PAYLOAD.TAG>>>');
  const message = decodeBase64Url(payload64);
  const tag = decodeBase64Url(tag64);
  if (message === null || tag === null) return malformed('base64', 'payload or tag is no canonical base64url');
  const text = fromUtf8(message);
  if (text === null) return malformed('json', 'the payload is not valid UTF-8');
  try {
    const payload = parseStrict(text, { numbers: 'integers', padding: false });
    if (!isJsonObject(payload)) return malformed('json', 'the payload is no JSON object');
    return { ok: true, token: { kind, message, text, payload, tag } };
  } catch (error) {
    if (error instanceof JsonError) return malformed('json', `the payload is no strict JSON: ${error.message}`);
    throw error;
  }
}

/** `ERR_TOKEN_PARSE`: the structure is wrong. */
export function malformed(detail: TokenDetail, message: string): TokenFailure {
  return failed('ERR_TOKEN_PARSE', detail, message);
}

/** The result of a failed check. */
export function failed(code: TokenCode, detail: TokenDetail, message: string): TokenFailure {
  return { ok: false, code, detail, message };
}
