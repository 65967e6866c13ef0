import { encodeBase64Url } from './base64url.ts';
import { canonicalize } from './canonical.ts';
import { ED25519_TAG_BYTES, HS256_TAG_BYTES } from './crypto.ts';
import { JsonError, MagicError } from './errors.ts';
import type { Algorithm, Signer } from './keys.ts';
import { toUtf8 } from './text.ts';
import { type ControlPayload, MAX_TOKEN_BYTES, TOKEN_KIND, TOKEN_PREFIX } from './token.ts';

const TAG_BYTES: Readonly<Record<Algorithm, number>> = { Ed25519: ED25519_TAG_BYTES, HS256: HS256_TAG_BYTES };

/** What a token is made from; session, turn and nonce come from the host's turn, never from the program. */
export interface MintInput {
  readonly sessionId: string;
  readonly turnIndex: number;
  readonly turnNonce: string;
  readonly jti: string;
  /** Unix seconds. */
  readonly issuedAt: number;
  /** Seconds, from 0; null: a token that does not expire by itself. */
  readonly ttl: number | null;
  readonly payload: ControlPayload;
}

/** A token that lacks only its tag. */
export interface UnsignedToken {
  /** What the tag is made over: the canonical bytes of the payload. */
  readonly message: Uint8Array;
  readonly tagBytes: number;
  /** The line, given the tag of {@link message}. Throws {@link MagicError} (`ERR_MAGIC_TOOL_INTERNAL`) for a tag of the wrong length. */
  seal(tag: Uint8Array): string;
}

/**
 * Everything about minting but the signature, so that the signature may come from anywhere. Throws {@link MagicError}
 * `ERR_MAGIC_TOOL_ARGS`: `payload` has no canonical form in the profile, or the line would exceed 1024 bytes (AMB-30).
 */
export function prepareToken(input: MintInput, kid: string, alg: Algorithm): UnsignedToken {
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
 * Mints with one signer, as it is: no turn, no fallback (that is the magic tool's business). Throws {@link MagicError} for
 * a request that cannot become a token, and passes on what the signer throws.
 */
export async function mintToken(input: MintInput, signer: Signer, signal: AbortSignal = NEVER): Promise<string> {
  const token = prepareToken(input, signer.kid, signer.alg);
  return token.seal(await signer.sign(token.message, signal));
}

const NEVER = new AbortController().signal;
