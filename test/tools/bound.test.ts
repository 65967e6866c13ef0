import { describe, expect, it } from 'vitest';
import type { ForeseenValue } from '../../grammar/index.ts';
import { Bound, callsOutside, type Grant, type GrantedCall, widerThan, withNamed } from '../../src/tools/index.ts';
import { fits } from '../../src/wire/foreseen.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';

const row = (rest: Omit<GrantedCall, 'number' | 'tool'>, tool = 'tool.t.a') => ({ tool, ...rest });
const boundTo = (...calls: readonly Omit<GrantedCall, 'number'>[]): Bound =>
  new Bound({ calls: calls.map((call, index) => ({ number: index + 1, ...call })) });
const call = (name: string, ...args: readonly TaggedJson[]) => ({
  tool: { canonicalName: name, parameters: [{ name: 'path' }, { name: 'text' }] },
  args,
});
const A = (...args: readonly TaggedJson[]) => call('tool.t.a', ...args);

describe('issue 22.3: a bound', () => {
  it('admits calls in any order as long as there is a way to count them', () => {
    const rows = [
      row({ when: { path: 1 }, times: 1 }),
      row({ when: { path: { type: 'number' } }, times: 1 }),
      row({ when: { path: { in: [1, 2] } }, times: 1 }),
    ];
    // The first call is counted for the first row, and has to make room twice.
    for (const order of [
      [1, 1, 1],
      [1, 2, 3],
      [2, 3, 1],
      [3, 2, 1],
      [1, 3, 2],
    ]) {
      const bound = boundTo(...rows);
      expect(order.map((value) => bound.admit(A(value)))).toEqual([null, null, null]);
      expect(bound.admit(A(1))?.reason).toContain('was made as often as it may be');
    }
    const bound = boundTo(...rows);
    expect([bound.admit(A(3)), bound.admit(A(4))]).toEqual([null, expect.anything()]);
  });

  it('issue 47: refuses another tool, other arguments and another number of them, and says which and what would be allowed', () => {
    const bound = boundTo(row({ when: { path: '/x', text: 'a*' }, times: 2 }), row({}, 'ask'));
    expect(bound.admit(call('tool.t.b'))).toEqual({
      rule: 'grant',
      entry: null,
      reason: 'outside of the grant: it has no call of tool.t.b',
      instead: 'allowed: calls of tool.t.a; ask',
    });
    expect(bound.admit(A('/y', 'a'))).toEqual({
      rule: 'grant',
      entry: null,
      reason: "outside of the grant: no call of tool.t.a in it has this argument 'path'",
      instead: 'allowed: path "/x", text "a*", at most 2 times',
    });
    expect(bound.admit(A('/x'))?.reason).toContain("this argument 'text'");
    expect(boundTo(row({ when: { pth: '/x' } })).admit(A('/x'))?.reason).toBe(
      "outside of the grant: it names 'pth', no argument of tool.t.a",
    );
    expect([bound.admit(A('/x', 'abc')), bound.admit(A('/x', 'a'))]).toEqual([null, null]);
    expect(bound.admit(A('/x', 'abc'))?.reason).toBe(
      'outside of the grant: call 1 of it, tool.t.a, was made as often as it may be',
    );
    for (let count = 0; count < 50; count++) expect(bound.admit(call('ask', count))).toBeNull();
  });

  it('issue 47: lets an argument be only what another call returned, or an item of it', () => {
    const bound = boundTo(
      row({ when: { path: '/tmp' } }, 'tool.t.list'),
      row({ returned: { path: { call: 1, part: 'item' } } }),
      row({ returned: { path: { call: 1 } } }, 'tool.t.all'),
    );
    expect(bound.admit(A('a'))?.reason).toContain("this argument 'path'");
    expect(bound.admit(call('tool.t.list', '/tmp'))).toBeNull();
    bound.answered(call('tool.t.list', '/tmp'), ['a', { k: 1, j: 2 }]);
    expect(bound.admit(A('b'))?.instead).toBe('allowed: path an item of what call 1 returned, any number of times');
    expect([A('a'), A({ j: 2, k: 1 }), call('tool.t.all', ['a', { j: 2, k: 1 }])].map((made) => bound.admit(made))).toEqual([
      null,
      null,
      null,
    ]);
    expect(bound.admit(call('tool.t.all', 'a'))).not.toBeNull();
    // What another call of the tool returned does not count.
    bound.answered(call('tool.t.list', '/etc'), ['c']);
    expect(bound.admit(A('c'))).not.toBeNull();
  });
});

describe('issue 47: a grant that is narrower than another', () => {
  const grantOf = (...calls: readonly Omit<GrantedCall, 'number'>[]): Grant => ({
    version: 1,
    programs: [],
    calls: calls.map((each, index) => ({ number: index + 1, ...each })),
  });
  const list = row({ when: { path: '/tmp' } }, 'tool.t.list');

  it('has nil where the other has nil, and is within itself', () => {
    const nil = grantOf(row({ when: { path: null, text: { items: [null] } }, times: 1 }));
    expect(widerThan(nil, nil)).toBeNull();
    expect(widerThan(grantOf(row({ when: { text: { items: [null] } }, times: 1 })), nil)).toContain('call 1 of tool.t.a');
    expect(widerThan(grantOf(row({ when: { path: null, text: { items: [1] } }, times: 1 })), nil)).not.toBeNull();
    // All conditions of an argument count, in whichever letter case they name it.
    expect(widerThan(grantOf(row({ when: { path: '/x' } })), grantOf(row({ when: { path: '/y', PATH: '/x' } })))).not.toBeNull();
  });

  it('names the same answers, whatever their numbers are', () => {
    const own = grantOf(list, row({ returned: { path: { call: 1 } } }));
    const other = grantOf(row({}, 'tool.t.other'), list, row({ returned: { path: { call: 2 } } }));
    expect(callsOutside(own, other)).toEqual([]);
    const misread = grantOf(row({}, 'tool.t.other'), list, row({ returned: { path: { call: 1 } } }));
    expect(callsOutside(own, misread).map(({ number }) => number)).toEqual([2]);
  });

  it('a part of a grant keeps the calls that it names, without allowing them again', () => {
    const grant = grantOf(list, row({ returned: { path: { call: 1 } } }), row({}, 'tool.t.b'));
    const part = withNamed(grant, grant.calls.slice(1, 2));
    expect(part.calls.map(({ number, times }) => [number, times])).toEqual([
      [2, undefined],
      [1, 0],
    ]);
    const bound = new Bound(grantOf(list));
    bound.widen(part);
    const listing = call('tool.t.list', '/tmp');
    expect(bound.admit(listing)).toBeNull();
    bound.answered(listing, 'a');
    expect([bound.admit(A('b')) === null, bound.admit(A('a')) === null]).toEqual([false, true]);
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
