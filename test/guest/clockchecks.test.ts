import { describe, expect, it } from 'vitest';
import type { LimitOptions } from '../../src/sandbox/limits.ts';
import { cpuMs } from '../cost.ts';
import { SLOW } from '../groups.ts';
import { drive } from './driver.ts';

// Work that takes long for its fuel must let the clocks be looked at on its way. How long it takes depends on the machine; how often
// the clocks are looked at does not.

interface Seen {
  readonly fuel: number;
  readonly looks: number;
}

/** Runs a program to its end. */
function seen(sources: string | readonly string[], limits: LimitOptions = {}): Seen {
  let looks = 0;
  const { fuel, error } = drive(sources, {
    pure: true,
    limits: { fuel: 1e9, ...limits },
    clock: () => {
      looks++;
      return 0;
    },
  });
  expect(error).toBeNull();
  return { fuel, looks };
}

const command = (...lines: readonly string[]): string => `command\n${lines.join('\n')}\nendcommand\n`;

/** A loop of so many passes over some lines. */
const times = (passes: number, ...lines: readonly string[]): string[] => [
  'set n = 0',
  `while n < ${passes}`,
  ...lines,
  'set n = n + 1',
  'endwhile',
];

/** What is seen of some passes alone. */
function ofPasses(passes: number, before: readonly string[], ...lines: readonly string[]): Seen {
  const whole = seen(command(...before, ...times(passes, ...lines)));
  const start = seen(command(...before));
  return { fuel: whole.fuel - start.fuel, looks: whole.looks - start.looks };
}

/** Texts of 200,000 units that differ in their last one. */
const ALIKE = ['set x = "x" * 200000', 'set a = x + "a"', 'set b = x + "b"', 'set same = x + "a"'];

/** 200 keys of which V8 tells none from another without looking at all of it: it has no hash for texts so long. */
const LONG_KEYS = [
  'set x = "x" * 17000',
  'set m = {}',
  'set l = []',
  'set i = 100',
  'while i < 300',
  'set m[x + i] = i',
  'set l[len(l)] = x + i',
  'set i = i + 1',
  'endwhile',
  'set key = x + "999"',
];

describe('the clocks are looked at while work takes longer than its fuel says', () => {
  it.each<[what: string, least: number, before: readonly string[], line: string, passes: number]>([
    ['indexing texts that are alike', 20, ALIKE, 'set q = a[0] + b[0] + same[0]', 2000],
    ['asking whether texts that are alike are numbers', 6, ALIKE, 'set q = [a == 1, same == 1]', 2000],
    ['a key among keys that collide: reading', 20, LONG_KEYS, 'set q = m[key]', 200],
    ['a key among keys that collide: a tool', 40, LONG_KEYS, 'set q = [tool.map.Has(m, key), tool.map.Get(m, key)]', 200],
    ['keys that a tool tells apart: texts of a list', 10, LONG_KEYS, 'set q = tool.list.Unique(l)', 1],
    ['keys that a tool tells apart: left out', 30, LONG_KEYS, 'set q = tool.map.Omit(m, l)', 1],
    ['keys that a tool tells apart: taken', 30, LONG_KEYS, 'set q = tool.map.Pick(m, l)', 1],
    ['marks of a shape', 20, ['set s = {}', 'set s["a" + "?" * 100000] = "any"'], 'set q = tool.shape.Problems({}, s)', 100],
    ['braces that are no fields', 60, ['set x = "{" * 1000000'], 'set q = eval(x)', 1],
    ['white space around a text', 10, ['set x = char(8195) * 1000000'], 'set q = tool.str.TrimSpace(x)', 1],
    ['what controls a terminal', 30, ['set x = (char(27) + "[1m") * 100000'], 'set q = tool.str.StripAnsi(x)', 1],
    ['lines', 30, ['set x = char(10) * 1000000'], 'set q = tool.str.LineCount(x)', 1],
    [
      'a sort of numbers',
      12,
      ['set l = tool.list.Range(0, 200000)', 'set l = tool.list.Reverse(l + l)'],
      'set q = tool.math.Median(l)',
      1,
    ],
    ['a list of numbers', 8, ['set l = tool.list.Range(0, 900000)'], 'set q = tool.math.Sum(l)', 1],
    ['escapes', 25, ['set x = "\\"" + "\\\\n" * 200000 + "\\""'], 'set q = tool.json.IsValid(x)', 1],
    ['what is escaped', 30, ['set x = "." * 1000000'], 'set q = tool.regex.Escape(x)', 1],
    ['marks above letters', 15, ['set x = ("a" + char(769) * 60) * 10000'], 'set q = tool.str.Normalize(x)', 1],
    ['groups that nobody has', 25, ['set p = "()" * 300', 'set r = "$x" * 20000'], 'set q = tool.regex.Replace(p, "", r)', 1],
    [
      'a beginning that nearly occurs',
      4,
      ['set p = "a" * 4000 + "b" + "a" * 4000', 'set t = "a" * 200000'],
      'set q = tool.regex.Match(p, t)',
      1,
    ],
    ['matches that end a search', 50, ['set t = "a" * 300'], 'set q = tool.regex.Match("^a{300}", t)', 1000],
  ])('%s', (_what, least, before, line, passes) => {
    expect(ofPasses(passes, before, line).looks).toBeGreaterThanOrEqual(least);
  });

  it('a call whose frame has thousands of variables', () => {
    const variables = Array.from({ length: 5000 }, (_, index) => `set v${index} = 1`);
    const wide = ['func wide() means', 'if false', ...variables, 'endif', 'endfunc\n'].join('\n');
    const once = seen([wide, command('call wide()')]).looks;
    expect(seen([wide, command(...times(200, 'call wide()'))]).looks - once).toBeGreaterThanOrEqual(5);
  });

  it('compiling', () => {
    const lines = Array.from({ length: 3000 }, () => 'set x = 1 + 2 * 3 - 4');
    expect(seen(command('if false', ...lines, 'endif')).looks).toBeGreaterThanOrEqual(5);
  });
});

/** CPU time of a run, in milliseconds: enough to tell time that grows with a size from time that grows with its square. */
function took(source: string, limits: LimitOptions = {}): number {
  return cpuMs(() => seen(source, limits));
}

describe('time in line with the size', () => {
  it('of a value whose depth is worked out: what occurs many times is looked at once', SLOW, () => {
    const limits = { valueDepth: 100 };
    // A depth only ever grows until it matters, whatever was overwritten: here it is one of four levels in the end.
    const inflated = [
      'set a = []',
      'set b = []',
      ...times(49, 'set a[0] = b', 'set a[0] = nil', 'set b[0] = a', 'set b[0] = nil'),
    ];
    const inner = ['set inner = tool.list.Range(0, 25000)', 'set o = []', ...times(5000, 'set o[n] = inner'), 'set b[0] = o'];
    // To look at each of 125,000,000 items took two seconds.
    expect(took(command(...inflated, ...inner, ...times(20, 'set b = [b]')), limits)).toBeLessThan(1000);
  });

  it('of a number with millions of underscores, for which a pattern has no room', () => {
    const { values } = drive(
      command('emit tool.str.ToNumber("0.1" + "_1" * 8000000)', 'emit tool.str.ToNumber("0x1" + "_0" * 100000 + "p-400000")'),
      {
        pure: true,
        limits: { fuel: 1e9 },
      },
    );
    expect(values).toEqual([1 / 9, 1]);
  });

  it('of a path of a field with millions of steps, which is none', () => {
    const { values } = drive(command('emit len(eval("{{a" + ".a" * 1000000 + "}}"))'), { pure: true, limits: { fuel: 1e9 } });
    expect(values).toEqual([2_000_005]);
  });
});
