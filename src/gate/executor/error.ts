/** Why an intent was not executed, or not recorded; each has a page in `docs/errors`. */
export type ExecutorCode = 'ERR_GATE_LOCKED' | 'ERR_GATE_ATTEMPT' | 'ERR_GATE_RECORD';

/** What the side that executes and records throws. */
export class ExecutorError extends Error {
  readonly code: ExecutorCode;
  constructor(code: ExecutorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ExecutorError';
    this.code = code;
  }
}
