/** The host's two clocks. The first decides (tokens, log); the second measures durations (latency, ceilings). */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds since some fixed moment; never decreases. */
  monotonic(): number;
}

/** The clocks of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** A clock for tokens and log that stands still at `unixSeconds`, so that a turn can be repeated byte for byte. */
export function fixedClock(unixSeconds: number): Clock {
  return { now: () => unixSeconds * 1000, monotonic: () => performance.now() };
}
