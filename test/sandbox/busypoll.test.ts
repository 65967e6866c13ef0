import { afterEach, expect, it, vi } from 'vitest';
import { Vigil } from '../../src/sandbox/busypoll.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Whether the event loop is kept awake after the second answer, with so many milliseconds between the first one and the next call. */
function watches(cores: number, gapMs: number): boolean {
  vi.useFakeTimers({ toFake: ['performance', 'setImmediate'] });
  const vigil = new Vigil(cores);
  vigil.end();
  vigil.begin();
  vi.advanceTimersByTime(gapMs);
  vigil.end();
  const before = vi.getTimerCount();
  vigil.begin();
  const watching = vi.getTimerCount() > before;
  vi.advanceTimersByTime(1);
  vi.runAllTimers();
  vigil.stop();
  return watching;
}

it('watches for the next call of a script whose last one came at once, and of no other', () => {
  expect(watches(2, 0)).toBe(true);
  expect(watches(2, 5)).toBe(false);
});

it('does not take the only core from the script it waits for', () => {
  expect(watches(1, 0)).toBe(false);
});

it('takes no core from other scripts that compute, and counts none that waits or is over', () => {
  const others = [new Vigil(), new Vigil()];
  for (const other of others) other.start();
  expect(watches(3, 0)).toBe(false);
  expect(watches(4, 0)).toBe(true);
  others[0]?.end();
  expect(watches(3, 0)).toBe(true);
  others[0]?.begin();
  expect(watches(3, 0)).toBe(false);
  for (const other of others) {
    other.stop();
    other.stop();
  }
  expect(watches(2, 0)).toBe(true);
});

it('ends soon when nothing comes', () => {
  vi.useFakeTimers({ toFake: ['performance', 'setImmediate'] });
  const vigil = new Vigil(2);
  vigil.begin();
  vigil.end();
  vigil.begin();
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(1);
  vi.runAllTimers();
  expect(vi.getTimerCount()).toBe(0);
  vigil.stop();
});
