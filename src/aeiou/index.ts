/**
 * The AEIOU v3 protocol: envelopes, control tokens, keys, selection. Works wherever JavaScript does; only key files need
 * Node (`loadKeyFile`, `saveKeyFile`).
 */
export { decodeBase64Url, encodeBase64Url } from './base64url.ts';
export { canonicalize } from './canonical.ts';
export { type CryptoPort, defaultCrypto, nativeCrypto } from './crypto.ts';
export {
  carryForward,
  composeEnvelope,
  type Envelope,
  type EnvelopeLint,
  type EnvelopeParts,
  extractEnvelope,
  type ParsedEnvelope,
  parseEnvelope,
} from './envelope.ts';
export {
  type AeiouError,
  type EnvelopeCode,
  type EnvelopeDetail,
  EnvelopeError,
  type JsonDetail,
  JsonError,
  type KeyDetail,
  KeyError,
  type Lint,
  type LintCode,
  type MagicCode,
  type MagicDetail,
  MagicError,
  type TokenCode,
  type TokenDetail,
  TokenError,
  type UserdataDetail,
  UserdataError,
} from './errors.ts';
export { isJsonObject, type JsonObject, type JsonValue, parseStrict, type StrictJsonOptions } from './json.ts';
export {
  formatKeys,
  generateKeys,
  keyringFrom,
  loadKeyFile,
  loadVerifyKeys,
  parseKeys,
  publicKeys,
  saveKeyFile,
} from './keyfile.ts';
export {
  type Algorithm,
  type KeyInfo,
  type KeyInit,
  type KeyLookup,
  type KeyRole,
  Keyring,
  type KeyringOptions,
  type Signer,
  type VerifyKey,
} from './keys.ts';
export { DEFAULT_LIFETIMES, type Lifetimes, resolveLifetimes, type TokenClock } from './lifetimes.ts';
export { createMagicTool, MAGIC_TOOL, MINT_LEDGER } from './magic.ts';
export { MARKERS, MAX_ENVELOPE_BYTES, MAX_LINE_BYTES, MAX_SECTION_BYTES, type SectionName } from './markers.ts';
export { type MintInput, mintToken, prepareToken, type UnsignedToken } from './mint.ts';
export {
  type Minted,
  Minter,
  type MinterOptions,
  MintLedger,
  type MintRequest,
  type TokenIds,
  type TurnFacts,
} from './minter.ts';
export { nobleCrypto } from './noble.ts';
export { isTurnNonce, newTurnNonce } from './nonce.ts';
export {
  DEFAULT_NO_PROGRESS_N,
  MAX_NO_PROGRESS_N,
  NO_PROGRESS_YET,
  normalizeStream,
  ProgressGuard,
  type ProgressState,
  type ProgressVerdict,
  progressDigest,
} from './progress.ts';
export { AI_RULES, EXAMPLE_ACTIONS, EXAMPLE_REPLY, systemPrompt } from './prompt.ts';
export { ReplayCache, type ReplayCacheOptions, type UsedId } from './replay.ts';
export { type Rotation, type RotationOptions, rotateKeys } from './rotate.ts';
export {
  type Candidate,
  type CandidateResult,
  type ChosenToken,
  type OutputScan,
  type Selection,
  type SelectionDetails,
  scanOutput,
  selectDecision,
  type TokenHaltReason,
} from './select.ts';
export {
  type Action,
  type ControlPayload,
  type DecodedToken,
  decodeToken,
  isTokenLine,
  MAX_TOKEN_BYTES,
  TOKEN_KIND,
  type TokenFailure,
  type TokenPayload,
} from './token.ts';
export { encodeUserdata, type Userdata, type UserdataOptions, validateUserdata } from './userdata.ts';
export { requireToken, type Verification, type VerifyOptions, verifyToken } from './verify.ts';
