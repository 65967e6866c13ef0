import { describe, expect, it } from 'vitest';
import { GLOBALS } from '../../../conformance/language/generate/expressions.ts';
import type { Program } from '../../../conformance/language/generate/programs.ts';
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

describe('what procedures say', () => {
  const says = 'func says(needs a) means\nemit a\nwhisper self, a\nreturn a\nendfunc\n';
  const end = 'emit 3\nreturn 4\nendfunc';

  it.each([
    ['on the right of `and`', 'set y = tool.a.Get(5) and says(7)'],
    ['on the right of `or`', 'set y = 0 or tool.a.Get(5) or says(7)'],
    ['in the condition of a loop', 'set n = 0\nwhile says(n) < tool.a.Get(7)\nset n = n + 1\nif n > 3\nbreak\nendif\nendwhile'],
    ['in a loop', 'for each c in tool.a.Get(8)\ncall says(1)\nendfor'],
    ['in a branch', 'if tool.a.Get(8)\ncall says(1)\nendif'],
  ])('carries the same labels whatever a source says: %s', (_where, body) => {
    const source = `${says}func main() means\n${body}\n${end}`;
    const made: Program = { source, answers: [], constants: {}, call: 'main', globals: GLOBALS, stdin: [], events: [] };
    for (let seed = 0; seed < 60; seed++) expect(interference(made, seed)?.leak ?? null).toBeNull();
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
