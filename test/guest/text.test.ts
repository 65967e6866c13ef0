import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTime } from '../../src/guest/codec.ts';
import { numberText, quote } from '../../src/guest/text.ts';
import { parseNumber } from '../../src/wire/numbers.ts';
import { cpuMs } from '../cost.ts';
import { SLOW } from '../groups.ts';
import { drive } from './driver.ts';
import { TEST_TOOLS } from './tools.ts';

describe('numbers as text (language.md 3.4)', () => {
  it.each([
    [1, '1'],
    [2.5, '2.5'],
    [1e21, '1000000000000000000000'],
    [1e-7, '0.0000001'],
    [1 / 3, '0.3333333333333333'],
    [Number('123456789012345678'), '123456789012345680'],
    [1.5e-10, '0.00000000015'],
    [-1.25e22, '-12500000000000000000000'],
    [-0, '-0'],
    [Number.POSITIVE_INFINITY, '+Inf'],
    [Number.NEGATIVE_INFINITY, '-Inf'],
    [Number.NaN, 'NaN'],
    [5e-324, `0.${'0'.repeat(323)}5`],
  ])('%d is %s', (value, text) => {
    expect(numberText(value)).toBe(text);
  });

  it('never has an exponent and reads back as the same number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const text = numberText(value);
        expect(text).toMatch(/^-?\d+(\.\d*[1-9])?$/);
        expect(Object.is(Number(text), value)).toBe(true);
      }),
    );
  });
});

describe('text as a number (language.md 4.3)', () => {
  it.each([
    ['1', 1],
    [' 5 ', 5],
    ['\u00a05\u0085', 5],
    ['+1.50', 1.5],
    ['.5', 0.5],
    ['5.', 5],
    ['1e3', 1000],
    ['1_0', 10],
    ['1_000.2_5e1_0', 1000.25e10],
    ['inf', Number.POSITIVE_INFINITY],
    ['-Infinity', Number.NEGATIVE_INFINITY],
    ['NaN', Number.NaN],
    ['0x1p4', 16],
    ['-0X1.8p1', -3],
    ['0x.8p0', 0.5],
    ['0x1p-1074', 5e-324],
    ['1e-400', 0],
  ])('%j is %d', (text, value) => {
    expect(parseNumber(text)).toBe(value);
  });

  it.each([
    [
      '',
      ' ',
      'x',
      '1x',
      '0x10',
      '0xp1',
      '1__0',
      '_1',
      '1_',
      '1e',
      '1e400',
      '-1e400',
      '0x1p2000',
      '+nan',
      '1 2',
      '.',
      '--1',
      '\ufeff1',
    ],
  ])('others are not', (...texts) => {
    expect(texts.map((text) => parseNumber(text))).toEqual(texts.map(() => undefined));
  });

  it('hexadecimals round by all of their digits, however many there are', () => {
    const zeros = '0'.repeat(1000);
    expect(parseNumber(`0x1.00000000000008${zeros}p0`)).toBe(1);
    expect(parseNumber(`0x1.00000000000008${zeros}1p0`)).toBe(1 + 2 ** -52);
    expect(parseNumber(`0x1${zeros}p-4000`)).toBe(1);
    expect(parseNumber(`0x${zeros}1p0`)).toBe(1);
  });

  it('takes linear time for white space inside of a text', SLOW, () => {
    expect(cpuMs(() => expect(parseNumber(`1${' '.repeat(1_000_000)}x`)).toBeUndefined())).toBeLessThan(500);
  });
});

describe('quoting inside of lists and maps (language.md 3.5)', () => {
  it.each([
    ['abc', '"abc"'],
    ['a"b\\c', '"a\\"b\\\\c"'],
    ['\x07\b\f\n\r\t\v', '"\\a\\b\\f\\n\\r\\t\\v"'],
    ['\x00\x7f', '"\\x00\\x7f"'],
    ['é 😀 中', '"é 😀 中"'],
    ['\u0085\u200b\u00a0', '"\\u0085\\u200b\\u00a0"'],
    ['\u{e0001}', '"\\U000e0001"'],
    ['\ud800', '"\\ufffd"'],
  ])('%j is %s', (text, quoted) => {
    expect(quote(text)).toBe(quoted);
  });

  it('cuts no character of a long text in two', () => {
    const text = '\n😀'.repeat(10_000);
    const driven = drive('func main(needs t) means\nemit [t]\nendfunc\n', { call: 'main', args: [text] });
    expect(driven.emits).toEqual([`["${'\\n😀'.repeat(10_000)}"]`]);
  });
});

describe('times', () => {
  it.each([
    '2025-10-15T08:00:00Z',
    '0001-01-01T00:00:00Z',
    '1969-12-31T23:59:59.999Z',
    '2024-02-29T12:00:00+05:30',
    '9999-12-31T23:59:59-01:00',
  ])('%s is the instant that JavaScript says', (text) => {
    const time = parseTime(text);
    expect((time?.seconds ?? 0) * 1000 + (time?.nanos ?? 0) / 1e6).toBe(Date.parse(text));
  });

  it('compare as instants, with nanoseconds, and with nothing else', () => {
    const compared = (expression: string): readonly string[] =>
      drive(
        `func main(needs a, b) means\non error do\nemit system_error.code\nclear_error\nendon\nemit ${expression}\nendfunc\n`,
        {
          call: 'main',
          args: [{ $time: '2025-10-15T08:00:00.000000001Z' }, { $time: '2025-10-15T10:00:00+02:00' }],
        },
      ).emits;
    expect(['a > b', 'a == b', 'a >= a', 'a < 5', "'x' < a", 'a + 1'].flatMap(compared)).toEqual([
      'true',
      'false',
      'true',
      '7',
      '7',
      '7',
    ]);
    expect(compared("'' + a")).toEqual(['2025-10-15T08:00:00.000000001Z']);
  });
});

describe('values only tools make', () => {
  const values = {
    bytes: { $bytes: 'AAEC' },
    none: { $bytes: '' },
    time: { $time: '2025-10-15T08:00:00Z' },
    zero: { $time: '0001-01-01T00:00:00Z' },
    half: { $fuzzy: 0.5 },
    more: { $fuzzy: 0.6 },
    fault: { $error: { code: 5, message: 'broken' } },
    silent: { $error: {} },
    handle: { $handle: { kind: 'file', id: 'x' } },
  };
  const each = (expression: string): readonly string[] => {
    const lines = Object.keys(values).map((name) => `emit ${expression.replaceAll('v', name)}`);
    return drive(`command\n${lines.join('\n')}\nendcommand\n`, { globals: values, tools: TEST_TOOLS }).emits;
  };

  it('as text (language.md 3.5)', () => {
    expect(each('v')).toEqual([
      'bytes(3)',
      'bytes(0)',
      '2025-10-15T08:00:00Z',
      '0001-01-01T00:00:00Z',
      '0.5',
      '0.6',
      'error: broken',
      'error: (unspecified)',
      '<handle file>',
    ]);
  });

  it('as conditions (language.md 3.2)', () => {
    expect(each('some v')).toEqual(['true', 'false', 'true', 'false', 'false', 'true', 'false', 'false', 'true']);
  });

  it('by type', () => {
    expect(each('typeof v')).toEqual(['bytes', 'bytes', 'timedate', 'timedate', 'fuzzy', 'fuzzy', 'error', 'error', 'handle']);
  });

  it('not of a fuzzy is a fuzzy, no of it a boolean; it counts as a number', () => {
    const source = 'command\nemit not f\nemit no f\nemit f + 1\nemit f == 0.25\nemit [f] == [0.25]\nemit f < 0.5\nendcommand\n';
    expect(drive(source, { globals: { f: { $fuzzy: 0.25 } } }).emits).toEqual(['0.75', 'true', '1.25', 'true', 'true', 'true']);
  });
});

describe('messages', () => {
  const message = (body: string): string => drive(`func main() means\n${body}\nendfunc\n`, { call: 'main' }).error?.message ?? '';

  it('never quote huge values', () => {
    for (const body of [
      "set s = 'x' * 100000\nset y = s - 1",
      "set s = 'x' * 100000\nset m = [1]\nemit m[s]",
      "fail 'x' * 100000",
    ])
      expect(message(body).length).toBeLessThan(9000);
    expect(message("set s = 'x' * 100000\nset y = s - 1")).toContain('string "xxxx');
  });

  it.each([
    ['emit [1] + 2', "'+' cannot be applied to list of 1 item and number 2"],
    ['emit nil - 1', "'-' cannot be applied to nil and number 1"],
    ["emit {'a': 1}[0]['b']", 'cannot read element string "b" of nil: only lists, maps and strings have elements'],
    ['emit [1][3]', 'list index 3 is out of bounds: the list has 1 item'],
    ['set a, b = 5', 'setting 2 variables at once needs a list of 2 items, got number 5'],
    ['emit nope()', "procedure 'nope' not found"],
    ['emit len(1, 2)', "'len' takes 1 argument, got 2"],
    ['emit 1 / 0', 'division by zero: number 1 / number 0'],
    ['emit ln(0)', 'ln(0) has no value: it needs a number above 0'],
  ])('%s', (body, text) => {
    expect(message(body)).toBe(text);
  });

  it.each(['1 < 2 < 3', '"a" < "b" <= "c"'])('%s says how to compare three values', (chain) => {
    expect(drive(`command\nemit ${chain}\nendcommand\n`).error?.hint).toContain("'a < b and b < c'");
  });
});

describe('texts by code points', () => {
  it('a pass of a loop over a long text by index costs one fuel for each 1,024 units of it, and less than 7 besides', () => {
    for (const text of ['abcd', 'a😀é中']) {
      const body = `set s = '${text}' * 4000\nset i = 0\nset n = len(s)\nwhile i < n\nset c = s[i]\nset i = i + 1\nendwhile`;
      const passes = 4000 * [...text].length;
      const besides = drive(`command\n${body}\nendcommand\n`).fuel - passes * Math.floor((4000 * text.length) / 1024);
      expect(besides / passes).toBeLessThan(7);
    }
  });

  it('a piece of a text that is built costs at most one fuel for each 1,024 units so far, and less than 8 besides', () => {
    for (const piece of ["'x'", "'1,'", '"\\n" + i']) {
      const passes = 40_000;
      const body = `set s = ''\nset i = 0\nwhile i < ${passes}\nset s = s + ${piece}\nset i = i + 1\nendwhile\nemit len(s)`;
      const { fuel, emits } = drive(`command\n${body}\nendcommand\n`);
      const each = Number(emits[0]) / passes;
      let known = 0;
      for (let pass = 0; pass < passes; pass++) known += Math.floor((each * pass) / 1024);
      expect((fuel - known) / passes).toBeLessThan(8);
    }
  });

  it('both directions agree with JavaScript', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 70, maxLength: 120 }),
        fc.array(fc.nat(119), { maxLength: 20 }),
        (text, indices) => {
          const points = [...text];
          const known = indices.filter((index) => index < points.length);
          const source =
            'func main(needs s, l) means\nset r = []\nfor each i in l\nset r[len(r)] = s[i]\nendfor\nreturn [len(s), r]\nendfunc\n';
          expect(drive(source, { call: 'main', args: [text, known] }).result).toEqual([
            points.length,
            known.map((index) => points[index]),
          ]);
        },
      ),
    );
  });
});
