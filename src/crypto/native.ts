import { nobleCrypto } from './noble.ts';
import { type CryptoPort, ED25519_TAG_BYTES } from './port.ts';

/** Node takes raw keys as DER: these are the bytes of PKCS#8 and SubjectPublicKeyInfo in front of the key (RFC 8410). */
const PKCS8_PREFIX = Uint8Array.of(48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32);
const SPKI_PREFIX = Uint8Array.of(48, 42, 48, 5, 6, 3, 43, 101, 112, 3, 33, 0);

/** {@link CryptoPort} by `node:crypto`; null where there is no Node. */
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
    sha256: (data) => new Uint8Array(node.hash('sha256', data, 'buffer')),
    equal: (a, b) => a.length === b.length && node.timingSafeEqual(a, b),
  };
}

/** Asked for at run time instead of imported: this file also loads in browsers and other runtimes. */
function nodeCrypto(): typeof import('node:crypto') | null {
  return typeof process === 'undefined' ? null : (process.getBuiltinModule?.('node:crypto') ?? null);
}

/** {@link nativeCrypto} where there is a Node, else {@link nobleCrypto}. */
export const defaultCrypto: CryptoPort = nativeCrypto() ?? nobleCrypto;
