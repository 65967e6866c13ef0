import { ConfigError } from '../wire/errors.ts';
import { checker, checkText, required, wholeNumber } from '../wire/options.ts';

/** How a call waits. */
export interface PendingOptions {
  /** For whoever is to complete it: one sentence, at most 500 characters. */
  readonly reason: string;
  /** Milliseconds until nobody need complete it any more; the host's own bound holds besides, and alone when absent. */
  readonly expiresIn?: number;
}

const checkPendingOptions = checker<PendingOptions>({ reason: required(checkText), expiresIn: wholeNumber(1) });

/** Longest reason, in UTF-16 units. */
const MAX_REASON = 500;

/** Known to {@link pending} alone, so that no value of a script can be taken for an answer to come. */
const MADE = Symbol('pending');

/** What leaves a tool whose answer comes later; made by `runtime.pending`. Nothing has failed. */
export class Pending extends Error {
  readonly reason: string;
  readonly expiresIn: number | null;

  /** Throws {@link ConfigError}: only {@link pending} makes these. */
  constructor(key: symbol, { reason, expiresIn }: PendingOptions) {
    if (key !== MADE) throw new ConfigError('an answer to come is made with runtime.pending()');
    super(`the answer comes later: ${reason}`);
    this.reason = reason;
    this.expiresIn = expiresIn ?? null;
  }
}

/** Throws {@link ConfigError} (`ERR_CONFIG`) for a reason that is none, and for a time that cannot be waited for. */
export function pending(options: PendingOptions): Pending {
  checkPendingOptions('pending', options);
  const { reason } = options;
  if (reason.trim() === '' || reason.length > MAX_REASON)
    throw new ConfigError(`pending needs a reason of 1 to ${MAX_REASON} characters`);
  return new Pending(MADE, options);
}
