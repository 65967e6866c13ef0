import type { TurnContext } from './turn.ts';

/**
 * The turn's nonce, kept beside the context instead of on it: what holds a context (every tool does) cannot read it
 * (AMB-60b). Only the magic tool and the host loop import this file; a test keeps it so.
 */
const nonces = new WeakMap<TurnContext, string>();

/** The nonce of the turn, or null outside of one. */
export function nonceOf(turn: TurnContext): string | null {
  return nonces.get(turn) ?? null;
}

/** For `turn.ts` alone, while it makes a context. */
export function keepNonce(turn: TurnContext, nonce: string): void {
  nonces.set(turn, nonce);
}
