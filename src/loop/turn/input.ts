import {
  composeEnvelope,
  type Envelope,
  EnvelopeError,
  EXAMPLE_ACTIONS,
  extractEnvelope,
  type Lint,
  MARKERS,
  MAX_ENVELOPE_BYTES,
  parseEnvelope,
  parseStrict,
  UserdataError,
  validateUserdata,
  withoutFence,
} from '../../aeiou/index.ts';
import { encode } from '../../wire/codec.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import type { Unreadable } from '../record/record.ts';

/** The input of a turn: an envelope that can be executed, or why there is none. */
export type TurnInput =
  /** The text of an envelope, its sections, and remarks on what was ignored. */
  | { readonly ok: true; readonly text: string; readonly envelope: Envelope; readonly lints: readonly Lint[] }
  /** A text that is no envelope, and why. */
  | { readonly ok: false; readonly text: string; readonly failure: Unreadable };

/** The host's part of an envelope; the agent contributes ACTIONS. */
export interface HostSections {
  /** JSON text. */
  readonly userdata: string;
  /** What the last turn emitted; null for no section. */
  readonly output: string | null;
  /** What the last turn whispered; null for no section. */
  readonly scratchpad: string | null;
}

/** The source name in positions within ACTIONS. */
export const ACTIONS = 'ACTIONS';

/** The program's copy of the host's USERDATA. */
export function userdataOf({ envelope: { userdata } }: TurnInput & { readonly ok: true }): TaggedJson {
  return encode(parseStrict(userdata, { numbers: 'doubles', padding: true }));
}

/** Reads a whole envelope from bytes, for a turn from a file. USERDATA is the host's and must match the schema. */
export function readTurn(bytes: Uint8Array): TurnInput {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  return attempt(text, () => {
    const { lints, ...envelope } = parseEnvelope(bytes);
    validateUserdata(envelope.userdata);
    return { ok: true, text, envelope, lints };
  });
}

/**
 * The envelope that a session shows to its agent. ACTIONS holds a working example for the agent to replace. Throws
 * {@link EnvelopeError} when the sections do not form an envelope.
 */
export function composePrompt(sections: HostSections): string {
  return decode(composeEnvelope({ ...sections, actions: EXAMPLE_ACTIONS }));
}

/**
 * The input of a session's turn: the host's sections with the ACTIONS of an agent's reply. The reply's other sections have
 * no effect, so an agent cannot write USERDATA. A Markdown fence around ACTIONS is cut off, with a lint.
 */
export function readReply(sections: HostSections, reply: string): TurnInput {
  return attempt(reply, () => {
    const { actions: body, lints: remarks } = extractEnvelope(reply);
    const bare = withoutFence(body);
    const lints: readonly Lint[] = bare === null ? remarks : [...remarks, { code: 'LINT_FENCE_IGNORED', line: fenceLine(reply) }];
    const envelope: Envelope = { ...sections, actions: bare ?? body };
    return { ok: true, text: decode(composeEnvelope(envelope)), envelope, lints };
  });
}

/** The input of a session's turn whose program the host has corrected. */
export function readProgram(sections: HostSections, actions: string): TurnInput {
  return attempt(actions, () => {
    const envelope: Envelope = { ...sections, actions };
    return { ok: true, text: decode(composeEnvelope(envelope)), envelope, lints: [] };
  });
}

/** The line of a reply after the marker of ACTIONS, from 1. */
function fenceLine(reply: string): number {
  return reply.split('\n').indexOf(MARKERS.ACTIONS) + 2;
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

/** Characters kept of an unreadable text: enough that a replay also refuses it for its size. */
const KEPT = MAX_ENVELOPE_BYTES + 8;

function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

/** The sections of an envelope that the host fills, from the state of a session. */
export function sectionsOf({ userdata, output, scratchpad }: HostSections): HostSections {
  return { userdata, output, scratchpad };
}
