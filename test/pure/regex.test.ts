import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { called, value } from './call.ts';

/** Patterns made of parts that exist in RE2. */
const atom = fc.constantFrom(
  'a',
  'b',
  'c',
  '.',
  '\\d',
  '\\w',
  '\\S',
  '[ab]',
  '[^a]',
  '[a-c0-2]',
  '^',
  '$',
  '\\b',
  '\\B',
  '(?i:A)',
  'é',
  '😀',
  '\\pL',
  '[[:alpha:]]',
  '\\.',
  '(?:)',
);
const pattern = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    atom,
    fc.tuple(tie('node'), tie('node')).map(([a, b]) => a + b),
    fc.tuple(tie('node'), tie('node')).map(([a, b]) => `(?:${a}|${b})`),
    fc
      .tuple(tie('node'), fc.constantFrom('*', '+', '?', '*?', '+?', '??', '{2}', '{1,3}', '{0,2}?', '{2,}'))
      .map(([a, n]) => `(?:${a})${n}`),
    tie('node').map((a) => `(${a})`),
    tie('node').map((a) => `(?P<n>${a})`.replace(/\(\?P<n>(?=.*\(\?P<n>)/, '(')),
  ),
})).node;
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'A', '1', ' ', '\n', 'é', '😀', '.', 'x'), maxLength: 12 });

describe('tool.regex, against re2js', () => {
  it('finds the same matches with the same groups', () => {
    fc.assert(
      fc.property(pattern, text, (source, t) => {
        fc.pre((source.match(/\?P</g) ?? []).length <= 1);
        const peer = RE2JS.compile(source);
        const matcher = peer.matcher(t);
        const all: (string | null)[][] = [];
        for (let from = 0, last = -1; from <= t.length && matcher.find(from); ) {
          const [start, end] = [matcher.start(), matcher.end()];
          const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, index) => matcher.group(index));
          if (!(start === end && start === last)) all.push(groups);
          last = end;
          from = end > from ? end : from + ((t.codePointAt(from) ?? 0) > 0xffff ? 2 : 1);
        }
        expect(value('tool.regex.Groups', source, t)).toEqual(all);
        expect(value('tool.regex.FindAll', source, t)).toEqual(all.map(([whole]) => whole));
        expect(value('tool.regex.Match', source, t)).toBe(peer.matcher(t).find());
      }),
      { numRuns: 500 },
    );
  });

  it('refuses an invalid pattern (code 41), and says why', () => {
    const refused: Record<string, RegExp> = {
      '(a': /'\(' without '\)'/,
      'a)': /'\)' without '\('/,
      '[a': /'\[' without ']'/,
      '*a': /'\*' has nothing to repeat/,
      'a**': /repeats a repetition/,
      'a{2,1}': /from less to more/,
      'a{1001}': /1000 times at most/,
      '(a)\\1': /cannot refer back/,
      'a(?=b)': /cannot look around/,
      'a(?!b)': /cannot look around/,
      '(?<=a)b': /cannot look around/,
      '(?<!a)b': /cannot look around/,
      '(?P<1>a)': /not a group name/,
      '(?P<n>a)(?P<n>b)': /two groups named 'n'/,
      '[z-a]': /runs backwards/,
      '\\q': /not an escape/,
      'a\\': /at the end/,
      '\\p{Nope}': /no Unicode property/,
      '[[:nope:]]': /not a class/,
      '\\x{110000}': /not a character/,
    };
    for (const [source, why] of Object.entries(refused)) {
      const { error } = called('tool.regex.Match', [source, 'a']);
      expect([source, error?.code, error?.message]).toEqual([source, 'NS41', expect.stringMatching(why)]);
    }
  });

  it('understands flags, classes, places and escapes', () => {
    const matches: readonly (readonly [string, string, boolean])[] = [
      ['(?i)straße', 'STRAßE', true],
      ['(?i)[k]', '\u212a', true],
      ['(?s)a.b', 'a\nb', true],
      ['a.b', 'a\nb', false],
      ['(?m)^b$', 'a\nb\nc', true],
      ['^b$', 'a\nb\nc', false],
      ['\\Aa\\z', 'a', true],
      ['\\Q.*\\E', 'x.*y', true],
      ['[]a]', ']', true],
      ['[a-]', '-', true],
      ['a{,2}', 'a{,2}', true],
      ['\\x{1F600}', '😀', true],
      ['^\\PL+$', '123', true],
      ['\\p{Greek}', 'α', true],
      ['[^\\d\\s]', '1 ', false],
      ['(?i:a)b', 'AB', false],
      ['(?U)a+', 'aaa', true],
      ['^(?:a|ab)c$', 'abc', true],
      ['\\073', ';', true],
    ];
    for (const [source, t, wanted] of matches) expect([source, value('tool.regex.Match', source, t)]).toEqual([source, wanted]);
    expect(value('tool.regex.FindAll', '(?U)a+', 'aaa')).toEqual(['a', 'a', 'a']);
  });

  it('replaces and splits as Go does', () => {
    expect(value('tool.regex.Replace', 'a(x*)b', '-ab-axxb-', '$' + '{1}W')).toBe('-W-xxW-');
    expect(value('tool.regex.Replace', 'a(x*)b', '-ab-axxb-', '$1W')).toBe('---');
    expect(value('tool.regex.Replace', 'a(?P<k>x*)b', '-ab-axxb-', '$k.')).toBe('-.-xx.-');
    expect(value('tool.regex.Replace', 'a', 'banana', '$$', 2)).toBe('b$n$na');
    expect(value('tool.regex.Replace', 'x*', 'abc', '-')).toBe('-a-b-c-');
    expect(value('tool.regex.Split', 'a', 'banana')).toEqual(['b', 'n', 'n', '']);
    expect(value('tool.regex.Split', 'z+', 'pizza')).toEqual(['pi', 'a']);
    expect(value('tool.regex.Split', 'a', 'banana', 2)).toEqual(['b', 'nana']);
    expect(value('tool.regex.Split', 'a', 'banana', 0)).toEqual([]);
    expect(value('tool.regex.Split', '', 'abc')).toEqual(['a', 'b', 'c']);
    expect(value('tool.regex.Split', 'x', '')).toEqual(['']);
  });
});
