import { NeuroScriptError } from '../wire/errors.ts';

/**
 * One class per family of protocol failures. `code` is the published code. `detail` names the broken rule for logs and
 * tests; new details may be added.
 */

/** A failure of the protocol: its code, and the rule that was broken. */
abstract class ProtocolError<Code extends string, Detail extends string> extends NeuroScriptError {
  declare readonly code: Code;
  readonly detail: Detail;
  constructor(code: Code, detail: Detail, message: string, options?: ErrorOptions) {
    super(code, message, options);
    this.detail = detail;
  }
}

/** The codes of invalid envelopes. */
export type EnvelopeCode =
  | 'ERR_ENV_MARKERS_INVALID'
  | 'ERR_ENV_SECTION_MISSING'
  | 'ERR_ENV_ORDER'
  | 'ERR_ENV_SECTION_DUP'
  | 'ERR_ENV_SIZE';

/** The broken rule of envelopes. */
export type EnvelopeDetail =
  | 'envelope_size'
  | 'section_size'
  | 'line_size'
  | 'encoding'
  | 'start'
  | 'end'
  | 'nested_start'
  | 'unknown_marker'
  | 'stray_text'
  | 'trailing_text'
  | 'envelope_count'
  | 'marker_in_body'
  | 'order'
  | 'missing';

/** An envelope cannot be read, or its parts would not read back unchanged. */
export class EnvelopeError extends ProtocolError<EnvelopeCode, EnvelopeDetail> {
  /** 1-based line of the input (of the body, when composing); null when the failure has no line. */
  readonly line: number | null;
  constructor(code: EnvelopeCode, detail: EnvelopeDetail, message: string, line: number | null = null) {
    super(code, detail, message);
    this.line = line;
  }
}

/** The broken rule of USERDATA. */
export type UserdataDetail = 'json' | 'not_object' | 'subject' | 'brief' | 'fields' | 'asset' | 'value';

/** USERDATA is not strict JSON or does not match its schema. */
export class UserdataError extends ProtocolError<'ERR_USERDATA_SCHEMA', UserdataDetail> {
  static readonly code = 'ERR_USERDATA_SCHEMA';
  constructor(detail: UserdataDetail, message: string, options?: ErrorOptions) {
    super(UserdataError.code, detail, message, options);
  }
}

/** Why a token was rejected. */
export type TokenCode = 'ERR_TOKEN_PARSE' | 'ERR_TOKEN_VERIFY' | 'ERR_TOKEN_SCOPE' | 'ERR_TOKEN_TTL' | 'ERR_TOKEN_REPLAY';

/** The check that a token failed, listed in the order of the checks. */
export type TokenDetail =
  | 'length'
  | 'grammar'
  | 'base64'
  | 'json'
  | 'kid'
  | 'unknown_kid'
  | 'alg'
  | 'tag_length'
  | 'canonical'
  | 'tag'
  | 'version'
  | 'kind'
  | 'field'
  | 'action'
  | 'session'
  | 'turn'
  | 'nonce'
  | 'expired'
  | 'future'
  | 'replay';

/** A token did not verify; `requireToken` throws this. */
export class TokenError extends ProtocolError<TokenCode, TokenDetail> {}

/** The codes of failures of `tool.aeiou.magic`. */
export type MagicCode = 'ERR_MAGIC_TOOL_ARGS' | 'ERR_MAGIC_TOOL_INTERNAL';

/**
 * A token could not be minted. `ERR_MAGIC_TOOL_ARGS`: the request cannot become a token; the fallback signs no abort for it.
 * `ERR_MAGIC_TOOL_INTERNAL`: neither signer could sign.
 */
export class MagicError extends ProtocolError<MagicCode, MagicDetail> {}

/** The rejected argument, or the step that failed. */
export type MagicDetail = 'kind' | 'payload' | 'action' | 'opts' | 'ttl' | 'size' | 'mint_cap' | 'signers';

/** The problem of a key or a key file. */
export type KeyDetail =
  | 'kid'
  | 'duplicate'
  | 'role'
  | 'alg'
  | 'material'
  | 'small_order'
  | 'not_canonical'
  | 'torsion'
  | 'file'
  | 'mode';

/** A key or a key file must not be used. */
export class KeyError extends ProtocolError<'ERR_KEY', KeyDetail> {
  static readonly code = 'ERR_KEY';
  constructor(detail: KeyDetail, message: string, options?: ErrorOptions) {
    super(KeyError.code, detail, message, options);
  }
}

/** The broken rule of strict JSON. */
export type JsonDetail = 'encoding' | 'syntax' | 'duplicate' | 'depth' | 'number' | 'surrogate' | 'type';

/** A text is not strict JSON, or a value has no canonical JSON form. */
export class JsonError extends ProtocolError<'ERR_JSON', JsonDetail> {
  static readonly code = 'ERR_JSON';
  /** UTF-16 offset into the text; null when a value was checked. */
  readonly offset: number | null;
  constructor(detail: JsonDetail, message: string, offset: number | null = null) {
    super(JsonError.code, detail, message);
    this.offset = offset;
  }
}

/** Every error class of the protocol; `code` tells them apart. */
export type AeiouError = EnvelopeError | UserdataError | TokenError | MagicError | KeyError | JsonError;

/** The code of a remark. Remarks never change a decision. */
export type AeiouLintCode =
  | 'LINT_POST_TOKEN_TEXT'
  | 'LINT_MULTI_TOKENS'
  | 'LINT_DUP_SECTION_IGNORED'
  /** Not in the specification: blank lines between START and the first section of a model's reply. */
  | 'LINT_BLANK_LINES_IGNORED'
  /** Not in the specification: a Markdown fence around the ACTIONS of a model's reply. */
  | 'LINT_FENCE_IGNORED';

/** A remark with its place. */
export interface Lint {
  /** The remark, with a row in `docs/aeiou.md`. */
  readonly code: AeiouLintCode;
  /** 1-based line: of the envelope for envelope lints, of OUTPUT for token lints. */
  readonly line: number;
}
