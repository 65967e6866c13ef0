import { describe, expect, it } from 'vitest';
import { LIMITS, treeOf } from '../../differential/both.ts';
import { programOf } from '../../differential/cases.ts';
import { runInGuest, type Seen } from '../../differential/guest.ts';
import { SLOW } from '../../groups.ts';
import { generated } from './generated.ts';
import { interference } from './interference.ts';

/** The programs of CI. `npm run prove flow` takes a million. */
const PROGRAMS = 5000;
const PART = 500;

const parts = Array.from({ length: PROGRAMS / PART }, (_, part) => [part * PART, part === 0 ? {} : SLOW] as const);

describe('non-interference', () => {
  for (const [from, options] of parts)
    it(`what a source says decides nothing behind a sink: programs from ${from} on`, options, () => {
      const seen = { ran: 0, sunk: 0, refused: 0 };
      for (let index = from; index < from + PART; index++) {
        const made = generated(24_301, index);
        const result = interference(made, index);
        if (result === null) continue;
        seen.ran += 1;
        seen.sunk += Number(result.first.sunk.length > 0);
        seen.refused += Number(result.first.refused > 0);
        expect(result.leak, made.source).toBeNull();
      }
      expect(seen.ran).toBeGreaterThan(PART * 0.9);
      expect(seen.sunk).toBeGreaterThan(PART / 20);
      expect(seen.refused).toBeGreaterThan(PART / 100);
    });
});

describe('a run under rules about origin', () => {
  /** All that a program and its host can see, but the memory of labels. */
  function seenOf({ result: { labels: _, peakMemoryBytes: __, ...result }, calls, ...said }: Seen): object {
    const error = result.error?.limit === 'memoryBytes' ? result.error.limit : result.error;
    return { ...said, calls: calls.map(({ labels: ___, ...call }) => call), result: { ...result, error } };
  }

  for (const [count, options] of [
    [300, {}],
    [1500, SLOW],
  ] as const)
    it(`differs in nothing that a program or its host can see, fuel included: ${count} programs`, options, () => {
      for (let index = 0; index < count; index++) {
        const made = programOf(11, index);
        const tree = treeOf(made);
        if (tree === null) continue;
        const flow = { program: [], globals: [{ name: 'g', path: [], labels: ['web'] }], events: [] };
        expect(seenOf(runInGuest(tree, made, LIMITS, { flow })), made.source).toEqual(seenOf(runInGuest(tree, made, LIMITS)));
      }
    });
});
