/**
 * A request over the socket: one JSON object per line, bytes as base64url. The agent signs every request, so the permissions of
 * the socket decide who may ask.
 */
export interface SignRequest {
  readonly id: number;
  readonly kid: string;
  readonly message: string;
}

/** The tag, or the reason for a refusal. */
export type SignAnswer = { readonly id: number; readonly tag: string } | { readonly id: number; readonly error: string };
