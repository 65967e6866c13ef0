import { describe, expect, it } from 'vitest';
import type { ForeseenValue } from '../../grammar/index.ts';
import { Bound } from '../../src/tools/index.ts';
import { fits } from '../../src/wire/foreseen.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';

const row = (args: readonly ForeseenValue[] | null, most: number | null, name = 'tool.a') => ({ name, args, most });

describe('issue 22.3: a bound', () => {
  it('admits calls in any order as long as there is a way to count them', () => {
    const rows = [row([{ value: 1 }], 1), row([{ types: ['number'] }], 1), row([{ oneOf: [1, 2] }], 1)];
    // The first call is counted for the first row, and has to make room twice.
    for (const order of [
      [1, 1, 1],
      [1, 2, 3],
      [2, 3, 1],
      [3, 2, 1],
      [1, 3, 2],
    ]) {
      const bound = new Bound(rows);
      expect(order.map((value) => bound.admit('tool.a', [value]))).toEqual([null, null, null]);
      expect(bound.admit('tool.a', [1])).toContain('more often than was foreseen');
    }
    const bound = new Bound(rows);
    expect([bound.admit('tool.a', [3]), bound.admit('tool.a', [4])]).toEqual([null, expect.any(String)]);
  });

  it('refuses another tool, other arguments and another number of them, and says what was foreseen', () => {
    const bound = new Bound([row([{ value: '/x' }, { prefix: 'a', types: ['string'] }], 2), row(null, null, 'ask')]);
    expect(bound.admit('tool.b', [])).toBe(
      'this call of tool.b was not foreseen, and the run is bound to a preview. Foreseen: no call of it',
    );
    const said =
      'this call of tool.a was not foreseen, and the run is bound to a preview. Foreseen: ("/x", text that begins with "a") at most 2 times';
    for (const args of [['/x'], ['/y', 'a'], ['/x', 'b'], ['/x', 'a', null]]) expect(bound.admit('tool.a', args)).toBe(said);
    expect(bound.admit('tool.a', ['/x', 'abc'])).toBeNull();
    for (let count = 0; count < 50; count++) expect(bound.admit('ask', [count])).toBeNull();
  });
});

describe('issue 22.3: a value fits what was foreseen', () => {
  it.each<[ForeseenValue, TaggedJson, boolean]>([
    [{}, { $handle: 'x' }, true],
    [{ value: 0 }, { $num: '-0' }, false],
    [{ value: { $num: '-0' } }, { $num: '-0' }, true],
    [{ value: { $num: '-0' } }, 0, false],
    [{ types: ['number'], least: 1, most: 3 }, 3, true],
    [{ types: ['number'], least: 1, most: 3 }, 4, false],
    [{ types: ['number'], least: 1 }, { $num: 'NaN' }, false],
    [{ types: ['number'], least: 1 }, { $num: 'Infinity' }, true],
    [{ types: ['other'] }, { $bytes: 'AA==' }, true],
    [{ types: ['map'] }, { $bytes: 'AA==' }, false],
    [{ types: ['map'] }, {}, true],
    [{ types: ['list'], items: [{ value: 1 }] }, [1], true],
    [{ types: ['list'], items: [{ value: 1 }] }, [1, 1], false],
    [{ types: ['list'], each: { types: ['string'] } }, ['a', 1], false],
    [
      {
        entries: [
          ['k', { value: 1 }],
          ['$$n', {}],
        ],
      },
      { $$n: 2, k: 1 },
      true,
    ],
    [
      {
        entries: [
          ['10', { value: 1 }],
          ['2', {}],
        ],
      },
      { $10: 1, $2: 2 },
      true,
    ],
    [{ entries: [['k', { value: 1 }]] }, { k: 1, j: 1 }, false],
    [{ entries: [] }, [], false],
  ])('%j and %j: %j', (known, value, expected) => {
    expect(fits(known, value)).toBe(expected);
  });
});
