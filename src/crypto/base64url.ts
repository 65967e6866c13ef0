const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** The value of each character by its code; -1 for characters outside the alphabet. */
const VALUES: Int8Array = (() => {
  const values = new Int8Array(128).fill(-1);
  for (let i = 0; i < ALPHABET.length; i++) values[ALPHABET.charCodeAt(i)] = i;
  return values;
})();

/** Encodes bytes as base64url without padding (RFC 4648 section 5). */
export function encodeBase64Url(bytes: Uint8Array): string {
  if (!(bytes instanceof Uint8Array)) throw new TypeError(`base64url is of a Uint8Array, not of a value of type ${typeof bytes}`);
  let text = '';
  let bits = 0;
  let buffer = 0;
  for (const byte of bytes) {
    buffer = ((buffer << 8) | byte) & 0xffff;
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      text += ALPHABET.charAt((buffer >> bits) & 63);
    }
  }
  if (bits > 0) text += ALPHABET.charAt((buffer << (6 - bits)) & 63);
  return text;
}

/**
 * Decodes a text that is exactly what {@link encodeBase64Url} would write; null for every other text. Padding, other
 * characters, a length of 4n+1 and bits set beyond the last byte are refused, so that a byte string has one text only and
 * a token has no second spelling.
 */
export function decodeBase64Url(text: string): Uint8Array | null {
  if (typeof text !== 'string' || text.length % 4 === 1) return null;
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let at = 0;
  let bits = 0;
  let buffer = 0;
  for (let i = 0; i < text.length; i++) {
    const value = VALUES[text.charCodeAt(i)] ?? -1;
    if (value < 0) return null;
    buffer = ((buffer << 6) | value) & 0xfff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (buffer >> bits) & 0xff;
    }
  }
  return (buffer & ((1 << bits) - 1)) === 0 ? bytes : null;
}
