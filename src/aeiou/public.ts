/** What users of the package may import of the AEIOU v3 protocol. */

export { type CryptoPort, decodeBase64Url, encodeBase64Url, nativeCrypto, nobleCrypto } from '../crypto/index.ts';
export * from './decision.ts';
export { carryForward, composeEnvelope, type EnvelopeParts } from './envelope/compose.ts';
export { MAX_ENVELOPE_BYTES, MAX_LINE_BYTES, MAX_SECTION_BYTES } from './envelope/encoding.ts';
export { MARKERS, SECTIONS, type SectionName } from './envelope/markers.ts';
export { type Envelope, type EnvelopeLint, extractEnvelope, type ParsedEnvelope, parseEnvelope } from './envelope/parse.ts';
export { encodeUserdata, type Userdata, type UserdataOptions, validateUserdata } from './envelope/userdata.ts';
export * from './errors.ts';
export { canonicalize } from './json/canonical.ts';
export { type JsonObject, type JsonValue, type NumberProfile, parseStrict, type StrictJsonOptions } from './json/strict.ts';
export { loadKeyFile, loadVerifyKeys, saveKeyFile } from './keys/file.ts';
export { formatKeys, parseKeys } from './keys/format.ts';
export {
  type Algorithm,
  type KeyInfo,
  type KeyInit,
  type KeyLookup,
  type KeyRole,
  Keyring,
  type KeyringOptions,
  keyringFrom,
  type Signer,
  type VerifyKey,
} from './keys/keyring.ts';
export { announceKey, generateKeys, publicKeys, type Rotation, type RotationOptions, rotateKeys } from './keys/lifecycle.ts';
export { DEFAULT_LIFETIMES, type Lifetimes, type TokenClock } from './lifetimes.ts';
export {
  DEFAULT_NO_PROGRESS_N,
  NO_PROGRESS_YET,
  ProgressGuard,
  type ProgressState,
  type ProgressVerdict,
  progressDigest,
} from './progress.ts';
export { systemPrompt } from './rules.ts';
export {
  type Action,
  type ControlPayload,
  type DecodedToken,
  decodeToken,
  isTokenLine,
  MAX_TOKEN_BYTES,
  newTurnNonce,
  type TokenFailure,
  type TokenPayload,
} from './token/format.ts';
export * from './token/minter.ts';
export { ReplayCache, type ReplayCacheOptions, type UsedId } from './token/replay.ts';
export { type MintInput, mintToken } from './token/sign.ts';
export { requireToken, type Verification, type VerifyOptions, verifyToken } from './token/verify.ts';
