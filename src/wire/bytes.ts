/** Sizes and base64, with Node's `Buffer` where it is and with what every platform has where it is not. */

const node = globalThis.Buffer as typeof Buffer | undefined;

export const utf8Length: (text: string) => number =
  node === undefined ? (text) => new TextEncoder().encode(text).length : (text) => node.byteLength(text, 'utf8');

/** Base64 with padding (RFC 4648 section 4). */
export const toBase64: (bytes: Uint8Array) => string =
  node === undefined
    ? (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
    : (bytes) => node.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

/** The bytes of a base64 text; null for a text that is not canonical base64 with padding. */
export const fromBase64: (base64: string) => Uint8Array | null =
  node === undefined
    ? (base64) => {
        try {
          const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
          return toBase64(bytes) === base64 ? bytes : null;
        } catch {
          return null;
        }
      }
    : (base64) => {
        const bytes = node.from(base64, 'base64');
        return bytes.toString('base64') === base64 ? bytes : null;
      };
