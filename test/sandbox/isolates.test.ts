import { describe, expect, it } from 'vitest';
import { Isolates, KEPT_IDLE_MS, MAX_ISOLATE_RUNS, MAX_KEPT } from '../../src/sandbox/isolates.ts';
import { defaultLimits } from '../../src/wire/limits.ts';

const LIMITS = defaultLimits('run');

describe('the isolates that a worker keeps, as its host counts them', () => {
  it('one owner has the same isolate again, two owners never have one, and no owner is one of its own', () => {
    const isolates = new Isolates();
    const numbers = ['a', 'b', null, 'a', 'b', null].map((owner) => isolates.refer(owner, LIMITS, 0));
    expect(numbers).toEqual([
      ...[1, 2, 3].map((number) => ({ number, known: false })),
      ...[1, 2, 3].map((number) => ({ number, known: true })),
    ]);
    expect(isolates.takeDiscarded()).toEqual([]);
    expect(['a', 'b', null, 'c'].map((owner) => isolates.has(owner))).toEqual([true, true, true, false]);
  });

  it(`an isolate serves ${MAX_ISOLATE_RUNS} runs, and is discarded then`, () => {
    const isolates = new Isolates();
    const used = Array.from({ length: MAX_ISOLATE_RUNS + 1 }, () => isolates.refer('a', LIMITS, 0).number);
    expect(new Set(used.slice(0, -1))).toEqual(new Set([1]));
    expect([used.at(-1), isolates.takeDiscarded(), isolates.takeDiscarded()]).toEqual([2, [1], []]);
  });

  it('a changed limit ends it, unless it is one that a budget shrinks with every run', () => {
    const isolates = new Isolates();
    isolates.refer('a', LIMITS, 0);
    const shrunk = { ...LIMITS, fuel: 5, cpuMs: 5, toolCalls: 5 };
    expect(isolates.refer('a', shrunk, 0)).toEqual({ number: 1, known: true });
    expect(isolates.refer('a', { ...LIMITS, memoryBytes: LIMITS.memoryBytes * 2 }, 0)).toEqual({ number: 2, known: false });
    expect(isolates.refer('a', { ...LIMITS, wallMs: LIMITS.wallMs - 1 }, 0)).toEqual({ number: 3, known: false });
    expect(isolates.takeDiscarded()).toEqual([1, 2]);
  });

  it('limits that the caller changes later are not those of the isolate', () => {
    const isolates = new Isolates();
    const limits: { -readonly [Key in keyof typeof LIMITS]: number } = { ...LIMITS };
    isolates.refer('a', limits, 0);
    limits.memoryBytes *= 2;
    expect(isolates.refer('a', limits, 0).known).toBe(false);
  });

  it(`a worker keeps ${MAX_KEPT}, and gives up the least recently used one for another`, () => {
    const isolates = new Isolates();
    for (let owner = 0; owner < MAX_KEPT; owner++) isolates.refer(String(owner), LIMITS, 0);
    isolates.refer('0', LIMITS, 0);
    isolates.refer('new', LIMITS, 0);
    expect([isolates.takeDiscarded(), isolates.has('0'), isolates.has('1')]).toEqual([[2], true, false]);
  });

  it('one without a run for half a minute is given up, at the next run of anybody or at rest', () => {
    const isolates = new Isolates();
    isolates.refer('a', LIMITS, 0);
    isolates.refer('b', LIMITS, KEPT_IDLE_MS - 1);
    expect(isolates.takeDiscarded()).toEqual([]);
    isolates.refer('b', LIMITS, KEPT_IDLE_MS);
    expect(isolates.takeDiscarded()).toEqual([1]);
    isolates.expire(2 * KEPT_IDLE_MS);
    expect(isolates.takeDiscarded()).toEqual([2]);
  });
});
