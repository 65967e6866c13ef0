/**
 * The kit of the protocol's tests: keys, turns, clocks, envelopes, and the golden tokens of the specification. The golden tokens
 * are made without `src`: their canonical text is written out, and their tags come from `node:crypto`. `golden.test.ts`
 * compares them with the published digests.
 */
import { createHash, createHmac, createPrivateKey, sign } from 'node:crypto';
import {
  generateKeys,
  Keyring,
  type KeyringOptions,
  keyringFrom,
  ReplayCache,
  type Signer,
  type TokenClock,
  type TokenIds,
  type TurnFacts,
  type VerifyOptions,
} from '../../src/aeiou/index.ts';

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

/** Id of the golden token `n`. */
export function jtiOf(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
}

/** Ids of the golden tokens, in the order of minting. */
export const IDS: TokenIds = { jti: (_sid, _turn, mint) => jtiOf(mint + 1) };

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
  return `{"issued_at":${issuedAt},"jti":"${jtiOf(n)}","kid":"${kid}","kind":"LOOP","payload":${payload},"session_id":"${sid}",${ttlText}"turn_index":${turn},"turn_nonce":"${nonce}","v":3}`;
}

/** A token line with any payload bytes, signed with the key of `kid`. */
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

export class TestClock {
  /** Unix milliseconds. */
  ms: number;
  /** Monotonic milliseconds. */
  elapsed = 0;
  /** `seconds` is Unix time. */
  constructor(seconds: number = ISSUED) {
    this.ms = seconds * 1000;
  }
  get seconds(): number {
    return this.ms / 1000;
  }
  set seconds(value: number) {
    this.ms = value * 1000;
  }
  now(): number {
    return this.ms;
  }
  monotonic(): number {
    return this.elapsed;
  }
}

/** A keyring with a new primary and a new fallback key. */
export function newKeyring(name: string, clock: TokenClock): Keyring {
  return keyringFrom(generateKeys(name), { clock });
}

/** The golden keys, with a remote signer for the primary key; null for no primary key. */
export function remoteKeys(signer: Signer['sign'] | null): Keyring {
  const keys = new Keyring({ clock: new TestClock() });
  if (signer !== null) keys.add({ kid: PRIMARY, role: 'primary', alg: 'Ed25519', publicKey: PRIMARY_PUBLIC, signer });
  keys.add({ kid: FALLBACK, role: 'fallback', alg: 'Ed25519', seed: FALLBACK_SEED });
  return keys;
}

/** A signer that is unavailable. */
export function brokenSigner(): never {
  throw new Error('the key service is down');
}

/** The golden keys. */
export function goldenKeys(options: Partial<KeyringOptions> = {}): Keyring {
  const keys = new Keyring({ clock: new TestClock(), allowHs256: true, ...options });
  keys.add({ kid: PRIMARY, role: 'primary', alg: 'Ed25519', seed: PRIMARY_SEED });
  keys.add({ kid: FALLBACK, role: 'fallback', alg: 'Ed25519', seed: FALLBACK_SEED });
  if (options.allowHs256 ?? true) keys.add({ kid: SHARED, role: 'retired', alg: 'HS256', secret: HS256_SECRET });
  return keys;
}

/** The turn of the golden tokens. */
export const TURN: TurnFacts = { sessionId: SID, turnIndex: 1, turnNonce: NONCE };

/** A signal that nothing aborts. */
export const NEVER: AbortSignal = new AbortController().signal;

/** A replay cache that remembers a golden token. */
export function replayOf(n: number): ReplayCache {
  const replay = new ReplayCache({ clock: new TestClock() });
  replay.add(SID, jtiOf(n));
  return replay;
}

/** The envelope of a model's reply. */
export function reply(actions: string, userdata = '{}'): string {
  return `<<<NSENV:V3:START>>>\n<<<NSENV:V3:USERDATA>>>\n${userdata}\n<<<NSENV:V3:ACTIONS>>>\n${actions}\n<<<NSENV:V3:END>>>`;
}

/** Verification of the golden tokens. */
export function goldenTurn(changes: Partial<VerifyOptions> = {}): VerifyOptions {
  return { ...TURN, keys: goldenKeys(), now: ISSUED, ...changes };
}

export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

export function hex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'hex'));
}

/** The value that a call throws. Fails when the call returns. */
export function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('expected a throw');
}
