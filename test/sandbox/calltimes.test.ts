import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { CallTimes } from '../../src/sandbox/calltimes.ts';
import type { ToolGuestCall } from '../../src/wire/protocol.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const at = { fork: 'f', source: 'src', line: 1, column: 1 };
const call = (seq: number): ToolGuestCall => ({ t: 'tool', seq, name: 'tool.t.T', args: [], at });

/** Times of 100 ms, and the numbers of the calls that were late. */
function times() {
  const late: number[] = [];
  return { late, times: new CallTimes(100, ({ seq }: { readonly seq: number }) => late.push(seq)) };
}

it('issue 44, reserve, then begin: the time of a call that waits for room runs from its beginning', () => {
  const { late, times: all } = times();
  const [first, second] = [call(1), call(2)];
  all.begin([first, second], true);
  const begin = all.postpone(second);
  vi.advanceTimersByTime(90);
  all.end(first);
  expect(all.first).toBe(second);
  vi.advanceTimersByTime(500);
  begin();
  vi.advanceTimersByTime(95);
  expect(late).toEqual([]);
  vi.advanceTimersByTime(10);
  expect(late).toEqual([2]);
});

it('the call that began first is late first, whatever began after it', () => {
  const { late, times: all } = times();
  const [first, second] = [call(1), call(2)];
  all.begin([first, second], true);
  const begin = all.postpone(first);
  vi.advanceTimersByTime(60);
  begin();
  vi.advanceTimersByTime(45);
  expect(late).toEqual([2]);
  all.end(second);
  begin();
  vi.advanceTimersByTime(95);
  expect(late).toEqual([2]);
  vi.advanceTimersByTime(10);
  expect(late).toEqual([2, 1]);
});

it('a call that has ended, and one without a limit, is never late', () => {
  const { late, times: all } = times();
  const begin = all.postpone(call(1));
  begin();
  all.begin([call(2)], false);
  vi.advanceTimersByTime(1000);
  all.clear();
  all.begin([call(3)], true);
  all.end(call(3));
  all.clear();
  vi.advanceTimersByTime(1000);
  expect(late).toEqual([]);
});
