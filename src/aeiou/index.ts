/** The AEIOU v3 protocol, in the order of its specification. Only key files need Node (`loadKeyFile`, `loadVerifyKeys`, `saveKeyFile`). */

// Envelope (chapter 3)

export { carryForward, composeEnvelope, type EnvelopeParts } from './envelope/compose.ts';
export { MAX_ENVELOPE_BYTES, MAX_LINE_BYTES, MAX_SECTION_BYTES } from './envelope/encoding.ts';
export { withoutFence } from './envelope/fence.ts';
export { MARKERS, type MarkerLine, markerLines, SECTIONS, type SectionName } from './envelope/markers.ts';
export * from './envelope/parse.ts';
export { encodeUserdata, type Userdata, type UserdataOptions, validateUserdata } from './envelope/userdata.ts';

// Token: form, canonical payload, minting, verification and replay (chapters 6 and 11.3)

export { canonicalize } from './json/canonical.ts';
export {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type NumberProfile,
  parseStrict,
  type StrictJsonOptions,
} from './json/strict.ts';
export { DEFAULT_LIFETIMES, type Lifetimes, resolveLifetimes, secondsOf, type TokenClock } from './lifetimes.ts';
export {
  type Action,
  type ControlPayload,
  type DecodedToken,
  decodeToken,
  isTokenLine,
  isTurnNonce,
  MAX_TOKEN_BYTES,
  newTurnNonce,
  type TokenFailure,
  type TokenPayload,
} from './token/format.ts';
export * from './token/minter.ts';
export { ReplayCache, type ReplayCacheOptions, type UsedId } from './token/replay.ts';
export { type MintInput, mintToken, prepareToken } from './token/sign.ts';
export { requireToken, type Verification, type VerifyOptions, verifyToken } from './token/verify.ts';

// Keys: algorithms, roles, rotation and files (chapters 6.4, 11.4 and 11.5)

export {
  type CryptoPort,
  decodeBase64Url,
  defaultCrypto,
  encodeBase64Url,
  nativeCrypto,
  nobleCrypto,
} from '../crypto/index.ts';
export {
  loadKeyFile,
  loadVerifyKeys,
  readOwnedBytes,
  readPrivateBytes,
  saveKeyFile,
  savePrivateText,
} from './keys/file.ts';
export { formatKeys, parseKeys } from './keys/format.ts';
export * from './keys/keyring.ts';
export { announceKey, generateKeys, publicKeys, type Rotation, type RotationOptions, rotateKeys } from './keys/lifecycle.ts';

// Decision (chapters 5 and 8)

export * from './decision.ts';

// Progress guard (chapter 9)

export * from './progress.ts';

// Rules for models (chapter 14)

export { AI_RULES, EXAMPLE_ACTIONS, EXAMPLE_REPLY, SESSION_RULES, systemPrompt } from './rules.ts';

// Errors and lints

export * from './errors.ts';
