import { nodeCrypto } from './builtin.ts';
import { nobleCrypto } from './noble.ts';

/**
 * The cryptography that tokens and digests need. Two implementations give the same bytes and the same verdicts (a test
 * compares them): Node's native one, and noble where there is no Node. Keys are imported once, when they are registered;
 * the functions that come back are what runs for every token.
 */
export interface CryptoPort {
  readonly name: 'node' | 'noble';
  /** The public key (32 bytes) of a 32-byte Ed25519 seed. */
  ed25519PublicKey(seed: Uint8Array): Uint8Array;
  /** Signs with pure Ed25519 (RFC 8032, no pre-hash, no context): 64 bytes, the same for the same message. */
  ed25519Signer(seed: Uint8Array): (message: Uint8Array) => Uint8Array;
  /**
   * Verifies by one policy on every platform: S below the group order, R canonical, the equation without cofactor. The
   * key must have passed `keys.ts`, which admits only canonical points of the prime-order group. Never throws.
   */
  ed25519Verifier(publicKey: Uint8Array): (message: Uint8Array, tag: Uint8Array) => boolean;
  hmacSha256(secret: Uint8Array): (message: Uint8Array) => Uint8Array;
  sha256(data: Uint8Array): Uint8Array;
  /** Compares in a time that depends on the lengths alone. */
  equal(a: Uint8Array, b: Uint8Array): boolean;
}

/** Node's when there is a Node, else noble. */
export const defaultCrypto: CryptoPort = nativeCrypto() ?? nobleCrypto;

/** Bytes of an Ed25519 seed and of a public key. */
export const ED25519_KEY_BYTES = 32;
/** Bytes of an Ed25519 signature. */
export const ED25519_TAG_BYTES = 64;
/** Bytes of an HMAC-SHA-256. */
export const HS256_TAG_BYTES = 32;

/** DER of PKCS#8 and SubjectPublicKeyInfo up to the raw key (RFC 8410): how Node takes raw keys in. */
const PKCS8_PREFIX = Uint8Array.of(48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32);
const SPKI_PREFIX = Uint8Array.of(48, 42, 48, 5, 6, 3, 43, 101, 112, 3, 33, 0);

/** `node:crypto`, or null where there is none. */
export function nativeCrypto(): CryptoPort | null {
  const node = nodeCrypto();
  if (node === null) return null;
  const privateKey = (seed: Uint8Array): import('node:crypto').KeyObject =>
    node.createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
  return {
    name: 'node',
    ed25519PublicKey(seed) {
      const spki = node.createPublicKey(privateKey(seed)).export({ format: 'der', type: 'spki' });
      return new Uint8Array(spki.subarray(SPKI_PREFIX.length));
    },
    ed25519Signer(seed) {
      const key = privateKey(seed);
      return (message) => new Uint8Array(node.sign(null, message, key));
    },
    ed25519Verifier(publicKey) {
      const key = node.createPublicKey({ key: Buffer.concat([SPKI_PREFIX, publicKey]), format: 'der', type: 'spki' });
      return (message, tag) => tag.length === ED25519_TAG_BYTES && node.verify(null, message, key, tag);
    },
    hmacSha256(secret) {
      const key = node.createSecretKey(secret);
      return (message) => new Uint8Array(node.createHmac('sha256', key).update(message).digest());
    },
    sha256: (data) => new Uint8Array(node.createHash('sha256').update(data).digest()),
    equal: (a, b) => a.length === b.length && node.timingSafeEqual(a, b),
  };
}

/** Lower-case hexadecimal. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
