/**
 * What goes over the socket: one JSON object a line, byte strings as base64url. The agent holds the private key and signs
 * whatever it is asked to; who may ask is decided by who may open the socket.
 */
export interface SignRequest {
  readonly id: number;
  readonly kid: string;
  readonly message: string;
}

/** The tag, or why there is none. */
export type SignAnswer = { readonly id: number; readonly tag: string } | { readonly id: number; readonly error: string };
