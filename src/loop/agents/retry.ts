import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from '../../wire/errors.ts';
import { checkOptions, type KeysOf } from '../../wire/options.ts';

/** When a request that failed on its way is made again. */
export interface RetryOptions {
  /** Most tries after the first one, from 0; 3 when absent. */
  readonly retries?: number;
  /** Milliseconds before the second try; doubled for each further one. 500 when absent. */
  readonly firstDelayMs?: number;
  /** Most milliseconds between two tries, also when the server asks for more: then it is not tried again. 30 seconds when absent. */
  readonly maxDelayMs?: number;
}

const KEYS: KeysOf<RetryOptions> = { retries: true, firstDelayMs: true, maxDelayMs: true };
const DEFAULTS: Required<RetryOptions> = { retries: 3, firstDelayMs: 500, maxDelayMs: 30_000 };

/** Throws {@link ConfigError} for numbers that cannot be kept. */
export function checkRetry(options: RetryOptions): Required<RetryOptions> {
  checkOptions('the retry options of an agent', options, KEYS);
  const checked = { ...DEFAULTS, ...options };
  for (const [name, value] of Object.entries(checked))
    if (!Number.isSafeInteger(value) || value < 0)
      throw new ConfigError(`${name} of an agent must be a whole number from 0, got ${String(value)}`);
  return checked;
}

/** A try that failed on its way: nobody refused the request, so the same one may succeed a moment later. */
export class TransportError extends Error {
  /** What the server asked to be left alone for; null when it said nothing. */
  readonly retryAfterMs: number | null;
  constructor(message: string, retryAfterMs: number | null = null, options?: ErrorOptions) {
    super(message, options);
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Tries until something else than a {@link TransportError} comes of it, with pauses that double, each shortened at random
 * by up to a half so that many sessions do not come back at once. A server that names a time is given it (`retry-after`).
 * Rejects with what the last try rejected with, and at once when the signal is aborted.
 */
export async function withRetries<T>(
  { retries, firstDelayMs, maxDelayMs }: Required<RetryOptions>,
  signal: AbortSignal,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let tried = 0; ; tried++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof TransportError) || tried >= retries || signal.aborted) throw error;
      const own = Math.min(maxDelayMs, firstDelayMs * 2 ** tried) * (1 - Math.random() / 2);
      const pause = Math.max(own, error.retryAfterMs ?? 0);
      if (pause > maxDelayMs) throw error;
      await sleep(pause, undefined, { signal });
    }
  }
}

/**
 * The `retry-after` header: seconds, or a date. Null for anything else.
 */
export function retryAfterMs(header: string | null | undefined, now: number = Date.now()): number | null {
  if (header === null || header === undefined) return null;
  const text = header.trim();
  if (/^\d{1,9}(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
