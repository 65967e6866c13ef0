// @module-tag slow
import { describe, expect, it } from 'vitest';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { called } from '../pure/call.ts';

/** Milliseconds of CPU that a bounded call may take here: generous, because machines are busy; what is unbounded takes hours. */
const BOUND_MS = 10_000;

function timed(tool: string, args: readonly TaggedJson[], fuel = 3_000_000) {
  const start = process.cpuUsage();
  const result = called(tool, args, { fuel });
  const { user, system } = process.cpuUsage(start);
  expect((user + system) / 1000).toBeLessThan(BOUND_MS);
  return result;
}

/** Patterns that take exponential or quadratic time in an engine that goes back. */
const REDOS: readonly (readonly [string, string])[] = [
  ['(a+)+$', `${'a'.repeat(20_000)}!`],
  ['(a|a)*$', `${'a'.repeat(20_000)}!`],
  ['(a|aa)+$', `${'a'.repeat(20_000)}!`],
  ['^(a?){200}a{200}$', 'a'.repeat(200)],
  ['(.*)*x', 'a'.repeat(20_000)],
  ['(.*a){20}', 'a'.repeat(3_000)],
  [
    '([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$',
    'a'.repeat(5_000),
  ],
  ['^(\\w+\\s?)*$', `${'word '.repeat(4_000)}!`],
  ['(x+x+)+y', 'x'.repeat(20_000)],
  ['(?:(?:a*)*)*b', 'a'.repeat(20_000)],
  ['\\s+$', `${' '.repeat(20_000)}x`],
];

describe('patterns that hang other engines', () => {
  it.each(REDOS)('%s', (pattern, text) => {
    const { error, values } = timed('tool.regex.Match', [pattern, text]);
    expect([error, typeof values[0]]).toEqual([null, 'boolean']);
  });

  it('cost fuel in proportion to the text, and end when there is none left', () => {
    const fuel = (units: number) => called('tool.regex.Match', ['(a+)+$', `${'a'.repeat(units)}!`]).fuel;
    expect(fuel(20_000) / fuel(10_000)).toBeLessThan(2.1);
    const { error } = timed('tool.regex.FindAll', ['(.*a){100}', 'a'.repeat(100_000)], 1_000_000);
    expect([error?.code, error?.limit]).toEqual(['ERR_QUOTA', 'fuel']);
  });

  it.each([
    '((a{1000}){1000}){1000}',
    '(?:(?:(?:){1000}){1000}){1000}',
    `${'('.repeat(5000)}${')'.repeat(5000)}`,
    `(?i)[${'a-z'.repeat(3000)}]`,
    `[${'\\pL'.repeat(3000)}]`,
    `${'a|'.repeat(4999)}a`,
    '('.repeat(9999),
    'a'.repeat(20_000),
  ])('a pattern that is a bomb itself is compiled or refused at once: %#', (pattern) => {
    const { error } = timed('tool.regex.Match', [pattern, 'a'.repeat(100)]);
    expect(['NS41', undefined]).toContain(error?.code);
  });
});

describe('the clock is looked at while a tool works', () => {
  it.each([
    ['tool.regex.Match', ['(.*a){20}b', 'a'.repeat(20_000)]],
    ['tool.diff.Lines', [numbered(0, 1_500), numbered(1_500, 3_000)]],
    ['tool.list.Unique', [Array.from({ length: 1_500 }, (_, at) => [at])]],
  ] as const)('%s: many times before it is done, so that time ends it', (tool, args) => {
    const looks = (most: number): { readonly asked: number; readonly code: string | undefined } => {
      let asked = 0;
      const clock = (): number => (++asked >= most ? 1 : 0);
      const { error } = called(tool, args, {}, clock);
      return { asked, code: error?.limit };
    };
    const all = looks(Number.POSITIVE_INFINITY);
    expect([all.code, all.asked > 20]).toEqual([undefined, true]);
    expect(looks(10)).toEqual({ asked: 10, code: 'cpuMs' });
  });
});

describe('bombs of other kinds end in an error that says so, never in memory or time without bound', () => {
  const quota = ['ERR_QUOTA'];
  const cases: readonly (readonly [string, string, readonly TaggedJson[], readonly string[]])[] = [
    ['JSON that nests', 'tool.json.Parse', ['['.repeat(100_000)], ['NS37']],
    ['JSON that nests and closes', 'tool.json.Parse', ['['.repeat(501) + ']'.repeat(501)], ['NS37']],
    ['JSON with a mistake behind many lines', 'tool.json.Parse', [`[${'\n'.repeat(3_000_000)}x`], ['NS41']],
    ['JSON with a mistake far into a line', 'tool.json.Parse', [`[${' '.repeat(3_000_000)}x`], ['NS41']],
    ['JSON of empty lists', 'tool.json.Parse', [`[${'[],'.repeat(900_000)}[]]`], quota],
    ['JSON of empty maps', 'tool.json.Parse', [`[${'{},'.repeat(900_000)}{}]`], quota],
    ['JSON with a number of a million digits', 'tool.json.Parse', ['1'.repeat(1_000_000)], ['NS41']],
    ['JSON with many keys', 'tool.json.Parse', [`{${Array.from({ length: 300_000 }, (_, at) => `"${at}":0`).join(',')}}`], quota],
    ['CSV of empty fields', 'tool.csv.Parse', [`${','.repeat(100_000)}\n`.repeat(40), false], quota],
    ['CSV with many names', 'tool.csv.Parse', [','.repeat(4_000_000)], quota],
    ['a text repeated', 'tool.str.Repeat', ['x', 1e18], quota],
    ['a padding', 'tool.str.PadLeft', ['x', 2 ** 52, 'ab'], quota],
    ['a replacement of nothing', 'tool.str.Replace', ['x'.repeat(100_000), '', 'y'.repeat(10_000)], quota],
    ['a long separator', 'tool.str.Join', [Array.from({ length: 50_000 }, () => 'x'), 'y'.repeat(10_000)], quota],
    ['a split into characters', 'tool.str.Split', ['x'.repeat(3_000_000), ''], quota],
    ['a range', 'tool.list.Range', [0, 1e15], quota],
    ['a range backwards', 'tool.list.Range', [0, -(2 ** 62), -1], quota],
    ['a template', 'tool.template.Render', ['{{a}}'.repeat(10_000), { a: 'x'.repeat(100_000) }], quota],
    ['JSON with long indents', 'tool.str.ToJsonString', [[[[[[1, 2, 3]]]]], true, '', 'x'.repeat(4_000_000)], quota],
    ['a replacement of groups', 'tool.regex.Replace', ['(.*)', 'x'.repeat(50_000), '$1'.repeat(10_000)], quota],
    ['a difference of everything', 'tool.diff.Lines', [numbered(0, 20_000), numbered(20_000, 40_000)], quota],
    ['a difference, unified', 'tool.diff.Unified', [numbered(0, 30_000), numbered(30_000, 60_000)], quota],
    ['unique lists', 'tool.list.Unique', [Array.from({ length: 20_000 }, (_, at) => [at])], quota],
    [
      'a sort of texts that differ at their ends',
      'tool.list.Sort',
      [Array.from({ length: 9_000 }, (_, at) => `${'x'.repeat(1_000)}${(at * 7919) % 9_000}`)],
      quota,
    ],
    [
      'a sort of what has no order',
      'tool.list.Sort',
      [Array.from({ length: 20_000 }, (_, at) => (at % 2 === 0 ? [at] : { at }))],
      ['NS7'],
    ],
    ['base64', 'tool.str.ToHex', ['é'.repeat(8_000_000)], quota],
    ['a normal form', 'tool.str.Normalize', ['\ufdfa'.repeat(2_000_000), 'NFKC'], quota],
    ['a shape that nests', 'tool.shape.Problems', [{}, nested(70)], ['NS37']],
    ['a path without end', 'tool.shape.Select', [{ a: 1 }, 'a.'.repeat(1_000_000)], ['NS15']],
  ];
  it.each(cases)('%s', (_name, tool, args, codes) => {
    const { error } = timed(tool, args);
    expect(codes).toContain(error?.code);
  });

  it('the work of a call is paid for: twice the data cost about twice the fuel', () => {
    const words = (count: number) => Array.from({ length: count }, (_, at) => `w${(at * 7919) % count}`);
    const calls: readonly (readonly [string, (size: number) => readonly TaggedJson[]])[] = [
      ['tool.str.ToUpper', (size) => ['é'.repeat(size)]],
      ['tool.csv.Parse', (size) => [`a,b\n${'"x""",y\n'.repeat(size)}`]],
      ['tool.csv.Format', (size) => [Array.from({ length: size }, () => ({ a: '"', b: 1 }))]],
      ['tool.str.Split', (size) => ['a,'.repeat(size), ',']],
      ['tool.str.Normalize', (size) => ['é'.repeat(size)]],
      ['tool.str.ToBase64', (size) => ['x'.repeat(size)]],
      ['tool.str.FromHex', (size) => ['41'.repeat(size)]],
      ['tool.list.Sort', (size) => [words(size)]],
      ['tool.list.Reverse', (size) => [words(size)]],
      ['tool.list.Contains', (size) => [words(size), 'nope']],
      ['tool.math.Sum', (size) => [words(size).map((_, at) => at)]],
      ['tool.json.Parse', (size) => [JSON.stringify(words(size))]],
      ['tool.json.Stringify', (size) => [words(size)]],
      ['tool.regex.FindAll', (size) => ['\\w+', 'ab '.repeat(size)]],
      ['tool.shape.Problems', (size) => [{ a: words(size) }, { 'a[]': 'string' }]],
      ['tool.template.Render', (size) => ['{{a}} '.repeat(size), { a: 'x' }]],
      ['tool.diff.Lines', (size) => [words(size).join('\n'), words(size).join('\n')]],
    ];
    for (const [tool, args] of calls) {
      const bare = called('tool.str.Length', ['']).fuel;
      const fuel = (size: number) => {
        const run = called(tool, args(size), { outputBytes: 200_000_000 });
        expect([tool, run.error]).toEqual([tool, null]);
        return run.fuel - bare;
      };
      const [one, two] = [fuel(4_000), fuel(8_000)];
      expect([tool, one > 100, two / one > 1.7, two / one < 2.6]).toEqual([tool, true, true, true]);
    }
  });
});

function numbered(from: number, to: number): string {
  return Array.from({ length: to - from }, (_, at) => `line ${from + at}`).join('\n');
}

function nested(levels: number): TaggedJson {
  return levels === 0 ? 'int' : { a: nested(levels - 1) };
}
