import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_TIMER_MS, wholeNumbers } from '../../wire/options.ts';

/** When a request whose transport failed is repeated. */
export interface RetryOptions {
  /** Most attempts after the first, from 0; 3 when absent. */
  readonly retries?: number;
  /** Milliseconds before the second attempt; doubled for each further one. 500 when absent. */
  readonly firstDelayMs?: number;
  /** Most milliseconds between two attempts; 30 seconds when absent. If the server requests more, there is no further attempt. */
  readonly maxDelayMs?: number;
}

/** The options with their defaults. Throws `ConfigError` for invalid numbers. */
export const checkRetry = wholeNumbers<RetryOptions>(
  'the retry options of an agent',
  0,
  { retries: 3, firstDelayMs: 500, maxDelayMs: 30_000 },
  MAX_TIMER_MS,
);

/** The transport failed. The request was not refused, so the same request may succeed later. */
export class TransportError extends Error {
  /** Milliseconds that the server requested before another attempt; null when it named none. */
  readonly retryAfterMs: number | null;
  /** The status of the server, the code of the connection's error, or `_OTHER`. */
  readonly type: string;
  constructor(message: string, type = '_OTHER', retryAfterMs: number | null = null) {
    super(message);
    this.type = type;
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Repeats an attempt while it fails with {@link TransportError}. Pauses double, and each is shortened at random by up to half,
 * so that many sessions do not retry at once. A longer `retry-after` of the server is respected. Rejects with the error
 * of the last attempt, and immediately when the signal is aborted.
 */
export async function withRetries<T>(
  { retries, firstDelayMs, maxDelayMs }: Required<RetryOptions>,
  signal: AbortSignal,
  attempt: (retry: number) => Promise<T>,
): Promise<T> {
  for (let retry = 0; ; retry++) {
    try {
      return await attempt(retry);
    } catch (error) {
      if (!(error instanceof TransportError) || retry >= retries || signal.aborted) throw error;
      const own = Math.min(maxDelayMs, firstDelayMs * 2 ** retry) * (1 - Math.random() / 2);
      const pause = Math.max(own, error.retryAfterMs ?? 0);
      if (pause > maxDelayMs) throw error;
      await sleep(pause, undefined, { signal });
    }
  }
}
