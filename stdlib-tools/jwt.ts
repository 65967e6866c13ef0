import { createHmac, timingSafeEqual } from 'node:crypto';
import { ToolError } from '../src/tools/index.ts';
import { NS_CODES } from '../src/wire/codes.ts';
import { isList } from '../src/wire/tagged.ts';
import { isValueMap, type Value, type ValueMap } from '../src/wire/values.ts';

/** The algorithms for tokens with a shared secret. `none` is not among them, so a token cannot claim to need no signature. */
export const JWT_ALGORITHMS = ['HS256', 'HS384', 'HS512'] as const;
/** One of {@link JWT_ALGORITHMS}. */
export type JwtAlgorithm = (typeof JWT_ALGORITHMS)[number];

/** Tells whether a name is one of {@link JWT_ALGORITHMS}. */
export function isJwtAlgorithm(name: unknown): name is JwtAlgorithm {
  return JWT_ALGORITHMS.some((each) => each === name);
}

const HASH: Readonly<Record<JwtAlgorithm, string>> = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' };

/** Signs claims as a compact token (RFC 7519). Throws {@link ToolError} 41 for claims that JSON cannot represent and for an empty secret. */
export function signJwt(claims: ValueMap, secret: string, algorithm: JwtAlgorithm): string {
  const signed = `${segment({ alg: algorithm, typ: 'JWT' })}.${segment(plain(claims))}`;
  return `${signed}.${mac(algorithm, secret, signed).toString('base64url')}`;
}

/**
 * Verifies a token and returns its claims. The token is valid if its signature is, if its header demands no extension (RFC 7515 `crit`,
 * RFC 7797 `b64`), and if `now` (Unix seconds) is before `exp` and not before `nbf`. Throws {@link ToolError} 41 with the reason.
 */
export function verifyJwt(token: string, secret: string, now: number): ValueMap {
  const { header, claims, signed, signature } = parts(token);
  const algorithm = header['alg'];
  if (!isJwtAlgorithm(algorithm)) throw invalid(`its algorithm is not one of ${JWT_ALGORITHMS.join(', ')}`);
  // A verifier must refuse an extension that it does not know, and this one knows none.
  if (header['crit'] !== undefined) throw invalid('its header demands extensions (crit), which are not supported');
  if (header['b64'] !== undefined && header['b64'] !== true)
    throw invalid('its claims are not encoded (b64), which is not supported');
  const expected = mac(algorithm, secret, signed);
  const given = bytesOf(signature);
  if (given === null) throw invalid('the signature is not base64url');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw invalid('the signature is wrong');
  const [exp, nbf] = [timeOf(claims, 'exp'), timeOf(claims, 'nbf')];
  timeOf(claims, 'iat');
  if (exp !== null && exp <= now) throw invalid('it has expired');
  if (nbf !== null && now < nbf) throw invalid('it is not valid yet');
  return claims;
}

/** The claim of a time, in Unix seconds; null for a token without it. */
function timeOf(claims: ValueMap, name: 'exp' | 'nbf' | 'iat'): number | null {
  const time = claims[name];
  if (time === undefined) return null;
  if (typeof time === 'number') return time;
  throw invalid(`its ${name} is not a number`);
}

/** The claims of a token, not verified. Throws {@link ToolError} 41 if the text is not a token. */
export function decodeJwt(token: string): ValueMap {
  return parts(token).claims;
}

/** Most units of one part. HTTP headers hold no more, and the host parses a part in one piece. */
const MOST_UNITS = 64 * 1024;

interface Parts {
  readonly header: ValueMap;
  readonly claims: ValueMap;
  readonly signed: string;
  readonly signature: string;
}

function parts(token: string): Parts {
  const [header = '', payload = '', signature = '', ...more] = token.split('.');
  if (more.length > 0 || header === '' || payload === '') throw invalid('it does not have three parts between dots');
  return { header: read(header), claims: read(payload), signed: `${header}.${payload}`, signature };
}

function read(text: string): ValueMap {
  if (text.length > MOST_UNITS) throw invalid(`a part is longer than ${MOST_UNITS} characters`);
  const bytes = bytesOf(text);
  if (bytes === null) throw invalid('a part is not base64url');
  let value: Value;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), exactly);
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw invalid('a part is not JSON');
  }
  if (isValueMap(value)) return value;
  throw invalid('a part is not a JSON object');
}

/** The bytes of base64url; null for another text. The decoder ignores foreign characters and left-over bits, so it must be canonical. */
function bytesOf(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}

/** Gives every map no prototype, so that `__proto__` is a key like any other, and refuses numbers that become infinite. */
function exactly(_key: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw invalid('a number is too large');
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.assign(Object.create(null), value) : value;
}

function segment(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** Claims as plain JSON. Times, bytes and NaN are refused: other readers of the token would not know their form. */
function plain(value: Value): unknown {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (isList(value)) return value.map(plain);
  if (isValueMap(value)) return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
  throw new ToolError(NS_CODES.InvalidValue, 'claims must be texts, finite numbers, booleans, nil, lists and maps');
}

function mac(algorithm: JwtAlgorithm, secret: string, text: string): Buffer {
  if (secret === '') throw new ToolError(NS_CODES.InvalidValue, 'the secret is empty');
  return createHmac(HASH[algorithm], secret).update(text).digest();
}

function invalid(problem: string): ToolError {
  return new ToolError(NS_CODES.InvalidValue, `the token is not valid: ${problem}`);
}
