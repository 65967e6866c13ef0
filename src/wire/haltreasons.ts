/** Every reason for a HALT, with the sentence that explains it to a reader. */
export const HALT_REASONS = {
  ERR_ENV_MARKERS_INVALID: 'the envelope has missing, unknown or misplaced marker lines',
  ERR_ENV_SECTION_MISSING: 'the envelope lacks USERDATA or ACTIONS',
  ERR_ENV_ORDER: 'the sections of the envelope are out of order',
  ERR_ENV_SECTION_DUP: 'the envelope holds a second envelope',
  ERR_ENV_SIZE: 'the envelope, a section or an output line is larger than the protocol allows',
  ERR_USERDATA_SCHEMA: 'USERDATA is not of the required form',
  ERR_TOKEN_PARSE: 'the control token is malformed',
  ERR_TOKEN_VERIFY: 'the control token is not signed by a key of this host',
  ERR_TOKEN_SCOPE: 'the control token belongs to another session or turn',
  ERR_TOKEN_TTL: 'the control token has expired',
  ERR_TOKEN_REPLAY: 'the control token was used before',
  ERR_TOKEN_MISSING: 'the program emitted no control token',
  ERR_MAGIC_TOOL_INTERNAL: 'no signing key could mint a control token',
  ERR_TIMEOUT: 'the time allowed was used up',
  ERR_QUOTA: 'the program used up one of its quotas',
  ERR_NO_PROGRESS: 'several turns in a row gave the same output',
  ERR_ACTIONS_INVALID: 'ACTIONS is not exactly one valid command block',
  ERR_EXEC: 'the program failed',
  ERR_POLICY: 'the policy, or a person, does not allow what the program does',
  ERR_CANCELLED: 'the session was cancelled',
  ERR_MAX_TURNS: 'the session used up its turns',
  ERR_AGENT: 'the agent gave no reply',
  ERR_INTERRUPTED: 'the turn was interrupted and not decided',
  ERR_CALL_EXPIRED: 'a call that the turn waited for was not completed in time',
  ERR_REPLAY: 'the turn did not go on as it had begun',
  ERR_EFFECT_CHANGED: 'a corrected program would call a tool again that an earlier attempt called in another way',
} as const;

/** Why a session was halted. Each code has a page in `docs/errors/`. */
export type HaltReason = keyof typeof HALT_REASONS;

export function isHaltReason(code: string): code is HaltReason {
  return Object.hasOwn(HALT_REASONS, code);
}

/** Every reason for which the host stops a loop. */
export const V1_HALT_REASONS = {
  timeout: 'the time allowed was used up',
  'max-turns': 'the loop used up its turns',
  'no-progress': 'two turns in a row asked for the same',
  policy: 'a budget or the policy does not allow it to go on',
  'execute-error': 'there was no program to run, or it failed',
} as const;

/** A key of {@link V1_HALT_REASONS}. */
export type V1HaltReason = keyof typeof V1_HALT_REASONS;
