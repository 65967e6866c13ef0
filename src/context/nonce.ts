/**
 * The nonces of turns, each by its turn context. A nonce is not a field of the context, so that a tool, which holds the
 * context, cannot read it. Only the magic tool and the host loop may import this file; a test ensures that.
 */
const nonces = new WeakMap<object, string>();

/** The nonce of a turn context; null outside a turn. */
export function nonceOf(turn: object): string | null {
  return nonces.get(turn) ?? null;
}

/** Called by `turn.ts` alone, while it makes a context. */
export function keepNonce(turn: object, nonce: string): void {
  nonces.set(turn, nonce);
}
