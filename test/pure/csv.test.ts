import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { called, value } from './call.ts';

const parse = (...args: readonly TaggedJson[]) => value('tool.csv.Parse', ...args);
const format = (...args: readonly TaggedJson[]) => value('tool.csv.Format', ...args);

describe('issue 50: tool.csv', () => {
  it('reads quotes, line ends of both kinds, blank lines, a mark of the byte order, and other separators', () => {
    expect(parse('\ufeffid,note\r\n1,"a, ""b""\r\nc"\r\n\r\n2,\r\n')).toEqual([
      { id: '1', note: 'a, "b"\r\nc' },
      { id: '2', note: '' },
    ]);
    expect(parse('007;1,5\n', false, ';')).toEqual([['007', '1,5']]);
    expect(parse('a\tb', false, '\t')).toEqual([['a', 'b']]);
    expect(parse('a\rb\n', false)).toEqual([['a\rb']]);
    expect(parse('')).toEqual([]);
    expect(parse('a,b\n')).toEqual([]);
    expect(parse('""\n', false)).toEqual([['']]);
  });

  it.each<readonly [string, readonly TaggedJson[], string]>([
    ['a row that is too short', ['a,b\n1,"x\ny"\n3\n'], 'line 4: expected 2 fields as in the first row, got 1'],
    ['a row that is too long', ['a\n1,2\n'], 'line 2: expected 1 field as in the first row, got 2'],
    ['a name that occurs twice', ['a,b,a\n'], 'line 1: two columns have the name "a"'],
    ['a quote within a field', ['a\n\nx"y\n'], 'line 3: a quote in a field that does not begin with one'],
    ['what follows a closing quote', ['a\n"x\n"y\n'], 'line 3: expected "," or the end of the line after a closing quote'],
    ['a quote that is never closed', ['a\n1\n"x\n\n'], 'line 3: the quote that begins a field is never closed'],
  ])('names the line of %s', (_what, args, message) => {
    const { error } = called('tool.csv.Parse', args);
    expect([error?.code, error?.message]).toEqual(['NS41', expect.stringContaining(`the text is not CSV: ${message}`)]);
  });

  it('writes what needs quotes in quotes, columns in their order, and nil as an empty field', () => {
    const rows = [{ b: 'x, y', a: 1 }, { b: null }, { a: true, b: 'say "hi"\n' }];
    expect(format(rows)).toBe('b,a\n"x, y",1\n,\n"say ""hi""\n",true\n');
    expect(format(rows, ['a', 'b'])).toBe('a,b\n1,"x, y"\n,\ntrue,"say ""hi""\n"\n');
    expect(format([['a;b', 1.5], []], null, ';')).toBe('"a;b";1.5\n\n');
    expect(format([['']])).toBe('""\n');
    expect(format([])).toBe('');
    expect(format([], ['a', 'b'])).toBe('a,b\n');
  });

  it.each<readonly [readonly TaggedJson[], string]>([
    [[[{ a: 1 }, { a: 2, c: 3 }]], 'row 2: "c" is not a column'],
    [[[{ a: 1 }, [2]], null], 'row 2: expected a map as in the first row, got list'],
    [[[['a'], { a: 1 }]], 'row 2: expected a list as in the first row, got map'],
    [[[{ a: [1] }]], 'row 1: a field cannot be list'],
    [[[], ['a', 'a']], 'the columns: two columns have the name "a"'],
    [[[], null, '""'], 'separator must be one character, and no quote or line end'],
  ])('refuses to write %j', (args, message) => {
    const { error } = called('tool.csv.Format', args);
    expect([error?.code, error?.message]).toEqual(['NS41', message]);
  });

  it('reads what it has written, whatever the fields are', () => {
    const field = fc.string({ unit: fc.constantFrom('a', ',', ';', '"', '\n', '\r', ' ', 'é', '😀'), maxLength: 6 });
    const name = fc.uniqueArray(field, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(
        name.chain((names) =>
          fc.tuple(
            fc.constant(names),
            fc.array(fc.array(field, { minLength: names.length, maxLength: names.length }), { minLength: 1, maxLength: 5 }),
          ),
        ),
        fc.constantFrom(',', ';'),
        ([names, rows], separator) => {
          const maps = rows.map((row) => Object.fromEntries(names.map((each, index) => [each, row[index] ?? ''])));
          expect(parse(String(format(maps, names, separator)), true, separator)).toEqual(maps);
          expect(parse(String(format(rows, null, separator)), false, separator)).toEqual(rows);
        },
      ),
      { numRuns: 150 },
    );
  });
});
