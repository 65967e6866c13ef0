import { CallError, SessionExistsError, SessionLeasedError, SessionStateError, StoreError } from '../loop/index.ts';
import { BusyError, NeuroScriptError, RuntimeClosedError } from '../wire/errors.ts';
import { anything, type Checks, checker, checkFunction, checkText, required } from '../wire/options.ts';
import { type SessionDriver, SessionHandlers } from './handlers.ts';
import { loadSdk, type SessionObject } from './sdk.ts';

/** Options of {@link restateSessions}. */
export interface RestateOptions extends Omit<SessionDriver, 'name'> {
  /** The name of the virtual object, and the profile of the sessions that it opens; `neuroscript` when absent. */
  readonly name?: string;
}

const CHECKS: Checks<RestateOptions> = {
  coordinator: required(anything),
  controller: required(anything),
  options: required(checkFunction),
  name: checkText,
};
const checkOptions = checker(CHECKS);

/** Restate keeps the inputs of its handlers, such as USERDATA and answers, no longer than it needs them. */
const KEPT_MS = 0;

/** Milliseconds after which Restate calls a silent handler again. By default, a turn and its replies take less. */
const ABORT_MS = 30 * 60_000;

/** Pauses between calls of an unreachable worker, in milliseconds. They go on for ever; Restate's default is to give up after 70 attempts. */
const RETRY_POLICY = {
  initialInterval: 50,
  maxInterval: 5000,
  exponentiationFactor: 2,
  maxAttempts: Number.MAX_SAFE_INTEGER,
};

/**
 * Sessions as a virtual object of Restate whose key is the session's id, for the endpoint of its SDK. Its handlers are `start` with
 * `{userdata, durable?}`, `status`, `cancel`, `complete` with `{call, result}` or `{call, error}`, and `turn`, which calls itself. Restate
 * decides when a turn is taken and keeps the timers; sessions, records and the log stay in the store. Throws `ConfigError`
 * (`ERR_CONFIG`) for unusable options and when `@restatedev/restate-sdk` is not installed.
 */
export async function restateSessions(options: RestateOptions): Promise<SessionObject> {
  checkOptions('the options of sessions on Restate', options);
  const { name = 'neuroscript' } = options;
  const sdk = await loadSdk();
  const own = new SessionHandlers({ ...options, name }, sdk);
  const asTerminalError = (error: unknown): Error | undefined => {
    const errorCode = statusOf(error);
    return errorCode === null ? undefined : new sdk.TerminalError(String(error), { errorCode });
  };
  // A handler must see what a waiting turn has set, so it reads the state only when it needs it.
  const shared = { asTerminalError, enableLazyState: true };
  const { object } = sdk.handlers;
  return sdk.object({
    name,
    handlers: {
      start: object.shared(shared, (context, input) => own.start(context, input)),
      turn: object.exclusive({}, (context, input) => own.turn(context, input)),
      status: object.shared(shared, (context) => own.status(context)),
      cancel: object.shared(shared, (context) => own.cancel(context)),
      complete: object.shared(shared, (context, input) => own.complete(context, input)),
    },
    options: { journalRetention: KEPT_MS, abortTimeout: ABORT_MS, retryPolicy: RETRY_POLICY },
  });
}

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
