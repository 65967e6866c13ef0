import { ConfigError } from '../wire/errors.ts';

/** How long things of the control plane live. All in whole seconds, on one injected clock. */
export interface Lifetimes {
  /** `ttl` of a token whose program did not ask for one (AMB-12). */
  readonly defaultTtl: number;
  /** Longest `ttl` that is minted. */
  readonly maxTtl: number;
  /** How long a used token id is remembered (A3-11.3-3). At least `maxTtl`, else a token could outlive the memory of it (AMB-40). */
  readonly replayTtl: number;
  /** How much longer than `maxTtl` a replaced key stays good for verification (A3-11.5-2). */
  readonly rotationBuffer: number;
  /** How far in the future a token may have been issued (AMB-41b). */
  readonly clockSkew: number;
}

/** The defaults of the seeds: 120 s tokens, 5 min replay memory, 60 s of grace. */
export const DEFAULT_LIFETIMES: Lifetimes = Object.freeze({
  defaultTtl: 120,
  maxTtl: 300,
  replayTtl: 300,
  rotationBuffer: 60,
  clockSkew: 60,
});

/**
 * The defaults with a configuration put over them. A shorter `maxTtl` also shortens the default `ttl`. Throws
 * {@link ConfigError} for a value that is no whole number of seconds in range, and for lifetimes that do not fit together.
 */
export function resolveLifetimes(options: Partial<Lifetimes> = {}): Lifetimes {
  const maxTtl = options.maxTtl ?? DEFAULT_LIFETIMES.maxTtl;
  const resolved: Lifetimes = {
    ...DEFAULT_LIFETIMES,
    ...options,
    maxTtl,
    defaultTtl: options.defaultTtl ?? Math.min(DEFAULT_LIFETIMES.defaultTtl, maxTtl),
  };
  for (const [name, seconds] of Object.entries(resolved)) {
    const least = name === 'rotationBuffer' || name === 'clockSkew' ? 0 : 1;
    if (!Number.isSafeInteger(seconds) || seconds < least)
      throw new ConfigError(`${name} must be a whole number of seconds from ${least}, got ${String(seconds)}`);
  }
  if (resolved.defaultTtl > maxTtl)
    throw new ConfigError(`defaultTtl (${resolved.defaultTtl} s) must not exceed maxTtl (${maxTtl} s)`);
  if (resolved.replayTtl < maxTtl)
    throw new ConfigError(
      `replayTtl (${resolved.replayTtl} s) must be at least maxTtl (${maxTtl} s), or a token could be replayed`,
    );
  return Object.freeze(resolved);
}

/** Milliseconds since the Unix epoch, as `Date.now` gives them. Injected everywhere: nothing here reads a clock by itself. */
export interface TokenClock {
  now(): number;
}

/** Unix seconds of a clock, rounded down: what `issued_at`, expiry and replay are counted in. */
export function secondsOf(clock: TokenClock): number {
  return Math.floor(clock.now() / 1000);
}
