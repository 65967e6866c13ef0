import { CallError, SessionExistsError, SessionLeasedError, SessionStateError, StoreError } from '../loop/index.ts';
import { BusyError, NeuroScriptError, RuntimeClosedError } from '../wire/errors.ts';

/**
 * The status of HTTP with which a handler fails; null for an error that may be gone the next time, and for every unknown one: Restate
 * calls the handler again.
 */
export function statusOf(error: unknown): number | null {
  if (!(error instanceof NeuroScriptError)) return null;
  if (error instanceof SessionLeasedError || error instanceof RuntimeClosedError || error instanceof BusyError) return null;
  if (error instanceof StoreError) return error.detail === 'busy' || error.detail === 'io' ? null : 500;
  const isConflict = error instanceof SessionStateError || error instanceof SessionExistsError || error instanceof CallError;
  return isConflict ? 409 : 400;
}
