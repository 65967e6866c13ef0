import { describe, expect, it } from 'vitest';
import type { ForeseenValue } from '../../grammar/index.ts';
import type { Condition } from '../../src/tools/index.ts';
import { meetsCondition } from '../../src/tools/policy/conditions.ts';
import { fits, knownOf } from '../../src/wire/foreseen.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';

const NAN: TaggedJson = { $num: 'NaN' };
const CASES: readonly [Condition, met: readonly TaggedJson[], unmet: readonly TaggedJson[]][] = [
  ['EUR', ['EUR'], ['eur', 'EUR ', '', null, ['EUR']]],
  ['*@example.com', ['a@example.com', '@example.com'], ['a@example.com.evil.org', 'A@EXAMPLE.COM', null]],
  ['a*b*c', ['abc', 'a-b-b-c'], ['ab', 'acb', 'abcd']],
  ['a*a', ['aa', 'aba'], ['a']],
  [String.raw`2\*3`, ['2*3'], ['2x3', String.raw`2\*3`]],
  ['*', ['', 'anything'], [1, null, true]],
  [5, [5], [5.5, '5', null, NAN]],
  [0, [0, { $num: '-0' }], [1]],
  [true, [true], ['true', 1, false]],
  [null, [null], ['', 0, false, []]],
  [{ in: ['a', 1, null] }, ['a', 1, null], ['b', 2, true]],
  [{ min: 1, max: 3 }, [1, 3, 2.5], [0, 3.01, '2', null, NAN, { $num: 'Infinity' }]],
  [{ max: 3 }, [-1e9, { $num: '-Infinity' }], [4, NAN]],
  [{ maxLength: 2 }, ['', 'ab', '👩👩', [], [1, 2], { a: 1 }], ['abc', [1, 2, 3], 2, null, true]],
  [{ minLength: 1 }, ['a', [1], { $$x: 1 }], ['', [], {}, null, 1, { $bytes: 'YQ==' }]],
  [{ each: '*@example.com' }, [[], ['a@example.com']], ['a@example.com', ['a@example.com', 'b@x.org'], null, {}]],
  [
    { each: { max: 2 }, maxLength: 2 },
    [[1, 2]],
    [
      [1, 3],
      [1, 1, 1],
    ],
  ],
];

describe('a condition on an argument', () => {
  it.each(CASES)('%j', (condition, met, unmet) => {
    expect(met.map((value) => meetsCondition(condition, knownOf(value)))).toEqual(met.map(() => true));
    expect(unmet.map((value) => meetsCondition(condition, knownOf(value)))).toEqual(unmet.map(() => false));
  });

  it('has a pattern with many stars in no more time than a few texts take', () => {
    expect(meetsCondition(`${'*a'.repeat(5000)}b`, { value: 'a'.repeat(5000) })).toBe(false);
  });

  // Each describes all values of its row that it fits.
  const KNOWN: readonly ForeseenValue[] = [
    {},
    { types: ['string'] },
    { types: ['string', 'nil'] },
    { types: ['number'] },
    { types: ['list'] },
    { types: ['map', 'other'] },
    { prefix: 'a' },
    { prefix: 'a@exa' },
    { prefix: '2*' },
    { prefix: 'abc' },
    { least: 1, most: 3 },
    { least: 5 },
    { most: 0 },
    { oneOf: ['EUR', 'a'] },
    { oneOf: [1, 2] },
    { oneOf: [null, 'a@example.com'] },
    { each: { types: ['number'] } },
    { each: { prefix: 'a@example.com' } },
    { each: { oneOf: ['a@example.com', 'b@example.com'] } },
    { items: [{ types: ['string'] }, {}] },
    { entries: [['a', {}]] },
  ];
  const values = CASES.flatMap(([, met, unmet]) => [...met, ...unmet]);

  it('says before a run only what holds for every value that was foreseen', () => {
    const wrong: unknown[] = [];
    let sure = 0;
    for (const known of KNOWN)
      for (const [condition] of CASES) {
        const truth = meetsCondition(condition, known);
        if (truth === null) continue;
        sure++;
        for (const value of values)
          if (fits(known, value) && meetsCondition(condition, knownOf(value)) !== truth) wrong.push([known, condition, value]);
      }
    expect(wrong).toEqual([]);
    expect(sure).toBeGreaterThan(150);
  });
});
