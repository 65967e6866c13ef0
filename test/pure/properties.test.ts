import { createHash } from 'node:crypto';
import { diffLines } from 'diff';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { codePoint } from '../codepoint.ts';
import { called, value } from './call.ts';

/** Texts of all planes, with much that occurs twice. */
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b', 'ab', ' ', ',', '\n', 'é', 'ß', 'Σ', '😀', '\u00a0', 'İ'), maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);
const small = fc.string({ unit: fc.constantFrom('a', 'b', ',', 'é', '😀'), maxLength: 3 });
const RUNS = { numRuns: 150 };

describe('str, against plain JavaScript', () => {
  it('measures and cuts by code points', () => {
    fc.assert(
      fc.property(text, fc.nat(35), fc.nat(35), (t, start, length) => {
        const points = [...t];
        expect(value('tool.str.Length', t)).toBe(points.length);
        expect(value('tool.str.Substring', t, start, length)).toBe(points.slice(start, start + length).join(''));
        expect(value('tool.str.PadLeft', t, start, '-')).toBe('-'.repeat(Math.max(0, start - points.length)) + t);
      }),
      RUNS,
    );
  });

  it('finds, splits, joins and replaces', () => {
    fc.assert(
      fc.property(text, small, small, fc.integer({ min: -1, max: 4 }), (t, wanted, other, count) => {
        const parts = wanted === '' ? [...t] : t.split(wanted);
        expect(value('tool.str.Split', t, wanted)).toEqual(parts);
        expect(value('tool.str.Join', parts, other)).toBe(parts.join(other));
        expect(value('tool.str.Contains', t, wanted)).toBe(t.includes(wanted));
        expect(value('tool.str.HasPrefix', t, wanted)).toBe(t.startsWith(wanted));
        expect(value('tool.str.HasSuffix', t, wanted)).toBe(t.endsWith(wanted));
        const at = t.indexOf(wanted);
        expect(value('tool.str.IndexOf', t, wanted)).toBe(at < 0 ? -1 : [...t.slice(0, at)].length);
        const last = t.lastIndexOf(wanted);
        expect(value('tool.str.LastIndexOf', t, wanted)).toBe(last < 0 ? -1 : [...t.slice(0, last)].length);
        expect(value('tool.str.Replace', t, wanted, other, count)).toBe(replaced(t, wanted, other, count));
        expect(value('tool.str.Count', t, wanted)).toBe(wanted === '' ? [...t].length + 1 : t.split(wanted).length - 1);
      }),
      RUNS,
    );
  });

  it('finds long texts that nearly occur everywhere, as V8 does', () => {
    const wanteds = fc
      .tuple(fc.integer({ min: 8, max: 30 }), fc.constantFrom('b', 'ab', 'ba', '😀', 'baaaaaaab'), fc.nat(30))
      .map(([before, odd, after]) => 'a'.repeat(before) + odd + 'a'.repeat(after));
    const pieces = fc.array(fc.oneof(fc.integer({ min: 0, max: 400 }), fc.constantFrom('whole', 'cut', 'b', '😀')), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(wanteds, pieces, (wanted, all) => {
        const known: Readonly<Record<string, string>> = { whole: wanted, cut: [...wanted].slice(0, -1).join('') };
        const t = all.map((each) => (typeof each === 'number' ? 'a'.repeat(each) : (known[each] ?? each))).join('');
        const at = t.indexOf(wanted);
        expect(value('tool.str.IndexOf', t, wanted)).toBe(at < 0 ? -1 : [...t.slice(0, at)].length);
        const last = t.lastIndexOf(wanted);
        expect(value('tool.str.LastIndexOf', t, wanted)).toBe(last < 0 ? -1 : [...t.slice(0, last)].length);
        expect(value('tool.str.Split', t, wanted)).toEqual(t.split(wanted));
        expect(value('tool.str.Replace', t, wanted, '-', -1)).toBe(t.replaceAll(wanted, '-'));
      }),
      { numRuns: 400 },
    );
    // At one of these lengths the other way of looking begins where the text occurs.
    const once = `${'a'.repeat(20)}b`;
    for (let near = 0; near < 200; near++) expect(value('tool.str.LastIndexOf', once + 'a'.repeat(near), once)).toBe(0);
  });

  it('trims, counts lines and splits words by the white space of Unicode', () => {
    const space = /[\p{White_Space}]+/u;
    fc.assert(
      fc.property(text, (t) => {
        const words = t.split(space).filter((word) => word !== '');
        expect(value('tool.str.SplitWords', t)).toEqual(words);
        expect(value('tool.str.TrimSpace', t)).toBe(t.replace(/^\p{White_Space}+/u, '').replace(/\p{White_Space}+$/u, ''));
        const lines = t === '' ? [] : t.replace(/\n$/, '').split('\n');
        expect(value('tool.str.Lines', t)).toEqual(lines);
        expect(value('tool.str.LineCount', t)).toBe(lines.length);
      }),
      RUNS,
    );
  });

  it('changes letter case character by character: lengths in characters stay', () => {
    fc.assert(
      fc.property(text, (t) => {
        const single = (from: string, to: string) => ([...to].length === 1 ? to : from);
        expect(value('tool.str.ToUpper', t)).toBe([...t].map((c) => single(c, c.toUpperCase())).join(''));
        expect(value('tool.str.ToLower', t)).toBe([...t].map((c) => (c === 'İ' ? 'i' : single(c, c.toLowerCase()))).join(''));
      }),
      RUNS,
    );
    expect(value('tool.str.ToLower', 'ΑΣ')).toBe('ασ');
  });

  it('encodes as Node does, and decodes what it encodes', () => {
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ unit: codePoint, maxLength: 40 })), (t) => {
        const bytes = Buffer.from(t, 'utf8');
        expect(value('tool.str.ToBase64', t)).toBe(bytes.toString('base64'));
        expect(value('tool.str.ToHex', t)).toBe(bytes.toString('hex'));
        expect(value('tool.str.FromBase64', bytes.toString('base64'))).toBe(t);
        expect(value('tool.str.FromHex', bytes.toString('hex').toUpperCase())).toBe(t);
      }),
      RUNS,
    );
  });

  it('decodes no bytes but UTF-8 (code 41), exactly as a strict decoder', () => {
    const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 8 }), (bytes) => {
        let wanted = 'NS41';
        try {
          wanted = strict.decode(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError);
        }
        expect(value('tool.str.FromHex', Buffer.from(bytes).toString('hex'))).toBe(wanted);
        expect(value('tool.str.FromBase64', Buffer.from(bytes).toString('base64'))).toBe(wanted);
      }),
      { numRuns: 600 },
    );
    for (const bad of ['a', 'ab', 'abc', 'ab=', 'a===', 'ab==c', 'ab=c', '====', 'a b=', 'äb=='])
      expect(value('tool.str.FromBase64', bad)).toBe('NS41');
    expect(value('tool.str.FromBase64', 'aG\r\nk=')).toBe('hi');
  });
});

function replaced(t: string, wanted: string, other: string, count: number): string {
  let left = count < 0 ? Number.POSITIVE_INFINITY : count;
  const units = wanted === '' ? [...t] : t.split(wanted);
  if (wanted !== '') return units.map((part, index) => (index === 0 ? '' : left-- > 0 ? other : wanted) + part).join('');
  return units.map((unit) => (left-- > 0 ? other : '') + unit).join('') + (left-- > 0 ? other : '');
}

const item: fc.Arbitrary<TaggedJson> = fc.oneof(
  fc.integer({ min: 0, max: 5 }),
  fc.constantFrom('a', 'b', '1'),
  fc.boolean(),
  fc.constant(null),
);
const items = fc.array(fc.oneof(item, fc.array(item, { maxLength: 2 })), { maxLength: 12 });
const index = fc.integer({ min: -3, max: 15 });

describe('list, against plain JavaScript', () => {
  it('takes apart and puts together', () => {
    fc.assert(
      fc.property(items, item, index, index, (list, one, from, to) => {
        expect(value('tool.list.Length', list)).toBe(list.length);
        expect(value('tool.list.Append', list, one)).toEqual([...list, one]);
        expect(value('tool.list.Prepend', list, one)).toEqual([one, ...list]);
        expect(value('tool.list.Slice', list, from, to)).toEqual(list.slice(Math.max(0, from), Math.max(0, from, to)));
        expect(value('tool.list.Tail', list, from)).toEqual(from <= 0 ? [] : list.slice(-from));
        expect(value('tool.list.Rest', list)).toEqual(list.slice(1));
        expect(value('tool.list.Reverse', list)).toEqual(list.toReversed());
        expect(value('tool.list.Get', list, from, 'none')).toEqual(from < 0 || from >= list.length ? 'none' : list[from]);
        const known = from >= 0 && from <= list.length;
        expect(value('tool.list.Insert', list, from, one)).toEqual(known ? list.toSpliced(from, 0, one) : 'NS8');
        expect(value('tool.list.RemoveAt', list, from)).toEqual(known && from < list.length ? list.toSpliced(from, 1) : 'NS8');
        expect(value('tool.list.Flatten', list)).toEqual(list.flat(1));
        expect(value('tool.list.Chunk', list, 3)).toEqual(
          Array.from({ length: Math.ceil(list.length / 3) }, (_, at) => list.slice(3 * at, 3 * at + 3)),
        );
      }),
      RUNS,
    );
  });

  it('finds and thins out by deep equality', () => {
    fc.assert(
      fc.property(items, item, (list, one) => {
        const key = (each: TaggedJson) => JSON.stringify(each);
        const at = list.findIndex((each) => key(each) === key(one));
        expect(value('tool.list.IndexOf', list, one)).toBe(at);
        expect(value('tool.list.Contains', list, one)).toBe(at >= 0);
        expect(value('tool.list.Unique', list)).toEqual([...new Map(list.map((each) => [key(each), each])).values()]);
      }),
      RUNS,
    );
  });

  it('sorts numbers, and texts by code points, and keeps the order of equal ones', () => {
    const points = (a: string, b: string) => Buffer.compare(utf32(a), utf32(b));
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.array(fc.string({ unit: codePoint, maxLength: 4 })), (numbers, texts) => {
        expect(value('tool.list.Sort', numbers)).toEqual(numbers.toSorted((a, b) => a - b));
        expect(value('tool.list.Sort', texts)).toEqual(texts.toSorted(points));
        const rows = numbers.map((n, at) => ({ n: Math.abs(n) % 3, at }));
        expect(value('tool.list.SortBy', rows, 'n')).toEqual(rows.toSorted((a, b) => a.n - b.n));
        expect(value('tool.list.SortBy', rows, 'n', true)).toEqual(rows.toSorted((a, b) => b.n - a.n));
      }),
      RUNS,
    );
  });
});

function utf32(text: string): Buffer {
  const buffer = Buffer.alloc(4 * [...text].length);
  for (const [at, character] of [...text].entries()) buffer.writeUInt32BE(character.codePointAt(0) ?? 0, 4 * at);
  return buffer;
}

/** As it comes back from JSON, which has no negative zero. */
const json = fc
  .jsonValue({ maxDepth: 4, stringUnit: 'grapheme' })
  .map((each): Exclude<TaggedJson, undefined> => JSON.parse(JSON.stringify(each)));
/** No tag of the boundary, and no order of JavaScript: keys that are whole numbers come first there. */
const plain = (each: unknown): boolean => !/"\$|"\d+":|__proto__/.test(JSON.stringify(each));

describe('json, against the parser and writer of JavaScript', () => {
  it('writes the same text, plain and with indents, and reads it back', () => {
    fc.assert(
      fc.property(json.filter(plain), fc.integer({ min: 0, max: 4 }), (each, indent) => {
        expect(value('tool.json.Stringify', each, indent)).toBe(JSON.stringify(each, null, indent));
        expect(value('tool.json.Parse', JSON.stringify(each, null, indent))).toEqual(each);
        expect(value('tool.json.IsValid', JSON.stringify(each))).toBe(true);
      }),
      RUNS,
    );
  });

  it('accepts a text exactly when the standard parser does', () => {
    const token = fc.constantFrom(
      '[',
      ']',
      '{',
      '}',
      ',',
      ':',
      '"a"',
      '"',
      '1',
      '-',
      '0',
      '.',
      'e',
      'E+',
      'true',
      'null',
      ' ',
      '\n',
      '\\u00e9',
      '\\',
      '\t',
      '01',
      '"\\ud83d\\ude00"',
    );
    const mutated = json.filter(plain).chain((each) => {
      const whole = JSON.stringify(each);
      return fc
        .tuple(fc.nat(whole.length), token)
        .map(([at, piece]) => whole.slice(0, at) + piece + whole.slice(at))
        .filter((t) => t.isWellFormed());
    });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(token, { maxLength: 8 }).map((all) => all.join('')),
          mutated,
        ),
        (t) => {
          let valid = true;
          try {
            JSON.parse(t, (_, each: unknown) => {
              if (typeof each === 'number' && !Number.isFinite(each)) throw new SyntaxError('out of range');
              return each;
            });
          } catch (error) {
            expect(error).toBeInstanceOf(SyntaxError);
            valid = false;
          }
          expect(value('tool.json.IsValid', t)).toBe(valid);
        },
      ),
      { numRuns: 800 },
    );
  });

  it('keeps the order of all keys (P9), takes the last of a repeated one, and refuses what would be wrong silently', () => {
    expect(value('tool.json.Stringify', { $$b: 1 })).toBe('{"$b":1}');
    const { emits } = called('tool.json.Parse', ['{"2":1,"1":2,"2":3}']);
    expect(emits).toEqual(['{"2": 3, "1": 2}']);
    for (const bad of ['1e400', '-1e999', '"\\ud800"', '"\\udc00\\ud800"']) expect(value('tool.json.Parse', bad)).toBe('NS41');
    expect(value('tool.json.Stringify', { $num: 'NaN' })).toBe('NS41');
    expect(value('tool.json.Stringify', { $handle: 'x' })).toBe('NS41');
    expect(value('tool.json.Stringify', [{ $time: '2025-01-01T00:00:00Z' }, { $bytes: 'aGk=' }, { $fuzzy: 0.5 }])).toBe(
      '["2025-01-01T00:00:00Z","aGk=",0.5]',
    );
  });

  it('Canonical gives equal values equal texts', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.integer()).filter(plain), (map) => {
        const shuffled = Object.fromEntries(Object.entries(map).reverse());
        const canonical = value('tool.json.Canonical', map);
        expect(value('tool.json.Canonical', shuffled)).toBe(canonical);
        expect(Object.keys(JSON.parse(String(canonical)))).toHaveLength(Object.keys(map).length);
      }),
      RUNS,
    );
  });
});

const line = fc.constantFrom('a', 'b', 'c', 'd', '');
const lines = fc
  .array(line, { maxLength: 14 })
  .chain((all) => fc.constantFrom(all.join('\n'), all.map((each) => `${each}\n`).join('')));

describe('diff, against the package of that name', () => {
  it('takes the fewest changes, and applied to one text gives the other', () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const edits = value('tool.diff.Lines', before, after) as readonly { readonly op: string; readonly line: string }[];
        const of = (skipped: string) => edits.filter(({ op }) => op !== skipped).map((edit) => edit.line);
        expect(of('insert')).toEqual(linesOf(before));
        expect(of('delete')).toEqual(linesOf(after));
        const changed = edits.filter(({ op }) => op !== 'equal').length;
        const fewest = diffLines(before, after).reduce(
          (sum, { added, removed, count }) => sum + (added || removed ? count : 0),
          0,
        );
        expect(changed).toBe(fewest);
      }),
      { numRuns: 500 },
    );
  });

  it('a unified diff can be applied, whatever its context', () => {
    fc.assert(
      fc.property(lines, lines, fc.integer({ min: 0, max: 4 }), (before, after, context) => {
        const patch = String(value('tool.diff.Unified', before, after, context));
        expect(applied(before, patch)).toBe(after);
        expect(patch === '').toBe(before === after);
      }),
      { numRuns: 500 },
    );
  });

  it('long texts take the fewest changes too', () => {
    const long = (seed: string) =>
      Array.from({ length: 300 }, (_, at) => (createHash('md5').update(`${seed}${at}`).digest()[0] ?? 0) % 20).join('\n');
    const edits = value('tool.diff.Lines', long('x'), long('y')) as readonly { readonly op: string }[];
    const fewest = diffLines(long('x'), long('y')).reduce((sum, part) => sum + (part.added || part.removed ? part.count : 0), 0);
    expect(edits.filter(({ op }) => op !== 'equal')).toHaveLength(fewest);
  });
});

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** Applies a unified diff by its numbers alone. */
function applied(before: string, patch: string): string {
  const source = before === '' ? [] : (before.match(/[^\n]*\n|[^\n]+$/g) ?? []);
  const made: string[] = [];
  let at = 0;
  const rows = patch === '' ? [] : patch.replace(/\n$/, '').split('\n');
  for (const [index, row] of rows.entries()) {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@$/.exec(row);
    const bare = rows[index + 1]?.startsWith('\\') ?? false;
    if (hunk !== null) {
      const start = hunk[2] === '0' ? Number(hunk[1]) : Number(hunk[1]) - 1;
      while (at < start) made.push(source[at++] ?? '');
    } else if (row.startsWith('+')) made.push(row.slice(1) + (bare ? '' : '\n'));
    else if (!row.startsWith('\\')) {
      const text = row.slice(1) + (bare ? '' : '\n');
      if (source[at] !== text) throw new Error(`line ${at} is ${source[at]}, not ${text}`);
      if (row.startsWith(' ')) made.push(text);
      at++;
    }
  }
  return made.concat(source.slice(at)).join('');
}
