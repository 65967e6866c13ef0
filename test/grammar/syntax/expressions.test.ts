import { describe, expect, it } from 'vitest';
import { bare, command, expression, places, problems, shape, statements } from '../help.ts';

describe('operators (language.md 4.1)', () => {
  it.each([
    ['1 + 2 * 3 - 4 / 2', '(1 + (2 * 3) - (4 / 2))'],
    ['2 ** 3 ** 2', '(2 ** (3 ** 2))'],
    ['-2 ** 2', '(- (2 ** 2))'],
    ['2 ** (-1)', '(2 ** (- 1))'],
    ['a ** b * c ** d', '((a ** b) * (c ** d))'],
    ['5 & 3 | 8 ^ 1', '((5 & 3) | (8 ^ 1))'],
    ['5 & 3 == 1', '(5 & (3 == 1))'],
    ['1 | 2 == 2', '(1 | (2 == 2))'],
    ['1 < 2 < 3', '(1 < 2 < 3)'],
    ['a == b < c', '(a == (b < c))'],
    ['a < b == c >= d', '((a < b) == (c >= d))'],
    ['not 1 == 2', '((not 1) == 2)'],
    ['not not no 0', '(not (not (no 0)))'],
    ['- - 3', '(- (- 3))'],
    ['-~-x', '(- (~ (- x)))'],
    ['typeof 1 + 2', '((typeof 1) + 2)'],
    ['typeof(x)', '(typeof x)'],
    ['some a and no b or c', '(((some a) and (no b)) or c)'],
    ['a or b and c or d', '(a or (b and c) or d)'],
    ['a ^ b ^ c & d', '(a ^ b ^ (c & d))'],
    ['a - b - c + d % e % f', '(a - b - c + (d % e % f))'],
    ['1 * 2 + 3 < 4 & 5 ^ 6 | 7 and 8 or 9', '((((((((1 * 2) + 3) < 4) & 5) ^ 6) | 7) and 8) or 9)'],
    ['9 or 8 and 7 | 6 ^ 5 & 4 == 3 < 2 + 1 * 0', '(9 or (8 and (7 | (6 ^ (5 & (4 == (3 < (2 + (1 * 0)))))))))'],
    ['-l[0]', '(- l[0])'],
    ['-m.a ** -1 + 1'.replace('-1', '(1)'), '((- (m.a ** 1)) + 1)'],
    ['1 != 2 <= 3', '(1 != (2 <= 3))'],
  ])('4.1: %s', (text, expected) => {
    expect(shape(expression(text))).toBe(expected);
  });

  it.each(['2 ** -1', '2 ** not x', '2 ** ~1'])('4.1: the right side of ** takes no prefix operator: %s', (text) => {
    expect(problems(command(`emit ${text}`))).toMatchObject([{ at: '2:11', hint: expect.stringContaining('2 ** (') }]);
  });
});

describe('primaries and accessors (language.md 2, P10)', () => {
  it('P10: dotted reads and indexes make one chain', () => {
    expect(bare(expression("m.a['b'].c[0]"))).toEqual({
      k: 'access',
      base: { k: 'name', name: 'm' },
      steps: [
        { k: 'field', name: 'a' },
        { k: 'index', index: { k: 'str', v: 'b' } },
        { k: 'field', name: 'c' },
        { k: 'index', index: { k: 'num', v: 0 } },
      ],
    });
    expect(shape(expression('m . a . b'))).toBe('m.a.b');
  });

  it('2: calls, parentheses, lists and strings can be indexed', () => {
    expect(shape(expression('f()[0].a'))).toBe('f()[0].a');
    expect(shape(expression('(a + b)[0]'))).toBe('(a + b)[0]');
    expect(shape(expression('[1,2,3][1]'))).toBe('[1 2 3][1]');
    expect(shape(expression("'abc'[0]"))).toBe('"abc"[0]');
    expect(shape(expression('{k:1}.k'))).toBe('{k:1}.k');
    expect(shape(expression('tool.a.b().c[1]'))).toBe('tool.a.b().c[1]');
  });

  it('9.1: tool names are lower-cased, blanks in them free, leading tool. collapsed', () => {
    expect(bare(expression("tool . Str . Length ('a')"))).toEqual({
      k: 'tool',
      name: 'tool.str.length',
      written: 'tool.Str.Length',
      args: [{ k: 'str', v: 'a' }],
    });
    expect(expression('tool.tool.Tool.a.B()')).toMatchObject({ name: 'tool.a.b', written: 'tool.tool.Tool.a.B' });
    expect(expression('tool.fs.tool.x()')).toMatchObject({ name: 'tool.fs.tool.x' });
  });

  it('7: built-in names that are keywords are calls, in any letter case', () => {
    expect(bare(expression('len(x)'))).toEqual({ k: 'call', name: { name: 'len' }, args: [{ k: 'name', name: 'x' }] });
    for (const name of ['ln', 'log', 'sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'LEN', 'TypeOf', 'is_nil']) {
      expect(shape(expression(`${name}(1)`))).toBe(`${name}(1)`);
    }
    expect(problems(command('emit len'))).toHaveLength(1);
  });

  it('2: map keys are any expression; eval, last, literals', () => {
    expect(shape(expression("{a: 1, 'x' + k: [true, false, nil], 1: last}"))).toBe('{a:1 ("x" + k):[true false nil] 1:last}');
    expect(shape(expression('{}'))).toBe('{}');
    expect(shape(expression('[]'))).toBe('[]');
    expect(shape(expression('eval(1 + 1)'))).toBe('eval((1 + 1))');
    expect(problems(command('emit eval(1, 2)'))).toHaveLength(1);
    expect(problems(command('emit eval()'))).toHaveLength(1);
  });

  it('2: emit(1) is a parenthesised expression', () => {
    expect(bare(statements('emit(1)'))).toEqual([{ k: 'emit', value: { k: 'group', of: { k: 'num', v: 1 } } }]);
  });

  it('2: a tool or procedure without parentheses is not a call', () => {
    expect(places(command('emit tool.a.b'))).toEqual(['2:14']);
    expect(places(command('call f'))).toEqual(['2:7']);
    expect(places(command('call f()[0]'))).toEqual(['2:9']);
    expect(places(command('call x + 1'))).toHaveLength(1);
  });
});
