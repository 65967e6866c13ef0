import type { ErrorInfo } from '../../wire/errors.ts';
import type { HaltReason } from './decision.ts';

/** A failure of the steps around a program, in the form every failure has; it has no place in a source. */
export function hostFailure(code: HaltReason, message: string): ErrorInfo {
  const kind = code === 'ERR_AGENT' || code === 'ERR_INTERRUPTED' ? 'internal' : 'usage';
  return { kind, code, nsCode: null, name: nameOf(code), message, source: null, line: null, column: null, stack: [] };
}

/** `ERR_TOKEN_MISSING` as `TokenMissing`: the way names of failures are written. */
function nameOf(code: string): string {
  const words = code.split('_').slice(1);
  return words.map((word) => word.charAt(0) + word.slice(1).toLowerCase()).join('');
}
