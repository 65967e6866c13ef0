import { retryAfterMs } from '../../wire/retryafter.ts';
import { errorOf, messageOf } from '../../wire/unknown.ts';
import { TransportError } from './retry.ts';

/** A request to a model failed for good. */
export class ModelError extends Error {
  /** The `error.type` of the OpenTelemetry conventions: the status of the server, or another type of error. */
  readonly type: string;
  /** Whether somebody may mend the cause without a change of the request. */
  readonly retryable: boolean;
  constructor(message: string, type: string, retryable = false) {
    super(message);
    this.type = type;
    this.retryable = retryable;
  }
}

/** A reply did not end in time. A server that has sent nothing of it is taken for one that is away. */
export class ReplyTimeout extends ModelError {
  constructor(message: string, hasBegun: boolean) {
    super(message, 'timeout', !hasBegun);
  }
}

/** The SDK's description of a failed request. */
export interface CallFailure {
  readonly message: string;
  readonly statusCode?: number | undefined;
  readonly responseHeaders?: Readonly<Record<string, string>> | undefined;
}

/** What a server answers because of a key, an account, a proxy or the name of a model: its operator can mend that, and no program. */
const OPERATORS: ReadonlySet<number> = new Set([401, 402, 403, 404, 407]);

/** An overloaded or broken server is worth a retry; a refusal is not. */
export function ofResponse({ message, statusCode, responseHeaders }: CallFailure): Error {
  if (statusCode === undefined) return new TransportError(message);
  const text = `the model's server answered ${statusCode}: ${message}`;
  const type = String(statusCode);
  if (statusCode !== 408 && statusCode !== 429 && statusCode < 500) return new ModelError(text, type, OPERATORS.has(statusCode));
  return new TransportError(text, type, retryAfterMs(responseHeaders?.['retry-after']));
}

/** Whether a response broke off while it was read. Its cause then describes the failure. */
export function isBroken({ statusCode, cause }: CallFailure & ErrorOptions): boolean {
  return cause instanceof Error && (statusCode === undefined || statusCode < 300);
}

/**
 * Recognises failed connections by Node's error codes or by the TypeError of `fetch`, and truncated streams by the SDK's
 * message. Returns the innermost cause of every other error.
 */
export function ofConnection(error: unknown): Error {
  let last = errorOf(error);
  for (let at: unknown = last; at instanceof Error; at = at.cause) {
    last = at;
    if ('code' in at && typeof at.code === 'string' && /^(E[A-Z]+|UND_ERR_[A-Z_]+)$/.test(at.code))
      return new TransportError(`the connection to the model failed: ${at.code}`, at.code);
    if (at instanceof TypeError && /terminated|fetch failed/.test(at.message) && !(at.cause instanceof Error))
      return new TransportError('the connection to the model broke off');
    if (/without a finish reason/.test(at.message)) return new TransportError('the reply of the model broke off');
  }
  return last;
}

/** Most characters shown of a foreign message. */
const SHOWN = 500;

/** The message of an error in one line. `clean` removes secrets from it. */
export function messageLine(error: unknown, clean: (text: string) => string): string {
  // Secrets are removed before the text is cut, because a cut secret would not be found.
  const text = clean(messageOf(error));
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line;
}
