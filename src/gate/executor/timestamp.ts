import { type ExecutorCode, ExecutorError } from './error.ts';

/** The timestamp of a record. Throws {@link ExecutorError} for anything but a time in Unix milliseconds, which plain JavaScript allows. */
export function timestampOf(now: number, code: ExecutorCode = 'ERR_GATE_RECORD'): string {
  const date = new Date(typeof now === 'number' ? now : Number.NaN);
  if (Number.isNaN(date.getTime()))
    throw new ExecutorError(code, `the time must be Unix milliseconds, got ${typeof now === 'number' ? now : typeof now}`);
  return date.toISOString();
}
