// @module-tag slow
import { afterEach, expect, it, vi } from 'vitest';
import { BusyPoll, QUICK_CALLS } from '../../src/sandbox/busypoll.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A script that has called so many times at once after an answer. */
function quick(cores: number, calls: number): BusyPoll {
  const poll = new BusyPoll(cores);
  poll.onCall();
  for (let call = 0; call < calls; call++) {
    poll.onAnswer();
    poll.onCall();
  }
  return poll;
}

/** Whether the event loop is kept awake after an answer, with so many milliseconds between the one before and the last of so many calls. */
function watches(cores: number, gapMs: number, calls = QUICK_CALLS): boolean {
  vi.useFakeTimers({ toFake: ['performance', 'setImmediate'] });
  const poll = quick(cores, calls - 1);
  poll.onAnswer();
  vi.advanceTimersByTime(gapMs);
  poll.onCall();
  const before = vi.getTimerCount();
  poll.onAnswer();
  const watching = vi.getTimerCount() > before;
  vi.advanceTimersByTime(1);
  vi.runAllTimers();
  poll.onEnd();
  return watching;
}

it('watches for the next call of a script whose last ones came at once, and of no other', () => {
  expect(watches(2, 0)).toBe(true);
  expect(watches(2, 0, QUICK_CALLS - 1)).toBe(false);
  expect(watches(2, 5, QUICK_CALLS + 1)).toBe(false);
});

it('counts the quick calls of a script on after a slow one', () => {
  vi.useFakeTimers({ toFake: ['performance', 'setImmediate'] });
  const poll = quick(2, QUICK_CALLS - 1);
  for (const gapMs of [5, 0]) {
    poll.onAnswer();
    expect(vi.getTimerCount()).toBe(0);
    vi.advanceTimersByTime(gapMs);
    poll.onCall();
  }
  poll.onAnswer();
  expect(vi.getTimerCount()).toBe(1);
  vi.runAllTimers();
  poll.onEnd();
});

it('does not take the only core from the script it waits for', () => {
  expect(watches(1, 0)).toBe(false);
});

it('takes no core from other scripts that compute, and counts none that waits or is over', () => {
  const others = [new BusyPoll(), new BusyPoll()];
  for (const other of others) other.onStart();
  expect(watches(3, 0)).toBe(false);
  expect(watches(4, 0)).toBe(true);
  others[0]?.onCall();
  expect(watches(3, 0)).toBe(true);
  others[0]?.onAnswer();
  expect(watches(3, 0)).toBe(false);
  for (const other of others) {
    other.onEnd();
    other.onEnd();
  }
  expect(watches(2, 0)).toBe(true);
});

it('ends soon when nothing comes', () => {
  vi.useFakeTimers({ toFake: ['performance', 'setImmediate'] });
  const poll = quick(2, QUICK_CALLS);
  poll.onAnswer();
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(1);
  vi.runAllTimers();
  expect(vi.getTimerCount()).toBe(0);
  poll.onEnd();
});
