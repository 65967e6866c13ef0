import { clip, printable } from '../../report/index.ts';
import { ConfigError, NeuroScriptError } from '../../wire/errors.ts';
import { messageOf } from '../../wire/unknown.ts';
import { EXIT, type ExitCode } from './exit.ts';

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

export function exitOfThrown(error: unknown): ExitCode {
  return isMisuse(error) ? EXIT.usage : EXIT.internal;
}

/** One line about whatever a command threw; it has no stack trace, which only a developer of this package could use. */
export function failureLine(error: unknown): string {
  const message = sentence(printable(wasRemoved(error) ? REMOVED : messageOf(error)));
  if (isMisuse(error)) return `neuroscript: ${message}`;
  return error instanceof NeuroScriptError
    ? `neuroscript: ${message} (${error.code})`
    : `neuroscript: unexpected failure, please report it: ${message}`;
}

/** Characters of a message; more of it hides what it says. */
const MOST = 1000;

/** A message that fits a terminal: of a very long one the beginning and the end, which has the advice. */
export function sentence(text: string): string {
  return text.length <= MOST ? text : `${clip(text, MOST / 2)} ${text.slice(-MOST / 2).toWellFormed()}`;
}

function isMisuse(error: unknown): boolean {
  return error instanceof UsageError || error instanceof ConfigError || wasRemoved(error);
}

const REMOVED = 'the current folder was removed; change to one that exists';

/** Whether an error is that of a relative path in a process whose working directory is gone. */
function wasRemoved(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd';
}
