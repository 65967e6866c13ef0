import { describe, expect, it } from 'vitest';
import { type SoakRow, soakFailures, soakTrends } from '../../bench/soak.ts';
import { summarize } from '../../bench/stats.ts';

const MB = 1024 * 1024;
const rows = (more: (index: number) => Partial<SoakRow>): SoakRow[] =>
  Array.from({ length: 20 }, (_, index) => ({
    until: (index + 1) * 10,
    runs: 100,
    wrong: 0,
    honestMs: summarize([2]),
    rawMs: summarize([4]),
    hostRssBytes: 100 * MB,
    handles: 30,
    ...more(index),
  }));

describe('the verdict of a soak', () => {
  it('lays a line through all but the first quarter: growth while warming up is none', () => {
    const warming = rows((index) => ({ hostRssBytes: (index < 5 ? 10 * index : 200) * MB }));
    expect(soakFailures(warming)).toEqual([]);
    const [memory] = soakTrends(rows((index) => ({ hostRssBytes: (100 + index) * MB })));
    // One MB in ten seconds.
    expect(memory).toMatchObject({ what: 'host RSS', unit: 'MB', flat: true });
    expect(memory?.from).toBeCloseTo(105);
    expect(memory?.to).toBeCloseTo(119);
    expect(memory?.perHour).toBeCloseTo(360);
  });

  it.each([
    ['memory that grows', rows((index) => ({ hostRssBytes: 100 * MB + index * 6 * MB })), 'host RSS did not stay flat'],
    ['handles that stay', rows((index) => ({ handles: 30 + 2 * index })), 'handles did not stay flat'],
    [
      'turns that slow down',
      rows((index) => ({ honestMs: summarize([2 + index * 0.2]) })),
      'honest p50 by raw did not stay flat',
    ],
    ['runs that end wrongly', rows((index) => ({ wrong: index === 3 ? 2 : 0 })), '2 runs did not end as they should'],
  ])('%s are named', (_name, soaked, failure) => {
    expect(soakFailures(soaked)).toEqual([expect.stringContaining(failure)]);
  });

  it('issue 21, 3: a machine that slows down slows the raw isolate, too, and is no failure', () => {
    const busier = rows((index) => ({ honestMs: summarize([2 + index]), rawMs: summarize([4 + 2 * index]) }));
    expect(soakFailures(busier)).toEqual([]);
  });

  it('is not given on latency when the soak was a quick one', () => {
    const slower = rows((index) => ({ honestMs: summarize([2 + index * 0.2]), handles: 30 + 2 * index }));
    expect(soakFailures(slower, true)).toEqual([expect.stringContaining('handles did not stay flat')]);
  });
});
