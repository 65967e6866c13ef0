import { NeuroScriptError } from '../../wire/errors.ts';
import { timeText } from '../../wire/time.ts';
import type { SessionStatus } from './store.ts';

/** A session with this id exists already. */
export class SessionExistsError extends NeuroScriptError {
  static readonly code = 'ERR_SESSION_EXISTS';
  constructor(sid: string) {
    super(SessionExistsError.code, `session ${JSON.stringify(sid)} exists already`);
  }
}

/** The session is unknown or has ended. */
export class SessionStateError extends NeuroScriptError {
  static readonly code = 'ERR_SESSION_STATE';
  constructor(sid: string, state: 'unknown' | SessionStatus) {
    super(SessionStateError.code, `session ${JSON.stringify(sid)} is ${state}`);
  }
}

/** Another process drives the session, or took it over after this process's lease expired. */
export class SessionLeasedError extends NeuroScriptError {
  static readonly code = 'ERR_SESSION_LEASED';
  constructor(sid: string, holder: { readonly owner: string; readonly until: number } | null) {
    const whose = holder === null ? 'nobody any more' : `${holder.owner} until ${timeText(holder.until)}`;
    super(SessionLeasedError.code, `session ${JSON.stringify(sid)} is not held by this process: it is held by ${whose}`);
  }
}
