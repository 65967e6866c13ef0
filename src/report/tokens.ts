import { decodeToken, isJsonObject, type JsonValue, type TokenDetail } from '../aeiou/index.ts';

/** A check of a token and the details of its failures. */
export interface TokenCheck {
  /** What is checked, in words. */
  readonly name: string;
  readonly details: readonly TokenDetail[];
}

/** The checks of a token in the order in which they are made: before the one that failed, all passed. */
export const CHECKS: readonly TokenCheck[] = [
  { name: 'form', details: ['length', 'grammar', 'base64', 'json', 'kid'] },
  { name: 'key', details: ['unknown_kid', 'alg', 'tag_length'] },
  { name: 'canonical payload', details: ['canonical'] },
  { name: 'signature', details: ['tag'] },
  { name: 'fields', details: ['version', 'kind', 'field', 'action'] },
  { name: 'session', details: ['session'] },
  { name: 'turn', details: ['turn'] },
  { name: 'nonce', details: ['nonce'] },
  { name: 'time', details: ['expired', 'future'] },
  { name: 'first use', details: ['replay'] },
];

/** The contents of a token, as lines; the contents of a rejected one are worded as claims. */
export function describeToken(line: string, verified: boolean): string[] {
  const decoded = decodeToken(line);
  if (!decoded.ok) return [decoded.message];
  const { payload } = decoded.token;
  const control = payload['payload'];
  const own = isJsonObject(control) ? control : {};
  const what = [payload['kind'], own['action']].filter((value) => value !== undefined).map(word);
  const rest = Object.entries(own).filter(([name]) => name !== 'action');
  return [
    `${verified ? '' : 'claims to be '}${what.join(' ') || 'nothing in particular'}, signed with ${payload['kid'] === undefined ? 'an unnamed key' : word(payload['kid'])}`,
    `session ${word(payload['session_id'])}, turn ${word(payload['turn_index'])}, nonce ${word(payload['turn_nonce'])}`,
    `id ${word(payload['jti'])}`,
    `issued ${time(payload['issued_at'])}, ${payload['ttl'] === undefined ? 'no expiry' : `good for ${word(payload['ttl'])} s`}`,
    ...rest.map(([name, value]) => `${name} ${JSON.stringify(value)}`),
  ];
}

const TOKEN = /<<<NSMAG:V3:[A-Z0-9_]+:[A-Za-z0-9_-]{24,}\.[A-Za-z0-9_-]{24,}>>>/g;

/** Shortens the tokens in a text to their two ends; reports show their contents decoded. */
export function shortenTokens(text: string): string {
  return text.replace(TOKEN, (token) => `${token.slice(0, 27)}...${token.slice(-11)}`);
}

function word(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : value === undefined ? '(none)' : JSON.stringify(value);
}

function time(value: JsonValue | undefined): string {
  if (typeof value !== 'number' || Math.abs(value) > 8.64e12) return word(value);
  return new Date(value * 1000).toISOString().replace('.000Z', 'Z');
}
