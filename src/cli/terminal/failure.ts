import { NeuroScriptError } from '../../wire/errors.ts';

/**
 * The command line, or a file it names, cannot be used. The message is one sentence for the person at the terminal;
 * the command prints it after its name and exits 2.
 */
export class UsageError extends NeuroScriptError {
  static readonly code = 'ERR_USAGE';
  constructor(message: string, options?: ErrorOptions) {
    super(UsageError.code, message, options);
  }
}
