import { type Envelope, EnvelopeError, parseEnvelope } from '../aeiou/index.ts';
import { plainPalette, renderError } from '../report/index.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import type { Source } from '../wire/protocol.ts';
import { printable } from '../wire/text/printable.ts';
import type { ErrorView } from './views.ts';

/** Units of a message in a row; a message may hold a value of the program. */
export const MESSAGE = 500;

/** The envelope of a turn; a sentence says why it cannot be read. */
export function envelopeOf(text: string): Envelope | string {
  try {
    return parseEnvelope(new TextEncoder().encode(text));
  } catch (error) {
    if (error instanceof EnvelopeError) return error.message;
    throw error;
  }
}

/** An error of a program, given ACTIONS (null if they cannot be read) and the libraries that ran with them. */
export function errorView(error: ErrorInfo, actions: string | null, libraries: readonly Source[]): ErrorView {
  const { kind, code, name, message, source, line, column, hint = null } = error;
  const program = actions === null ? [] : [{ name: 'ACTIONS', text: actions }];
  const sources = new Map([...libraries, ...program].map((each) => [each.name, each.text]));
  const short = { ...error, message: message.slice(0, MESSAGE * 20) };
  const [head = '', ...rest] = renderError(short, sources, plainPalette);
  // A terminal says which command failed where there is no place.
  const first = source === null || line === null ? `${printable(short.message)} (${code})` : head;
  return { kind, code, name, message: short.message, source, line, column, hint, lines: [first, ...rest] };
}
