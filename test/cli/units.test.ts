import { describe, expect, it } from 'vitest';
import { parseAge, parseQuantity } from '../../src/cli/flags/units.ts';
import { UsageError } from '../../src/cli/terminal/failure.ts';
import { amount, quantity } from '../../src/report/index.ts';
import { LIMITS, type Limit } from '../../src/wire/limits.ts';

function limit(flag: string): Limit {
  const found = LIMITS.find((row) => row.flag === flag);
  if (found === undefined) throw new Error(`no limit has the flag ${flag}`);
  return found;
}

const read = (flag: string, text: string) => parseQuantity(limit(flag), text);

describe('units of limit flags', () => {
  it.each([
    ['cpu', '100ms', 100],
    ['cpu', '2s', 2000],
    ['wall', '1m', 60_000],
    ['wall', '1.5s', 1500],
    ['memory', '65536B', 65_536],
    ['memory', '64KB', 65_536],
    ['memory', '64KiB', 65_536],
    ['memory', '32MB', 33_554_432],
    ['memory', '0.5GB', 536_870_912],
    ['memory', '1GiB', 1_073_741_824],
    ['fuel', '1e6', 1_000_000],
    ['fuel', '1.5e3', 1500],
    ['tool-calls', '0', 0],
    ['call-depth', '500', 500],
    ['max-cost', '2', 2],
    ['max-cost', '$100.00', 100],
  ])('--%s %s is %i', (flag, text, value) => expect(read(flag, text)).toBe(value));

  it.each([
    ['cpu', '100', 'needs a unit; write 100ms, 100s, 100m'],
    ['memory', '10', 'needs a unit; write 10B, 10KB, 10MB, 10GB'],
    ['memory', '64mb', "unknown unit 'mb'; write 64MB"],
    ['memory', '64ms', "unknown unit 'ms'; write a size such as"],
    ['wall', '5min', "unknown unit 'min'; write a time such as"],
    ['fuel', '5k', 'is a count and takes no unit; write 5'],
    ['fuel', '0', 'too small; the minimum is 1'],
    ['fuel', '$5', 'is not a quantity'],
    ['max-cost', '$$5', 'is not a quantity'],
    ['max-cost', '5$', 'is not a quantity'],
    ['max-cost', '$2000000', 'too large; the maximum is $1,000,000.00'],
    ['fuel', '1.5', 'not a whole number'],
    ['cpu', '0.5ms', 'not a whole number of milliseconds'],
    ['cpu', '-1ms', 'is not a quantity'],
    ['cpu', 'NaN', 'is not a quantity'],
    ['cpu', '', 'is not a quantity'],
    ['fuel', 'Infinity', 'is not a quantity'],
    ['memory', '10B', 'too small; the minimum is 64KB'],
    ['memory', '3GB', 'too large; the maximum is 2GB'],
    ['fuel', '1e400', 'not a whole number'],
    ['call-depth', '501', 'too large; the maximum is 500'],
  ])('--%s %s is refused and says what to write', (flag, text, says) => {
    expect(() => read(flag, text)).toThrow(UsageError);
    expect(() => read(flag, text)).toThrow(says);
  });

  it.each([
    ['30d', 2_592_000_000],
    ['12h', 43_200_000],
    ['90m', 5_400_000],
    ['45s', 45_000],
    ['0d', 0],
  ])('--older-than %s is %i ms', (text, value) => expect(parseAge('older-than')(text)).toBe(value));

  it.each([
    ['30', 'needs a unit; write an age such as 30d, 30h, 30m or 30s'],
    ['30w', "has the unknown unit 'w'; write an age such as 30d"],
    ['1.5d', 'is not an age; write an age such as 30d'],
    ['-1d', 'is not an age'],
    ['', 'is not an age'],
    ['d', 'is not an age'],
  ])('--older-than %s is refused and says what to write', (text, says) => {
    expect(() => parseAge('older-than')(text)).toThrow(UsageError);
    expect(() => parseAge('older-than')(text)).toThrow(says);
  });

  it('every default and bound of the table is written as its flag takes it', () => {
    for (const row of LIMITS) {
      for (const value of [row.default, row.min, row.max]) {
        expect(parseQuantity(row, quantity(row.unit, value))).toBe(value);
      }
    }
  });

  it('issue 49: a count is read as reports write it, and no other comma is', () => {
    const fuel = { flag: 'fuel', unit: 'count', min: 1, max: 1e9 } as const;
    expect(parseQuantity(fuel, '100,000,000')).toBe(100_000_000);
    for (const text of ['1,5', '10,00', ',100', '1,000.5']) expect(() => parseQuantity(fuel, text)).toThrow('is not a quantity');
  });

  it('a measured size is shown in a unit that a reader can take in', () => {
    expect([amount('bytes', 5000), amount('bytes', 50_331_918), amount('bytes', 1_048_577), amount('ms', 1501)]).toEqual([
      '5,000 B',
      '48 MB',
      '1,024 KB',
      '1,501 ms',
    ]);
  });
});
