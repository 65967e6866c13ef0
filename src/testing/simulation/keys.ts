import { hash } from 'node:crypto';
import { type CryptoPort, defaultCrypto, type Keyring, keyringFrom } from '../../aeiou/index.ts';
import { acting } from './timeline.ts';

/**
 * Signatures without elliptic curves: a digest of the public key and the message. Anyone with the public key can forge one, but no code
 * in a world does. As with Ed25519, a signature of another message or key does not verify. Digests are faster.
 */
const CRYPTO: CryptoPort = {
  ...defaultCrypto,
  ed25519Signer(seed) {
    const key = defaultCrypto.ed25519PublicKey(seed);
    return (message) => tagOf(key, message);
  },
  ed25519Verifier: (key) => (message, tag) => defaultCrypto.equal(tagOf(key, message), tag),
};

function tagOf(key: Uint8Array, message: Uint8Array): Uint8Array {
  return new Uint8Array(hash('sha512', Buffer.concat([key, message]), 'buffer'));
}

/** The keys of all worlds. They are fixed, so that schedules repeat. Each process uses them with its own clock. */
export const KEYS: Keyring = keyringFrom(
  (['primary', 'fallback'] as const).map((role, index) => {
    const seed = Uint8Array.from({ length: 32 }, (_, place) => 1 + index + place);
    return { kid: `world-${role}`, role, alg: 'Ed25519', seed };
  }),
  { clock: { now: () => acting.getStore()?.now() ?? 0 }, crypto: CRYPTO },
);
