import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RunClock } from '../../src/sandbox/clock.ts';
import type { WorkerProcess } from '../../src/sandbox/worker.ts';
import { inputOf } from './input.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A clock over a worker that has used this much CPU time, and what it tells its owner. `reading`: the worker's frames are being read. */
function clocked(texts: readonly string[] = [], wallMs = 100, reading: (() => void)[] | null = null) {
  const told: string[] = [];
  const used = { cpuMs: 0 };
  const stats = { cpuMs: () => used.cpuMs, rssBytes: () => 0, load: () => null, holdings: () => null, close: () => {} };
  // The clock reads no more of a worker than this.
  const worker = {
    dead: false,
    stats,
    reading: () => ({ cpuMs: 0, rssBytes: 0 }),
    afterArrived: (then: () => void) => void (reading === null ? setImmediate(then) : reading.push(then)),
  } as Partial<WorkerProcess> as WorkerProcess;
  const sources = texts.map((text) => ({ name: 'a', text }));
  const clock = new RunClock(
    worker,
    { ...inputOf('nothing', {}, { wallMs }), sources },
    {
      onStarted: () => told.push('started'),
      onWatch: () => told.push('watch'),
      onLate: ({ message }) => told.push(message),
    },
  );
  clock.begin();
  return { clock, told, used };
}

describe('the clock of a run', () => {
  it('counts the characters of all sources, because the parser needs time for each', () => {
    expect(clocked(['abc', 'de']).clock.sourceChars).toBe(5);
  });

  it('knows the CPU time of a program from its start, and null before', () => {
    const { clock, used } = clocked();
    used.cpuMs = 7;
    expect(clock.usedCpuMs).toBeNull();
    clock.announce();
    vi.advanceTimersByTime(0);
    used.cpuMs = 19;
    expect(clock.usedCpuMs).toBe(12);
    clock.stop();
  });

  it('tells its owner nothing more once it has stopped, and leaves no timer', () => {
    const { clock, told } = clocked();
    clock.announce();
    clock.stop();
    vi.advanceTimersByTime(10_000);
    expect(told).toEqual(['started']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends a run whose worker has kept silent for five seconds, not before, however large its wall limit', () => {
    const { clock, told } = clocked([], 60_000);
    vi.advanceTimersByTime(4_990);
    expect(told).toEqual(['watch']);
    vi.advanceTimersByTime(30);
    expect(told).toEqual(['watch', 'parsing took longer than 5000 ms']);
    clock.stop();
  });

  it('18: ends no run while a frame is read that came in time', () => {
    const reading: (() => void)[] = [];
    const { clock, told } = clocked([], 100, reading);
    clock.announce();
    vi.advanceTimersByTime(200);
    expect(told).toEqual(['started', 'watch']);
    clock.stop();
    for (const then of reading) then();
    expect(reading).toHaveLength(1);
    expect(told).toEqual(['started', 'watch']);
  });

  it('ends no run for silence whose start was read after the deadline: the host was busy', () => {
    const { clock, told } = clocked();
    const begun = performance.now();
    while (performance.now() - begun < 5000) vi.advanceTimersToNextTimer();
    clock.announce();
    vi.advanceTimersByTime(50);
    expect(told.filter((text) => text !== 'watch')).toEqual(['started']);
    vi.advanceTimersByTime(100);
    expect(told.at(-1)).toMatch(/^the program ran for 1\d\d ms, 100 ms are allowed$/);
    clock.stop();
  });
});
