import type { z } from 'zod';
import { NeuroScriptError } from '../wire/errors.ts';

/** A file is not a receipt, a checkpoint or a key for them, or its version is unknown. */
export class ReceiptError extends NeuroScriptError {
  static readonly code = 'ERR_RECEIPT';
  constructor(message: string, options?: ErrorOptions) {
    super(ReceiptError.code, message, options);
  }
}

/** What is to be said of another version; undefined when something else is wrong. */
export function versionProblem(error: z.ZodError | undefined): string | undefined {
  return error?.issues.find(({ path }) => path.at(-1) === 'version')?.message;
}
