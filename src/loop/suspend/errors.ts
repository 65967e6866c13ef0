import { NeuroScriptError } from '../../wire/errors.ts';
import type { Waiting } from './suspension.ts';

/** The session waits for a call to be completed. Nothing has failed: complete it, then go on. */
export class SuspendedError extends NeuroScriptError {
  static readonly code = 'ERR_SUSPENDED';
  readonly sid: string;
  readonly waiting: Waiting;
  constructor(sid: string, waiting: Waiting) {
    const { call, tool, reason } = waiting;
    super(SuspendedError.code, `session ${JSON.stringify(sid)} waits for call ${call} of ${tool}: ${reason}`);
    this.sid = sid;
    this.waiting = waiting;
  }
}

/** Why a call cannot be completed. */
export type CallErrorCode =
  /** The session has no such call, or it was never one that waited. */
  | 'ERR_CALL_UNKNOWN'
  | 'ERR_CALL_COMPLETED'
  /** Its session was ended while it waited. */
  | 'ERR_CALL_CANCELLED'
  | 'ERR_CALL_EXPIRED'
  /** The tool promises another type of result. */
  | 'ERR_CALL_TYPE'
  /** The tool is gone, or promises something else than when it was called. */
  | 'ERR_CALL_CHANGED';

/** A call that cannot be completed, or a turn that cannot go on with what it was completed with. */
export class CallError extends NeuroScriptError {
  declare readonly code: CallErrorCode;
  constructor(code: CallErrorCode, message: string) {
    super(code, message);
  }
}
