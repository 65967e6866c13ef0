import { ConfigError } from '../wire/errors.ts';
import { checker, checkText, required, wholeNumber } from '../wire/options.ts';

/** Options of a call that waits for its answer. */
export interface PendingOptions {
  /** One sentence, at most 500 characters, for the person or program that completes the call. */
  readonly reason: string;
  /** Milliseconds until the call expires. The host's own bound applies too; when this is absent, only the host's. */
  readonly expiresIn?: number | undefined;
}

const checkPendingOptions = checker<PendingOptions>({ reason: required(checkText), expiresIn: wholeNumber(1) });

/** Longest reason, in UTF-16 units. */
const MAX_REASON = 500;

/** Only {@link pending} knows this key, so nothing else can make a {@link Pending}. */
const MADE = Symbol('pending');

/** Thrown by a tool whose answer comes later; `runtime.pending` makes it. It is no failure. */
export class Pending extends Error {
  readonly reason: string;
  readonly expiresIn: number | null;

  /** Throws {@link ConfigError}: only {@link pending} makes these. */
  constructor(key: symbol, { reason, expiresIn }: PendingOptions) {
    if (key !== MADE) throw new ConfigError('only runtime.pending() makes a Pending');
    super(`the answer comes later: ${reason}`);
    this.reason = reason;
    this.expiresIn = expiresIn ?? null;
  }
}

/** Throws {@link ConfigError} (`ERR_CONFIG`) for a missing or too long reason, and for a time that is no whole number from 1. */
export function pending(options: PendingOptions): Pending {
  checkPendingOptions('pending', options);
  const { reason } = options;
  if (reason.trim() === '' || reason.length > MAX_REASON)
    throw new ConfigError(`pending needs a reason of 1 to ${MAX_REASON} characters`);
  return new Pending(MADE, options);
}
