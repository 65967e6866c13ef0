import { ConfigError } from '../wire/errors.ts';
import { checkMethods, checkObject } from './arguments.ts';

/** The lifetimes of tokens, used ids and replaced keys, in whole seconds of one injected clock. */
export interface Lifetimes {
  /** `ttl` of a token whose program did not request one. */
  readonly defaultTtl: number;
  /** Longest `ttl` that is minted. */
  readonly maxTtl: number;
  /** Time for which a used token id is remembered. At least `maxTtl`, so that no token outlives the memory of its id. */
  readonly replayTtl: number;
  /** Time beyond `maxTtl` for which a replaced key still verifies. */
  readonly rotationBuffer: number;
  /** Largest amount by which `issued_at` may be ahead of the clock. */
  readonly clockSkew: number;
}

/** The defaults of the specification: tokens live 120 s, used ids 5 min, replaced keys 60 s longer than any token. */
export const DEFAULT_LIFETIMES: Lifetimes = Object.freeze({
  defaultTtl: 120,
  maxTtl: 300,
  replayTtl: 300,
  rotationBuffer: 60,
  clockSkew: 60,
});

/**
 * The given lifetimes, completed with the defaults. A shorter `maxTtl` also shortens the default `ttl`. Throws
 * {@link ConfigError} for a value that is not a whole number of seconds in range, and for lifetimes that contradict each other.
 */
export function resolveLifetimes(options: Partial<Lifetimes> = {}): Lifetimes {
  checkObject('the lifetimes', options);
  const maxTtl = options.maxTtl ?? DEFAULT_LIFETIMES.maxTtl;
  const resolved: Lifetimes = {
    ...DEFAULT_LIFETIMES,
    ...options,
    maxTtl,
    defaultTtl: options.defaultTtl ?? Math.min(DEFAULT_LIFETIMES.defaultTtl, maxTtl),
  };
  for (const [name, seconds] of Object.entries(resolved))
    checkWholeNumber(name, seconds, name === 'rotationBuffer' || name === 'clockSkew' ? 0 : 1, ' of seconds');
  if (resolved.defaultTtl > maxTtl)
    throw new ConfigError(`defaultTtl (${resolved.defaultTtl} s) must not exceed maxTtl (${maxTtl} s)`);
  if (resolved.replayTtl < maxTtl)
    throw new ConfigError(
      `replayTtl (${resolved.replayTtl} s) must be at least maxTtl (${maxTtl} s), or a token could be replayed`,
    );
  return Object.freeze(resolved);
}

/** Returns a configured number. Throws {@link ConfigError} unless it is a whole number from `least`, and to `most` if that is given. */
export function checkWholeNumber(name: string, value: number, least: 0 | 1 = 1, unit = '', most?: number): number {
  if (Number.isSafeInteger(value) && value >= least && value <= (most ?? value)) return value;
  const range = most === undefined ? `from ${least}` : `from ${least} to ${most}`;
  throw new ConfigError(`${name} must be a whole number${unit} ${range}, got ${String(value)}`);
}

/** A clock: `now` gives milliseconds since the Unix epoch, as `Date.now` does. This package reads no other clock for tokens. */
export interface TokenClock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

/** Unix seconds of a clock, rounded down: the unit of `issued_at`, expiry and replay. */
export function secondsOf(clock: TokenClock): number {
  if (typeof clock?.now !== 'function') checkMethods('the clock', clock, 'now');
  return Math.floor(clock.now() / 1000);
}
