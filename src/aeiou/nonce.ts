import { decodeBase64Url, encodeBase64Url } from './base64url.ts';

/** Bytes of a turn nonce: 128 random bits (A3-6.3-9). */
const NONCE_BYTES = 16;

/** A new turn nonce from the platform's cryptographic randomness: 22 characters. */
export function newTurnNonce(): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
}

/** Whether a text is 16 bytes in canonical base64url. */
export function isTurnNonce(text: string): boolean {
  return decodeBase64Url(text)?.length === NONCE_BYTES;
}
