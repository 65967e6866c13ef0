/** The AEIOU v3 protocol, in the order of its specification. Only key files need Node (`loadKeyFile`, `loadVerifyKeys`, `saveKeyFile`). */

export { defaultCrypto } from '../crypto/index.ts';
export { type MarkerLine, markerLines } from './envelope/markers.ts';
export { envelopeOf, withoutFence } from './envelope/parse.ts';
export { isJsonObject } from './json/strict.ts';
export { readOwnedBytes, readPrivateBytes, savePrivateText } from './keys/file.ts';
export { resolveLifetimes, secondsOf } from './lifetimes.ts';
export { MAX_NO_PROGRESS_N, normalizeStream } from './progress.ts';
export * from './public.ts';
export { AI_RULES, EXAMPLE_ACTIONS, EXAMPLE_REPLY, SESSION_RULES } from './rules.ts';
export { isTurnNonce } from './token/format.ts';
export { prepareToken } from './token/sign.ts';
