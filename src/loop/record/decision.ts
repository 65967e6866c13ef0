import type { ErrorInfo } from '../../wire/errors.ts';
import type { HaltReason } from '../../wire/haltreasons.ts';
import { findLimit } from '../../wire/limits.ts';

export { HALT_REASONS, type HaltReason, isHaltReason } from '../../wire/haltreasons.ts';

/** The decision of a turn. A token can request the first three; only the host decides HALT. */
export type Decision = 'CONTINUE' | 'DONE' | 'ABORT' | 'HALT';

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
      return error.code === 'ERR_EFFECT_CHANGED' ? error.code : 'ERR_POLICY';
    case 'syntax':
      return 'ERR_ACTIONS_INVALID';
    case 'cancelled':
      return 'ERR_CANCELLED';
    case 'runtime':
    case 'usage':
    case 'internal':
      if (error.code === 'ERR_WORKER') return 'ERR_INTERRUPTED';
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
