import { ED25519_TAG_BYTES, encodeBase64Url, HS256_TAG_BYTES } from '../../crypto/index.ts';
import { checkMethods, checkObject } from '../arguments.ts';
import { JsonError, MagicError } from '../errors.ts';
import { canonicalize } from '../json/canonical.ts';
import type { Algorithm, Signer } from '../keys/keyring.ts';
import { toUtf8 } from '../utf8.ts';
import { type ControlPayload, MAX_TOKEN_BYTES, TOKEN_KIND, TOKEN_PREFIX } from './format.ts';

const TAG_BYTES: Readonly<Record<Algorithm, number>> = { Ed25519: ED25519_TAG_BYTES, HS256: HS256_TAG_BYTES };

/** The content of a token to mint. Session, turn and nonce come from the host's turn, never from the program. */
export interface MintInput {
  /** The session. */
  readonly sessionId: string;
  /** Number of the turn, from 1. */
  readonly turnIndex: number;
  /** The nonce of the turn. */
  readonly turnNonce: string;
  /** Id of the token. */
  readonly jti: string;
  /** Unix seconds. */
  readonly issuedAt: number;
  /** Seconds, from 0; null for a token that does not expire by itself. */
  readonly ttl: number | null;
  /** The payload of the token. */
  readonly payload: ControlPayload;
}

export interface UnsignedToken {
  /** The canonical bytes of the payload, which the tag covers. */
  readonly message: Uint8Array;
  readonly tagBytes: number;
  /**
   * The token line with the tag of {@link message}. Throws {@link MagicError} (`ERR_MAGIC_TOOL_INTERNAL`) for a tag of the wrong length.
   */
  seal(tag: Uint8Array): string;
}

/**
 * Prepares a token for signing, so that the signature may come from anywhere. Throws {@link MagicError}
 * (`ERR_MAGIC_TOOL_ARGS`) when `payload` cannot be signed or when the line would exceed 1024 bytes.
 */
export function prepareToken(input: MintInput, kid: string, alg: Algorithm): UnsignedToken {
  checkObject('the content of a token', input);
  const message = toUtf8(canonicalPayload(input, kid));
  const head = `${TOKEN_PREFIX}${TOKEN_KIND}:${encodeBase64Url(message)}.`;
  const tagBytes = TAG_BYTES[alg];
  const length = head.length + Math.ceil((tagBytes * 4) / 3) + 3;
  if (length > MAX_TOKEN_BYTES)
    throw new MagicError(
      'ERR_MAGIC_TOOL_ARGS',
      'size',
      `the token would have ${length} bytes, ${MAX_TOKEN_BYTES} are allowed; its payload has ${message.length} bytes, shorten request and telemetry`,
    );
  return {
    message,
    tagBytes,
    seal(tag) {
      if (!(tag instanceof Uint8Array) || tag.length !== tagBytes)
        throw new MagicError('ERR_MAGIC_TOOL_INTERNAL', 'signers', `the signer of '${kid}' gave no tag of ${tagBytes} bytes`);
      return `${head}${encodeBase64Url(tag)}>>>`;
    },
  };
}

function canonicalPayload(input: MintInput, kid: string): string {
  try {
    return canonicalize({
      v: 3,
      kind: TOKEN_KIND,
      jti: input.jti,
      session_id: input.sessionId,
      turn_index: input.turnIndex,
      turn_nonce: input.turnNonce,
      issued_at: input.issuedAt,
      ...(input.ttl === null ? {} : { ttl: input.ttl }),
      kid,
      payload: input.payload,
    });
  } catch (error) {
    if (error instanceof JsonError)
      throw new MagicError('ERR_MAGIC_TOOL_ARGS', 'payload', `the payload cannot be signed: ${error.message}`, { cause: error });
    throw error;
  }
}

/**
 * Mints a token with one signer and without a fallback; a `Minter` has one. Throws {@link MagicError} for content that cannot
 * become a token, and every error of the signer.
 */
export async function mintToken(input: MintInput, signer: Signer, signal: AbortSignal = NEVER): Promise<string> {
  checkMethods('the signer', signer, 'sign');
  const token = prepareToken(input, signer.kid, signer.alg);
  return token.seal(await signer.sign(token.message, signal));
}

const NEVER = new AbortController().signal;
