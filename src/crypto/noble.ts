import { getPublicKey, hashes, Point, sign, verify } from '@noble/ed25519';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256, sha512 } from '@noble/hashes/sha2.js';
import type { CryptoPort } from './port.ts';

hashes.sha512 = sha512;

/** {@link CryptoPort} in JavaScript alone: for browsers, and to cross-check the native one. */
export const nobleCrypto: CryptoPort = {
  name: 'noble',
  ed25519PublicKey: (seed) => getPublicKey(seed),
  ed25519Signer: (seed) => {
    const key = Uint8Array.from(seed);
    return (message) => sign(message, key);
  },
  ed25519Verifier: (publicKey) => {
    const key = Uint8Array.from(publicKey);
    return (message, tag) => verifyWithoutCofactor(message, tag, key);
  },
  hmacSha256: (secret) => {
    const key = Uint8Array.from(secret);
    return (message) => hmac(sha256, key, message);
  },
  sha256: (data) => sha256(data),
  equal: equalInConstantTime,
};

type KeyFault = 'not_canonical' | 'small_order' | 'torsion';

const KEY_BYTES = 32;
/** What was found out about keys, by their bytes: a key takes milliseconds, and a host meets the same few again and again. */
const found = new Map<string, KeyFault | null>();
const MOST_FOUND = 256;

/**
 * Why a public key must not be used, or null. Keys of small order let forged signatures verify; platforms disagree on
 * signatures of the other faulty keys.
 */
export function publicKeyFault(publicKey: Uint8Array): KeyFault | null {
  if (!(publicKey instanceof Uint8Array) || publicKey.length !== KEY_BYTES) return faultOf(publicKey);
  const bytes = publicKey.join();
  const known = found.get(bytes);
  if (known !== undefined) return known;
  const fault = faultOf(publicKey);
  if (found.size >= MOST_FOUND) found.clear();
  found.set(bytes, fault);
  return fault;
}

function faultOf(publicKey: Uint8Array): KeyFault | null {
  let point: Point;
  try {
    point = Point.fromBytes(publicKey, false);
  } catch {
    return 'not_canonical';
  }
  if (point.isSmallOrder()) return 'small_order';
  return point.isTorsionFree() ? null : 'torsion';
}

/**
 * noble multiplies the equation by the cofactor, Node does not. For a key of prime order the two differ only when R lies
 * outside the prime-order group, so this function refuses such an R.
 */
function verifyWithoutCofactor(message: Uint8Array, tag: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    return verify(tag, message, publicKey, { zip215: false }) && Point.fromBytes(tag.subarray(0, 32), false).isTorsionFree();
  } catch {
    return false;
  }
}

function equalInConstantTime(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i] ?? 0);
  return difference === 0;
}
