import type { ErrorInfo } from '../../wire/errors.ts';
import { findLimit } from '../../wire/limits.ts';

/** The decision of a turn. A token can request the first three; only the host decides HALT. */
export type Decision = 'CONTINUE' | 'DONE' | 'ABORT' | 'HALT';

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
  ERR_POLICY: 'the program calls a tool that the policy denies',
  ERR_CANCELLED: 'the session was cancelled',
  ERR_MAX_TURNS: 'the session used up its turns',
  ERR_AGENT: 'the agent gave no reply',
  ERR_INTERRUPTED: 'the process died during the turn',
  ERR_CALL_EXPIRED: 'a call that the turn waited for was not completed in time',
  ERR_REPLAY: 'the turn did not go on as it had begun',
} as const;

/** Why a session was halted. Each code has a page in `docs/errors/`. */
export type HaltReason = keyof typeof HALT_REASONS;

/** Whether a code can be the reason of a HALT. */
export function isHaltReason(code: string): code is HaltReason {
  return Object.hasOwn(HALT_REASONS, code);
}

/** Whether a limit bounds the output of a turn. The loop reports such limits as sizes of the protocol. */
const isSize = (key = ''): boolean => findLimit(key)?.turnDefault !== undefined;

/** The reason of the HALT to which a failed execution leads. Every failure ends the session. */
export function reasonOfRun(error: ErrorInfo): HaltReason {
  switch (error.kind) {
    case 'quota':
      return error.code === 'ERR_ENV_SIZE' || isSize(error.limit) ? 'ERR_ENV_SIZE' : 'ERR_QUOTA';
    case 'timeout':
      return 'ERR_TIMEOUT';
    case 'policy':
      return 'ERR_POLICY';
    case 'syntax':
      return 'ERR_ACTIONS_INVALID';
    case 'cancelled':
      return 'ERR_CANCELLED';
    case 'runtime':
    case 'usage':
    case 'internal':
      return error.code === 'ERR_REPLAY' ? 'ERR_REPLAY' : 'ERR_EXEC';
  }
}

/** A failure of the host's steps before or after a program. It has no position in a source. */
export function hostFailure(code: HaltReason, message: string): ErrorInfo {
  const kind = code === 'ERR_AGENT' || code === 'ERR_INTERRUPTED' ? 'internal' : 'usage';
  return { kind, code, nsCode: null, name: nameOf(code), message, source: null, line: null, column: null, stack: [] };
}

/** Writes `ERR_TOKEN_MISSING` as `TokenMissing`, the form of all failure names. */
function nameOf(code: string): string {
  const words = code.split('_').slice(1);
  return words.map((word) => word.charAt(0) + word.slice(1).toLowerCase()).join('');
}
