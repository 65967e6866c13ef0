import { NeuroScriptError } from '../wire/errors.ts';

/**
 * One class per family of protocol failures. `code` is the published code; `detail` says which rule of the family was
 * broken, for logs and tests, and may be extended.
 */

/** A1: what is wrong with the bytes of an envelope (AL3-8-1…5, AMB-03, AMB-16). */
export type EnvelopeCode =
  | 'ERR_ENV_MARKERS_INVALID'
  | 'ERR_ENV_SECTION_MISSING'
  | 'ERR_ENV_ORDER'
  | 'ERR_ENV_SECTION_DUP'
  | 'ERR_ENV_SIZE';

/** Which rule of envelopes was broken. */
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

/** An envelope cannot be read, or would not read back as what it was made from. */
export class EnvelopeError extends NeuroScriptError {
  declare readonly code: EnvelopeCode;
  readonly detail: EnvelopeDetail;
  /** 1-based line of the input (of the body, when composing); null when the failure has no line. */
  readonly line: number | null;
  constructor(code: EnvelopeCode, detail: EnvelopeDetail, message: string, line: number | null = null) {
    super(code, message);
    this.detail = detail;
    this.line = line;
  }
}

/** Which rule of USERDATA was broken (A3-3.5). */
export type UserdataDetail = 'json' | 'not_object' | 'subject' | 'brief' | 'fields' | 'asset' | 'value';

/** USERDATA is no strict JSON, or lacks what the schema demands (A3-3.5, AMB-26, AMB-27). */
export class UserdataError extends NeuroScriptError {
  static readonly code = 'ERR_USERDATA_SCHEMA';
  declare readonly code: 'ERR_USERDATA_SCHEMA';
  readonly detail: UserdataDetail;
  constructor(detail: UserdataDetail, message: string, options?: ErrorOptions) {
    super(UserdataError.code, message, options);
    this.detail = detail;
  }
}

/** Why a token was rejected (AL3-8-7…11). */
export type TokenCode = 'ERR_TOKEN_PARSE' | 'ERR_TOKEN_VERIFY' | 'ERR_TOKEN_SCOPE' | 'ERR_TOKEN_TTL' | 'ERR_TOKEN_REPLAY';

/** The check that a token failed, in the order in which the checks are made. */
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

/** The throwing form of a failed verification, for callers who have only one good path. */
export class TokenError extends NeuroScriptError {
  declare readonly code: TokenCode;
  readonly detail: TokenDetail;
  constructor(code: TokenCode, detail: TokenDetail, message: string) {
    super(code, message);
    this.detail = detail;
  }
}

/** How `tool.aeiou.magic` can fail. */
export type MagicCode = 'ERR_MAGIC_TOOL_ARGS' | 'ERR_MAGIC_TOOL_INTERNAL';

/**
 * `ERR_MAGIC_TOOL_ARGS`: the request cannot become a token, and never leads to a fallback abort (AMB-30).
 * `ERR_MAGIC_TOOL_INTERNAL`: neither signer could sign (A3-11.4-3).
 */
export class MagicError extends NeuroScriptError {
  declare readonly code: MagicCode;
  readonly detail: MagicDetail;
  constructor(code: MagicCode, detail: MagicDetail, message: string, options?: ErrorOptions) {
    super(code, message, options);
    this.detail = detail;
  }
}

/** What the tool could not accept or do. */
export type MagicDetail = 'kind' | 'payload' | 'action' | 'opts' | 'ttl' | 'size' | 'mint_cap' | 'signers';

/** What is wrong with a key or a file of keys. */
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

/** A key, or a file of keys, that must not be used. */
export class KeyError extends NeuroScriptError {
  static readonly code = 'ERR_KEY';
  declare readonly code: 'ERR_KEY';
  readonly detail: KeyDetail;
  constructor(detail: KeyDetail, message: string, options?: ErrorOptions) {
    super(KeyError.code, message, options);
    this.detail = detail;
  }
}

/** Which rule of strict JSON was broken. */
export type JsonDetail = 'encoding' | 'syntax' | 'duplicate' | 'depth' | 'number' | 'surrogate' | 'type';

/** Text that is no strict JSON, or a value that has no canonical JSON form. */
export class JsonError extends NeuroScriptError {
  static readonly code = 'ERR_JSON';
  declare readonly code: 'ERR_JSON';
  readonly detail: JsonDetail;
  /** UTF-16 offset into the text; null for values. */
  readonly offset: number | null;
  constructor(detail: JsonDetail, message: string, offset: number | null = null) {
    super(JsonError.code, message);
    this.detail = detail;
    this.offset = offset;
  }
}

/** Every error that this folder throws, told apart by `code`. */
export type AeiouError = EnvelopeError | UserdataError | TokenError | MagicError | KeyError | JsonError;

/** A remark about something that was accepted; decisions never depend on it. */
export type LintCode =
  | 'LINT_POST_TOKEN_TEXT'
  | 'LINT_MULTI_TOKENS'
  | 'LINT_DUP_SECTION_IGNORED'
  /** Ours (AMB-20): blank lines between START and the first section of a model's reply. */
  | 'LINT_BLANK_LINES_IGNORED';

/** A remark with its place. */
export interface Lint {
  readonly code: LintCode;
  /** 1-based: line of the envelope for envelope lints, of OUTPUT for token lints. */
  readonly line: number;
}
