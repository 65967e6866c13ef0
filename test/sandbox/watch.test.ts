import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Allowance } from '../../src/sandbox/allowance.ts';
import type { Holdings, Load } from '../../src/sandbox/processstats.ts';
import { Watchdog, type WatchedRun } from '../../src/sandbox/watchdog.ts';
import type { WorkerProcess } from '../../src/sandbox/worker.ts';
import { WorkerWatch } from '../../src/sandbox/workerwatch.ts';
import type { ErrorInfo } from '../../src/wire/errors.ts';
import { defaultLimits } from '../../src/wire/limits.ts';

const MB = 1024 * 1024;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A worker at rest. */
const REST: Holdings = {
  ...{ rssBytes: 100 * MB, pageTableBytes: MB, threads: 7, cpuMs: 50, mainCpuMs: 50 },
  ...{ children: 0, descriptors: 20 },
};

describe('the watchdog of runs', () => {
  /** A run with these readings, and how the watchdog ends it. */
  function watched(
    run: Partial<WatchedRun> & { readonly rss?: number; readonly cpu?: number | null; readonly load?: Partial<Load> },
  ) {
    const ends: ErrorInfo[] = [];
    const violations: string[] = [];
    const { rss = 0, cpu = 0, load, ...more } = run;
    const loaded = (): Load | null => (load === undefined ? null : { ...REST, ...load });
    const watchedRun: WatchedRun = {
      stats: { rssBytes: () => rss, cpuMs: () => cpu, load: loaded, holdings: () => null, close: () => {} },
      allowance: new Allowance(REST),
      baseRss: 0,
      limits: { ...defaultLimits('run'), memoryBytes: 4 * MB, cpuMs: 1000 },
      sourceChars: 0,
      probeBytes: 0,
      startCpuMs: () => 0,
      calls: () => 0,
      nestedCpuMs: () => 0,
      end: (error) => ends.push(error),
      violate: (what) => violations.push(what),
      ...more,
    };
    return { run: watchedRun, ends, violations };
  }
  /** What ends a run after some looks of the watchdog. */
  function endsOf(run: Parameters<typeof watched>[0]): readonly ErrorInfo[] {
    const dog = new Watchdog();
    const one = watched(run);
    dog.add(one.run);
    vi.advanceTimersByTime(100);
    dog.remove(one.run);
    expect(vi.getTimerCount()).toBe(0);
    return one.ends;
  }

  it('allows a quarter more memory than the limit, and 64 MB for V8', () => {
    expect(endsOf({ rss: 69 * MB })).toEqual([]);
    expect(endsOf({ rss: 69 * MB + 1 })).toMatchObject([{ limit: 'memoryBytes', allowed: 4 * MB, used: 69 * MB + 1 }]);
    expect(endsOf({ rss: 79 * MB, baseRss: 10 * MB })).toEqual([]);
    expect(endsOf({ rss: 79 * MB + 1, baseRss: 10 * MB })).toMatchObject([{ used: 69 * MB + 1 }]);
  });

  it('allows 64 bytes for each character of source', () => {
    expect(endsOf({ rss: 69 * MB + 640, sourceChars: 10 })).toEqual([]);
    expect(endsOf({ rss: 69 * MB + 641, sourceChars: 10 })).toHaveLength(1);
  });

  it('allows a quarter more CPU time than the limit, 100 ms, and 2 ms a call', () => {
    expect(endsOf({ cpu: 1350 })).toEqual([]);
    expect(endsOf({ cpu: 1351 })).toMatchObject([{ limit: 'cpuMs', allowed: 1000, used: 1351 }]);
    expect(endsOf({ cpu: 1370, calls: () => 10 })).toEqual([]);
    expect(endsOf({ cpu: 1371, calls: () => 10 })).toHaveLength(1);
    expect(endsOf({ cpu: 1400, startCpuMs: () => 50 })).toEqual([]);
    expect(endsOf({ cpu: 1401, startCpuMs: () => 50 })).toMatchObject([{ used: 1351 }]);
  });

  it('takes off what nested loops used, down to nothing', () => {
    expect(endsOf({ cpu: 600, nestedCpuMs: () => 600 })).toEqual([]);
    expect(endsOf({ cpu: 601, nestedCpuMs: () => 600 })).toMatchObject([{ used: 1201 }]);
    expect(endsOf({ cpu: 100, nestedCpuMs: () => 5000 })).toEqual([]);
    expect(endsOf({ cpu: 101, nestedCpuMs: () => 5000 })).toHaveLength(1);
  });

  it('does not limit CPU time that is unknown', () => {
    expect(endsOf({ cpu: 1e9, startCpuMs: () => null })).toEqual([]);
    expect(endsOf({ cpu: null })).toEqual([]);
  });

  it.each<[string, Partial<Load>, Partial<Load>, string]>([
    ['page tables', { pageTableBytes: 22.25 * MB }, { pageTableBytes: 23 * MB }, `it has ${23 * MB} bytes of page tables`],
    ['threads', { threads: 48 }, { threads: 49 }, 'it has 49 threads'],
    ['CPU time of other threads', { cpuMs: 650 }, { cpuMs: 660 }, 'its other threads computed for 610 ms'],
  ])('finding 4, finding 5: ends a worker with too much of: %s; one just below goes on', (_what, most, more, violation) => {
    const dog = new Watchdog();
    const [bad, good] = [watched({ load: more }), watched({ load: most })];
    dog.add(bad.run);
    dog.add(good.run);
    vi.advanceTimersByTime(20);
    expect([bad.violations, good.violations]).toEqual([[violation], []]);
    vi.advanceTimersByTime(100);
    expect([bad.violations, bad.ends, good.violations, good.ends]).toEqual([[violation], [], [], []]);
    dog.remove(good.run);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('goes on with the other runs after it has ended one, and ends each once', () => {
    const dog = new Watchdog();
    const [bad, good] = [watched({ cpu: 5000 }), watched({})];
    dog.add(bad.run);
    dog.add(good.run);
    vi.advanceTimersByTime(100);
    expect([bad.ends.length, good.ends.length, vi.getTimerCount()]).toEqual([1, 0, 1]);
    dog.remove(good.run);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('the watch over workers', () => {
  interface Faked {
    readonly worker: WorkerProcess;
    /** Changes what the system says of the worker; null when it says nothing. */
    now(holdings: Partial<Holdings> | null): void;
  }
  function fake(more: Partial<WorkerProcess> = {}): Faked {
    let held: Holdings | null = REST;
    const stats = { holdings: () => held, load: () => held, rssBytes: () => null, cpuMs: () => null, close: () => {} };
    return {
      // The watch reads no more of a worker than this.
      worker: { dead: false, runs: 1, allowance: new Allowance(REST), session: null, stats, ...more } as WorkerProcess,
      now: (holdings) => {
        held = holdings === null ? null : { ...REST, ...holdings };
      },
    };
  }
  /** What the watch reports of a worker after each of these readings. */
  function reported(idle: boolean, faked: Faked, ...readings: readonly (Partial<Holdings> | null)[]): readonly string[] {
    const moved: string[] = [];
    const watch = new WorkerWatch([faked.worker], idle ? [faked.worker] : [], (_, what) => moved.push(what));
    watch.start();
    watch.start();
    expect(vi.getTimerCount()).toBe(1);
    for (const reading of readings) {
      faked.now(reading);
      vi.advanceTimersByTime(1000);
    }
    watch.stop();
    expect(vi.getTimerCount()).toBe(0);
    return moved;
  }

  it('reports children and more than eight new descriptors, of idle workers and of others', () => {
    for (const idle of [true, false]) {
      expect(reported(idle, fake(), {}, { descriptors: 28 })).toEqual([]);
      expect(reported(idle, fake(), { descriptors: 29 })).toEqual(['it opened 9 descriptors']);
      expect(reported(idle, fake(), { children: 1 })).toEqual(['it started 1 processes']);
    }
  });

  it('finding 4, finding 5: reports page tables and threads, of idle workers and of others', () => {
    for (const idle of [true, false]) {
      expect(reported(idle, fake(), {}, { pageTableBytes: 22.25 * MB, threads: 48 })).toEqual([]);
      expect(reported(idle, fake(), { pageTableBytes: 23 * MB })).toEqual([`it has ${23 * MB} bytes of page tables`]);
      // Resident memory needs tables of its own.
      expect(reported(idle, fake(), { rssBytes: 800 * MB, pageTableBytes: 66 * MB })).toEqual([]);
      expect(reported(idle, fake(), { threads: 49 })).toEqual(['it has 49 threads']);
    }
  });

  it('finding 5: sums up the CPU time of other threads, beyond twice that of the main thread, over all looks', () => {
    const helpers = (...readings: readonly (readonly [main: number, others: number])[]): readonly string[] =>
      reported(false, fake(), ...readings.map(([main, others]) => ({ mainCpuMs: 50 + main, cpuMs: 50 + main + others })));
    expect(helpers([1000, 2600], [2000, 4600])).toEqual([]);
    expect(helpers([1000, 2610])).toEqual(['its other threads computed for 610 ms']);
    expect(helpers([0, 300], [0, 600], [0, 900])).toEqual(['its other threads computed for 900 ms']);
    // What they did not take is no credit.
    expect(helpers([10_000, 0], [10_000, 610])).toEqual(['its other threads computed for 610 ms']);
    // They may collect more memory for longer.
    expect(reported(false, fake(), { rssBytes: 300 * MB, cpuMs: 850 })).toEqual([]);
    expect(reported(false, fake(), { rssBytes: 300 * MB, cpuMs: 860 })).toEqual(['its other threads computed for 810 ms']);
  });

  it('reports growth and work of an idle worker alone', () => {
    expect(reported(true, fake(), {}, { rssBytes: 164 * MB, cpuMs: 550 })).toEqual([]);
    expect(reported(true, fake(), {}, { rssBytes: 164 * MB + 1 })).toEqual([`it grew by ${64 * MB + 1} bytes without a task`]);
    expect(reported(true, fake(), {}, { cpuMs: 560 })).toEqual(['it computed for 510 ms without a task']);
    expect(reported(false, fake(), {}, { rssBytes: 900 * MB, cpuMs: 9999, mainCpuMs: 9999 })).toEqual([]);
  });

  it('begins to measure when it first sees the worker at rest', () => {
    expect(reported(true, fake(), { rssBytes: 900 * MB, cpuMs: 9999, mainCpuMs: 9999 })).toEqual([]);
  });

  it('takes memory that the worker gave back as no longer its own', () => {
    expect(reported(true, fake(), {}, { rssBytes: 50 * MB }, { rssBytes: 115 * MB })).toHaveLength(1);
  });

  it('measures anew after the next run', () => {
    const faked = fake();
    const moved: string[] = [];
    const watch = new WorkerWatch([faked.worker], [faked.worker], (_, what) => moved.push(what));
    watch.start();
    vi.advanceTimersByTime(1000);
    Object.assign(faked.worker, { runs: 2 });
    faked.now({ rssBytes: 900 * MB, cpuMs: 9999, mainCpuMs: 9999 });
    vi.advanceTimersByTime(1000);
    expect(moved).toEqual([]);
    faked.now({ rssBytes: 900 * MB, cpuMs: 99_999, mainCpuMs: 99_999 });
    vi.advanceTimersByTime(1000);
    expect(moved).toHaveLength(1);
    watch.stop();
  });

  it('has nothing to say of a worker that is dead, or of which the system says nothing', () => {
    expect(reported(true, fake({ dead: true }), { children: 3 })).toEqual([]);
    expect(reported(true, fake(), null, null)).toEqual([]);
    const untold = { allowance: new Allowance({ ...REST, descriptors: null }) };
    expect(reported(true, fake(untold), { descriptors: 900 }, { descriptors: null, children: null })).toEqual([]);
    expect(reported(true, fake({ allowance: null }), { descriptors: 900 })).toEqual([]);
    expect(reported(true, fake({ stats: null }), { children: 3 })).toEqual([]);
  });
});
