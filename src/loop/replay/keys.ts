import { decodeBase64Url, type KeyLookup, Keyring, type VerifyKey } from '../../aeiou/index.ts';
import type { Clock } from '../ports.ts';
import type { TurnRecord } from '../turn/record.ts';

/** Bytes of a tag of HMAC-SHA-256. */
const HS256_BYTES = 32;

/**
 * The keys that a record names, for verifying its tokens anywhere. They are as trustworthy as the record: who wants to know
 * who signed gives keys of their own. The tag of a shared secret, which is in no record, is taken for what it was taken for
 * then. Throws `KeyError` (`ERR_KEY`) for a public key that no host would have accepted.
 */
export function recordedKeys(record: TurnRecord, clock: Clock): KeyLookup {
  const ring = new Keyring({ clock });
  const secret = new Map<string, VerifyKey>();
  const forged = record.candidates.some(({ detail }) => detail === 'tag');
  for (const { kid, alg, publicKey } of record.inputs.scene?.judged.keys ?? []) {
    const bytes = publicKey === null ? null : decodeBase64Url(publicKey);
    if (alg === 'HS256') secret.set(kid, { kid, alg, tagBytes: HS256_BYTES, verify: () => !forged });
    else if (bytes !== null) ring.add({ kid, alg, role: 'retired', publicKey: bytes });
  }
  return { lookup: (kid) => secret.get(kid) ?? ring.lookup(kid) };
}

/** Ids of the keys of a record whose tags nobody else can verify. */
export function secretKeys(record: TurnRecord): readonly string[] {
  return (record.inputs.scene?.judged.keys ?? []).filter(({ publicKey }) => publicKey === null).map(({ kid }) => kid);
}
