import { describe, expect, it } from 'vitest';
import { program } from '../../conformance/language/generate/programs.ts';
import { actual, difference, expected, LIMITS, treeOf } from './both.ts';
import { programOf } from './cases.ts';
import { compare, tally } from './compare.ts';
import { shrink } from './shrink.ts';

/** Programs that this test compares; `npm run differential` takes any number. */
const PROGRAMS = 600;

describe('the product and the definitional interpreter of the conformance suite', () => {
  it('agree in output, errors with their places, and fuel', { timeout: 300_000 }, () => {
    const result = tally();
    for (let index = 0; index < PROGRAMS; index++) compare(20_261_123, index, result);
    expect(result.disagreements.map(({ what, program: { source } }) => `${what}\n${source}`)).toEqual([]);
    expect(result.refused).toBe(0);
    for (const end of ['ok', 'NS7', 'NS8', 'NS2', 'ERR_QUOTA']) expect(result.ends.get(end) ?? 0).toBeGreaterThan(0);
  });

  it('agree on programs that they disagreed on once', () => {
    const result = tally();
    // Long JSON, depth of a comparison, of arguments that run together, lists far too long, names of frames, places of keys.
    for (const index of [6875, 18_308, 75_315, 66_784, 277_056, 444_608]) compare(23, index, result);
    // A value that grows beyond a limit of memory, the argument of `eval`.
    for (const index of [311_660, 338_204]) compare(77, index, result);
    // `last` in a `return` of a handler, which holds nothing.
    for (const index of [604_224, 706_207]) compare(2317, index, result);
    compare(6, 8973, result);
    // Levels of a result and of a printed value, blanks in fields of `eval`, the length of a list whose items fail.
    for (const index of [197, 713, 3469, 1833, 4673]) compare(4, index, result);
    // A literal and a new key longer than a text may be; a text too long of a value too deep.
    for (const index of [1413, 57_521, 127_257]) compare(2318, index, result);
    // An element that is written a second time, after a later step of its first write failed.
    compare(2724, 11_359, result);
    expect(result.disagreements.map(({ what, program: { source } }) => `${what}\n${source}`)).toEqual([]);
    expect(result.programs).toBe(20);
  });

  it('makes the same program from the same seed, and another one from another seed', () => {
    expect(program(7)).toEqual(program(7));
    expect(program(7).source).not.toBe(program(8).source);
  });

  it('reports a difference in each point that it compares', () => {
    const source = "command\nemit 'a'\nwhisper 'b', 1\nset x = [1][2]\nendcommand\n";
    const one = { ...program(1), source, call: null, events: [] };
    const file = treeOf(one);
    if (file === null) throw new Error('the program parses');
    const wanted = expected(file, one, LIMITS);
    const got = actual(file, one, LIMITS);
    expect(difference(wanted, got)).toBeUndefined();
    const error = { code: 'NS8', line: 4, column: 13 };
    for (const changed of [{ emits: [] }, { values: [] }, { whispers: [] }, { result: '1' }, { fuel: 1 }, { error }])
      expect(difference(wanted, { ...got, ...changed })).toContain(Object.keys(changed)[0]);
    const looking = { ...wanted, isExact: false };
    expect(difference(looking, { ...got, fuel: 1 })).toContain('fuel');
    expect(difference({ ...looking, isFollowed: false }, { ...got, fuel: 1 })).toBeUndefined();
  });

  it('has programs that compare long texts for a known price, and leave arguments out', () => {
    const rare = Array.from({ length: 40 }, (_, index) => programOf(1, 29 + 32 * index));
    const ends = rare.map((one) => {
      const tree = treeOf(one);
      return tree === null ? null : expected(tree, one, LIMITS);
    });
    expect(ends.filter((end) => end?.isExact === false && end.isFollowed).length).toBeGreaterThan(20);
    const [first] = rare;
    expect(first?.source).toMatch(/^func f\(needs a, b, c optional ti2, er2 returns r\) means\n/);
    expect(first?.source).toMatch(/^call f\([^,]+,[^,]+,[^,]+,[^,]+\)$/m);
    expect(Object.keys(first?.constants ?? {})).toContain('er2');
  });

  it('shortens a failing program to what matters', () => {
    const source = "command\nset a = 1\nif a\nemit [1, 2, 'x' + 3]\nendif\nset b = {1: a}\nendcommand\n";
    expect(shrink(source, (text) => text.includes("'x'"))).toBe("command\nemit 'x'\nendcommand");
  });
});
