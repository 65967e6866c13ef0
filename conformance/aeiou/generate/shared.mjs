// Keys, tokens and outcomes of all vectors, made without the implementation.
import { createHmac, createPrivateKey, createPublicKey, sign } from 'node:crypto';

// Keys of RFC 8032 7.1 (tests 1 and 2), and a shared secret.
export const SEEDS = {
  'ed25519-test-1': '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
  'ed25519-fallback-1': '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
};
const SECRET = Buffer.alloc(32, 0x0b);
export const b64 = (bytes) => Buffer.from(bytes).toString('base64url');

function privateKey(kid) {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.from(SEEDS[kid], 'hex')]);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}
export const publicHalf = (kid) => createPublicKey(privateKey(kid)).export({ format: 'der', type: 'spki' }).subarray(12);
export const tagOf = (message, kid) =>
  kid === 'hs256-test-1' ? createHmac('sha256', SECRET).update(message).digest() : sign(null, message, privateKey(kid));

export const KEYS = [
  ...Object.keys(SEEDS).map((kid) => ({ kid, alg: 'Ed25519', public: b64(publicHalf(kid)) })),
  { kid: 'hs256-test-1', alg: 'HS256', secret: b64(SECRET) },
];
export const TURN = { session: 'sid-1', turn: 1, nonce: 'AAECAwQFBgcICQoLDA0ODw', now: 1725012345 };

/** The canonical text of a payload, with members in the order of RFC 8785; `extra` precedes `issued_at`. */
export function textOf(n, changes = {}) {
  const given = {
    kid: 'ed25519-test-1',
    kind: 'LOOP',
    payload: '{"action":"done"}',
    ttl: 120,
    issued: 1725012345,
    ...TURN,
    ...changes,
  };
  const jti = given.jti ?? `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
  const ttl = given.ttl === null ? '' : `"ttl":${given.ttl},`;
  const members = `"issued_at":${given.issued},"jti":${JSON.stringify(jti)},"kid":${JSON.stringify(given.kid)},"kind":"${given.kind}","payload":${given.payload}`;
  const scope = `"session_id":${JSON.stringify(given.session)},${ttl}"turn_index":${given.turn},"turn_nonce":"${given.nonce}"`;
  return `{${given.extra ?? ''}${members},${scope},"v":${given.v ?? 3}}`;
}
export const lineOf = (text, tag, kind = 'LOOP') => `<<<NSMAG:V3:${kind}:${b64(text)}.${b64(tag)}>>>`;
export const token = (text, kid = 'ed25519-test-1', kind = 'LOOP') => lineOf(text, tagOf(Buffer.from(text), kid), kind);
export const made = (n, changes = {}) => token(textOf(n, changes), changes.kid, changes.kind);
export const control = (action, more = '') => `{"action":"${action}"${more}}`;

export const T1 = made(1);
export const T2 = made(2, { payload: '{"action":"continue","request":{"min_tokens":1024},"telemetry":{}}' });
export const T3 = made(3, { payload: control('abort') });
export const T4 = made(4, { kid: 'hs256-test-1' });
export const T5 = made(5, {
  kid: 'ed25519-fallback-1',
  payload: '{"action":"abort","request":{"reason":"fallback_signer_activated"}}',
});
export const T6 = made(6, { ttl: null });
export const padded = (n, kid, pad) => made(n, { kid, payload: `{"action":"done","request":{"pad":"${'a'.repeat(pad)}"}}` });

export const join = (...lines) => lines.join('\n');
export const fill = (times) => ({ repeat: 'x', times });
export const ok = (value) => ({ ok: value });
export const error = (code) => ({ error: code });
