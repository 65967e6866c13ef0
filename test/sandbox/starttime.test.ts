import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MOST_START_MS, START_MS, waitedForCore, watchStart } from '../../src/sandbox/proc.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** When a start is late that waits for a core for this share of its time; null if it never is. */
function lateAfter(share: number): number | null {
  const began = performance.now();
  let found: number | null = null;
  watchStart(
    () => (performance.now() - began) * share,
    (ms) => {
      found = ms;
    },
  );
  vi.advanceTimersByTime(2 * MOST_START_MS);
  return found;
}

describe('issue 50: the time of a start', () => {
  it('does not count while the worker waits for a core, up to a minute', () => {
    expect(lateAfter(0)).toBe(START_MS);
    expect(lateAfter(0.5)).toBeGreaterThan(2 * START_MS - 10);
    expect(lateAfter(0.5)).toBeLessThan(2 * START_MS + 10);
    expect(lateAfter(1)).toBe(MOST_START_MS);
  });

  it('ends with the hello', () => {
    const late = vi.fn();
    const stop = watchStart(() => 0, late);
    vi.advanceTimersByTime(START_MS - 1);
    stop();
    vi.advanceTimersByTime(MOST_START_MS);
    expect(late).not.toHaveBeenCalled();
  });

  it('is read from the system where it tells', () => {
    expect(waitedForCore(null)).toBe(0);
    expect(waitedForCore(2 ** 30)).toBe(0);
    expect(waitedForCore(process.pid)).toBeGreaterThanOrEqual(0);
  });
});
