import {
  decodeBase64Url,
  type KeyLookup,
  Keyring,
  type Verification,
  type VerifyKey,
  verifyToken,
} from '../../../src/aeiou/index.ts';
import { RecordedReplayCache } from '../../../src/loop/replay/verify.ts';
import type { TurnView, VerifyView } from '../../../src/ui/views.ts';
import { NeuroScriptError } from '../../../src/wire/errors.ts';

/** The verdict of this page on one token. */
export type Reverified =
  | { readonly verdict: Verification }
  /** The verdict depends on a secret that no page has, or a key of the record is invalid. */
  | { readonly unable: string };

/**
 * Verifies the tokens of a turn again, in this page, with the code of `neuroscript-runtime/aeiou` and the public keys, the nonce and the
 * clock of the record. One verdict for each of `turn.tokens`; null when the record lacks one of them.
 */
export function reverify({ sid, turn, tokens, verify }: TurnView): readonly Reverified[] | null {
  if (verify === null) return null;
  const clock = { now: () => verify.now };
  const replay = new RecordedReplayCache(verify.fresh, clock);
  return tokens.map(({ token }) => {
    try {
      const keys = keysOf(verify, clock);
      const verdict = verifyToken(token, {
        keys: keys.lookup,
        sessionId: sid,
        turnIndex: turn,
        turnNonce: verify.nonce,
        now: verify.now / 1000,
        clockSkew: verify.clockSkew,
        replay,
      });
      return keys.asked === null
        ? { verdict }
        : { unable: `its key '${keys.asked}' is secret (HS256), and the record has no secrets` };
    } catch (error) {
      if (error instanceof NeuroScriptError) return { unable: error.message };
      throw error;
    }
  });
}

interface Keys {
  readonly lookup: KeyLookup;
  /** The secret key for which a token asked. */
  asked: string | null;
}

function keysOf({ keys }: VerifyView, clock: { now(): number }): Keys {
  const ring = new Keyring({ clock });
  const secret = new Map<string, VerifyKey>();
  const found: Keys = { lookup: { lookup: (kid) => secret.get(kid) ?? ring.lookup(kid) }, asked: null };
  for (const { kid, alg, publicKey } of keys) {
    const bytes = publicKey === null ? null : decodeBase64Url(publicKey);
    if (alg === 'Ed25519' && bytes !== null) ring.add({ kid, alg, role: 'retired', publicKey: bytes });
    else
      secret.set(kid, {
        kid,
        alg,
        tagBytes: 32,
        verify: () => {
          found.asked = kid;
          return false;
        },
      });
  }
  return found;
}
