import { NeuroScriptError } from '../wire/errors.ts';

/** A file is no receipt, no checkpoint and no key for them, or not one of a version that is known. */
export class ReceiptError extends NeuroScriptError {
  static readonly code = 'ERR_RECEIPT';
  constructor(message: string, options?: ErrorOptions) {
    super(ReceiptError.code, message, options);
  }
}
