/**
 * The golden tokens of protocol.md 10, put together here by hand: the canonical text is written out, the tag comes from
 * `node:crypto`, and nothing of `src` takes part. `golden.test.ts` holds them against the published digests.
 */
import { createHash, createHmac, createPrivateKey, sign } from 'node:crypto';
import { Keyring, type KeyringOptions } from '../../src/aeiou/index.ts';
import type { VerifyOptions } from '../../src/aeiou/token/verify.ts';

export const SID = 'sid-1';
export const NONCE = 'AAECAwQFBgcICQoLDA0ODw';
/** Unix seconds. */
export const ISSUED = 1725012345;

/** Secrets of RFC 8032 7.1, tests 1 and 2. */
export const PRIMARY_SEED = hex('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60');
export const FALLBACK_SEED = hex('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb');
export const PRIMARY_PUBLIC = hex('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a');
export const FALLBACK_PUBLIC = hex('3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c');
export const HS256_SECRET = new Uint8Array(32).fill(0x0b);
export const PRIMARY = 'ed25519-test-1';
export const FALLBACK = 'ed25519-fallback-1';
export const SHARED = 'hs256-test-1';

export interface Parts {
  readonly n?: number;
  readonly kid?: string;
  /** Canonical text of `payload`. */
  readonly payload?: string;
  readonly ttl?: number | null;
  readonly issuedAt?: number;
  readonly sid?: string;
  readonly turn?: number;
  readonly nonce?: string;
}

/** The canonical text of a token's payload. */
export function canonicalText(parts: Parts): string {
  const {
    n = 1,
    kid = PRIMARY,
    payload = '{"action":"done"}',
    ttl = 120,
    issuedAt = ISSUED,
    sid = SID,
    turn = 1,
    nonce = NONCE,
  } = parts;
  const ttlText = ttl === null ? '' : `"ttl":${ttl},`;
  const jti = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
  return `{"issued_at":${issuedAt},"jti":"${jti}","kid":"${kid}","kind":"LOOP","payload":${payload},"session_id":"${sid}",${ttlText}"turn_index":${turn},"turn_nonce":"${nonce}","v":3}`;
}

/** A token line around any payload bytes, signed with the key that `kid` names. */
export function tokenOf(text: string | Uint8Array, kid: string = PRIMARY, kind = 'LOOP'): string {
  const message = Buffer.from(text);
  return lineOf(message, tagOf(message, kid), kind);
}

export function lineOf(message: Uint8Array, tag: Uint8Array, kind = 'LOOP'): string {
  return `<<<NSMAG:V3:${kind}:${Buffer.from(message).toString('base64url')}.${Buffer.from(tag).toString('base64url')}>>>`;
}

export function tagOf(message: Uint8Array, kid: string): Uint8Array {
  if (kid === SHARED) return createHmac('sha256', HS256_SECRET).update(message).digest();
  return sign(null, message, privateKeyOf(kid === FALLBACK ? FALLBACK_SEED : PRIMARY_SEED));
}

export function privateKeyOf(seed: Uint8Array): ReturnType<typeof createPrivateKey> {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}

export const TEXTS = {
  T1: canonicalText({ n: 1 }),
  T2: canonicalText({ n: 2, payload: '{"action":"continue","request":{"min_tokens":1024},"telemetry":{}}' }),
  T3: canonicalText({ n: 3, payload: '{"action":"abort"}' }),
  T4: canonicalText({ n: 4, kid: SHARED }),
  T5: canonicalText({ n: 5, kid: FALLBACK, payload: '{"action":"abort","request":{"reason":"fallback_signer_activated"}}' }),
  T6: canonicalText({ n: 6, ttl: null }),
} as const;

export const TOKENS = {
  T1: tokenOf(TEXTS.T1),
  T2: tokenOf(TEXTS.T2),
  T3: tokenOf(TEXTS.T3),
  T4: tokenOf(TEXTS.T4, SHARED),
  T5: tokenOf(TEXTS.T5, FALLBACK),
  T6: tokenOf(TEXTS.T6),
} as const;

/** A clock that tests move by hand; `seconds` is Unix time. */
export class TestClock {
  seconds: number;
  constructor(seconds: number = ISSUED) {
    this.seconds = seconds;
  }
  now(): number {
    return this.seconds * 1000;
  }
}

/** The keys of protocol.md 10. */
export function goldenKeys(options: Partial<KeyringOptions> = {}): Keyring {
  const keys = new Keyring({ clock: new TestClock(), allowHs256: true, ...options });
  keys.add({ kid: PRIMARY, role: 'primary', alg: 'Ed25519', seed: PRIMARY_SEED });
  keys.add({ kid: FALLBACK, role: 'fallback', alg: 'Ed25519', seed: FALLBACK_SEED });
  if (options.allowHs256 ?? true) keys.add({ kid: SHARED, role: 'retired', alg: 'HS256', secret: HS256_SECRET });
  return keys;
}

/** The turn that the golden tokens are for. */
export function goldenTurn(changes: Partial<VerifyOptions> = {}): VerifyOptions {
  return { keys: goldenKeys(), sessionId: SID, turnIndex: 1, turnNonce: NONCE, now: ISSUED, ...changes };
}

export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

export function hex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'hex'));
}

/** What a call threw; fails when it returned. */
export function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('expected a throw');
}
