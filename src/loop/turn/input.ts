import {
  composeEnvelope,
  type Envelope,
  EnvelopeError,
  EXAMPLE_ACTIONS,
  extractEnvelope,
  type Lint,
  MAX_ENVELOPE_BYTES,
  parseEnvelope,
  UserdataError,
  validateUserdata,
} from '../../aeiou/index.ts';

/** What a turn starts from: an envelope that may be executed, or why there is none. */
export type TurnInput =
  | { readonly ok: true; readonly text: string; readonly envelope: Envelope; readonly lints: readonly Lint[] }
  | { readonly ok: false; readonly text: string; readonly failure: Unreadable };

/** Why an envelope cannot be executed. */
export type Unreadable = Pick<EnvelopeError | UserdataError, 'code' | 'message'>;

/** What the host brings to a turn of a session; the agent brings ACTIONS. */
export interface HostSections {
  /** JSON text. */
  readonly userdata: string;
  readonly output: string | null;
  readonly scratchpad: string | null;
}

/** Reads one whole envelope from bytes: the turn of a file. Its USERDATA is the host's, so it must pass the schema. */
export function readTurn(bytes: Uint8Array): TurnInput {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  return attempt(text, () => {
    const { lints, ...envelope } = parseEnvelope(bytes);
    validateUserdata(envelope.userdata);
    return { ok: true, text, envelope, lints };
  });
}

/**
 * The envelope that the agent of a session is shown: its ACTIONS is an example that runs, for the agent to replace (AMB-51).
 * Throws {@link EnvelopeError} when the sections do not make one.
 */
export function composePrompt(sections: HostSections): string {
  return decode(composeEnvelope({ ...sections, actions: EXAMPLE_ACTIONS }));
}

/**
 * The turn of a session: the host's sections with the ACTIONS of an agent's reply. Whatever the reply says in its other
 * sections has no effect (AMB-27b), so no program text is ever promoted to USERDATA (threat 17).
 */
export function readReply(sections: HostSections, reply: string): TurnInput {
  return attempt(reply, () => {
    const { actions, lints } = extractEnvelope(reply);
    const envelope: Envelope = { ...sections, actions };
    return { ok: true, text: decode(composeEnvelope(envelope)), envelope, lints };
  });
}

function attempt(text: string, read: () => TurnInput): TurnInput {
  try {
    return read();
  } catch (error) {
    if (error instanceof EnvelopeError || error instanceof UserdataError)
      return { ok: false, text: text.slice(0, KEPT), failure: error };
    throw error;
  }
}

/** Characters kept of what could not be read: enough to be refused for its size again, whatever was sent (threat 11). */
const KEPT = MAX_ENVELOPE_BYTES + 8;

function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}
