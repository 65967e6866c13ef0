/** Ed25519, HMAC and SHA-256 on every platform, and base64url. Imports nothing else of this package and no module of Node. */
export { decodeBase64Url, encodeBase64Url } from './base64url.ts';
export { defaultCrypto, nativeCrypto } from './native.ts';
export { nobleCrypto, publicKeyFault } from './noble.ts';
export { type CryptoPort, ED25519_KEY_BYTES, ED25519_TAG_BYTES, HS256_TAG_BYTES } from './port.ts';
