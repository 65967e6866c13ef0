/**
 * The cryptography of tokens, digests and signed libraries. Two implementations give the same bytes and the same verdicts: Node's
 * own, and noble where there is no Node. A key is imported once, when it is registered; the function that comes back runs
 * for every message.
 */
export interface CryptoPort {
  /** Which implementation this is. */
  readonly name: 'node' | 'noble';
  /** The public key (32 bytes) of a 32-byte Ed25519 seed. */
  ed25519PublicKey(seed: Uint8Array): Uint8Array;
  /** Signs with pure Ed25519 (RFC 8032, no pre-hash, no context). A message always gets the same 64 bytes. */
  ed25519Signer(seed: Uint8Array): (message: Uint8Array) => Uint8Array;
  /**
   * Verifies by one policy on every platform: S below the group order, R canonical, the equation without cofactor. The key
   * must be one that `publicKeyFault` finds no fault with. Never throws.
   */
  ed25519Verifier(publicKey: Uint8Array): (message: Uint8Array, tag: Uint8Array) => boolean;
  /** Makes the function that computes HMAC-SHA-256 (RFC 2104) with a secret. */
  hmacSha256(secret: Uint8Array): (message: Uint8Array) => Uint8Array;
  /** The 32 bytes of SHA-256. */
  sha256(data: Uint8Array): Uint8Array;
  /** Compares in a time that depends on the lengths alone. */
  equal(a: Uint8Array, b: Uint8Array): boolean;
}

/** Bytes of an Ed25519 seed and of a public key. */
export const ED25519_KEY_BYTES = 32;
/** Bytes of an Ed25519 signature. */
export const ED25519_TAG_BYTES = 64;
/** Bytes of an HMAC-SHA-256. */
export const HS256_TAG_BYTES = 32;
