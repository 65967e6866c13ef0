import { describe, expect, it } from 'vitest';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { cpuMs } from '../cost.ts';
import { SLOW } from '../groups.ts';
import { drive } from '../guest/driver.ts';
import { called, value } from './call.ts';

describe('what tools refuse, with the numeric code of the reference', () => {
  const refused: readonly (readonly [string, readonly TaggedJson[], string])[] = [
    ['tool.str.Substring', ['abc', -1, 1], 'NS8'],
    ['tool.str.Substring', ['abc', 0, -1], 'NS8'],
    ['tool.str.IndexOf', ['abc', 'a', -1], 'NS8'],
    ['tool.str.Repeat', ['abc', -1], 'NS8'],
    ['tool.str.PadLeft', ['abc', 9, ''], 'NS41'],
    ['tool.str.Normalize', ['abc', 'nfc'], 'NS41'],
    ['tool.str.Normalize', [`a${'\u0301'.repeat(65)}`, 'NFC'], 'NS41'],
    ['tool.str.Join', ['abc', ','], 'NS7'],
    ['tool.str.Concat', [{ a: 1 }], 'NS7'],
    ['tool.str.ToJsonString', ['text'], 'NS7'],
    ['tool.str.ParseJsonString', ['{'], 'NS41'],
    ['tool.str.Inspect', [1, -1], 'NS8'],
    ['tool.math.Divide', [1, 0], 'NS14'],
    ['tool.math.Modulo', [1, 0], 'NS14'],
    ['tool.math.Modulo', [1.5, 1], 'NS4'],
    ['tool.math.Sqrt', [-1], 'NS41'],
    ['tool.math.Round', [1, 99], 'NS8'],
    ['tool.math.Min', [[]], 'NS41'],
    ['tool.math.Median', [[]], 'NS41'],
    ['tool.math.Clamp', [1, 3, 2], 'NS41'],
    ['tool.math.Sum', [[1, 'x']], 'NS4'],
    ['tool.list.Sort', [[1, 'a']], 'NS7'],
    ['tool.list.Sort', [[null]], 'NS7'],
    ['tool.list.Sort', [[true, false]], 'NS7'],
    ['tool.list.SortBy', [[1], 'a'], 'NS7'],
    ['tool.list.Chunk', [[1], 0], 'NS41'],
    ['tool.list.Range', [0, 1, 0], 'NS41'],
    ['tool.list.Insert', [[1], 3, 0], 'NS8'],
    ['tool.map.FromEntries', [[1]], 'NS7'],
    ['tool.json.Stringify', [1, 99], 'NS8'],
    ['tool.shape.Validate', [{ a: 1 }, { a: 'string' }], 'NS21'],
    ['tool.shape.Validate', [{ a: 1 }, { a: 'text' }], 'NS15'],
    ['tool.shape.Validate', [{ a: 1 }, { '?': 'string' }], 'NS15'],
    ['tool.shape.Validate', [{ a: 1 }, { a: 'int' }, { nope: true }], 'NS4'],
    ['tool.shape.Validate', [{ a: 1 }, { a: 'int' }, { allow_extra: 1 }], 'NS4'],
    ['tool.shape.Select', [{ a: 1 }, 'b'], 'NS9'],
    ['tool.shape.Select', [{ a: 1 }, 'a.b', { missing_ok: true }], 'NS9'],
    ['tool.shape.Select', [{ a: 1 }, 'a..b'], 'NS15'],
    ['tool.shape.Select', [{ a: 1 }, []], 'NS15'],
    ['tool.template.Render', ['{{a}}', {}], 'NS9'],
    ['tool.template.Render', ['{{a b}}', {}], 'NS15'],
    ['tool.template.Render', ['{{a', {}], 'NS15'],
    ['tool.diff.Unified', ['a', 'b', -1], 'NS8'],
    ['tool.error.New', [[], 'm'], 'NS7'],
  ];
  it.each(refused)('%s%j', (tool, args, code) => {
    const { error } = called(tool, args);
    expect([error?.code, error?.line, error?.column]).toEqual([code, 2, 6]);
  });

  it('is caught by on error, with code and message', () => {
    const source =
      'command\nset x = tool.math.Divide(1, 0)\nemit "on"\non error do\nemit system_error.code + " " + system_error.message\nclear_error\nendon\nendcommand\n';
    expect(drive(source, { pure: true }).emits).toEqual(['14 division by zero: 1', 'on']);
  });
});

describe('corners', () => {
  it('str: the edges of texts', () => {
    expect(value('tool.str.Split', '', ',')).toEqual(['']);
    expect(value('tool.str.Split', '', '')).toEqual([]);
    expect(value('tool.str.Substring', 'abc', 1, 2 ** 53)).toBe('bc');
    expect(value('tool.str.Substring', 'abc', 9, 1)).toBe('');
    expect(value('tool.str.Trim', '😀a😀', '😀')).toBe('a');
    expect(value('tool.str.Trim', '', 'x')).toBe('');
    expect(value('tool.str.TrimPrefix', 'aab', 'a')).toBe('ab');
    expect(value('tool.str.EqualFold', 'ΑΣ', 'ας')).toBe(true);
    expect(value('tool.str.EqualFold', 'K', '\u212a')).toBe(true);
    expect(value('tool.str.PadLeft', 'a', 4, '😀b')).toBe('😀b😀a');
    expect(value('tool.str.Lines', 'a\r\nb\rc\n\n')).toEqual(['a', 'b\rc', '']);
    expect(value('tool.str.ToNumber', 'x')).toBeNull();
    expect(value('tool.str.Normalize', 'e\u0301')).toBe('é');
    expect(value('tool.str.Inspect', null)).toBe('nil');
    expect(value('tool.str.StripAnsi', 'a\x1b]0;title\x07b\x1b[1;31mc\x1bMd')).toBe('abcd');
    expect(value('tool.str.ToJsonString', { a: [] }, true, '>', '-')).toBe('{\n>-"a": []\n>}');
  });

  it('str: what nearly occurs at every place of a long text is looked for once and not at every place', SLOW, () => {
    const limits = { valueBytes: 2 ** 26, textLength: 2 ** 24, memoryBytes: 2 ** 28, sourceBytes: 2 ** 24 };
    const all = 'a'.repeat(1_000_000);
    const half = 'a'.repeat(10_000);
    const times = (tool: string, wanted: string): number => {
      return cpuMs(() => expect(called(tool, [all, wanted], limits).error).toBeNull(), 2);
    };
    // V8 takes 1.3 to 2.7 seconds for each of these.
    const took = [
      times('tool.str.IndexOf', `${half}b${half}`),
      times('tool.str.LastIndexOf', `${half}b${half}`),
      times('tool.str.LastIndexOf', `${half}${half}b`),
      times('tool.str.Count', `${half}b${half}`),
    ];
    expect(Math.min(...took)).toBeLessThan(400);
    expect(took.reduce((sum, ms) => sum + ms)).toBeLessThan(1600);
  });

  it('str: combining marks are put in order as far as any writing has them, wherever they stand', () => {
    for (const mark of ['\u0301', '\u05b0', '\u{1d165}'])
      for (let before = 1; before < 130; before++) {
        const text = (marks: number): string => `${mark}${'a'.repeat(before)}${mark.repeat(marks)}b${mark}`;
        expect(value('tool.str.Normalize', text(64), 'NFD')).toBe(text(64).normalize('NFD'));
        expect(value('tool.str.Normalize', text(65), 'NFD')).toBe('NS41');
      }
  });

  it('math: numbers at their edges', () => {
    expect(value('tool.math.Round', 2.5)).toBe(3);
    expect(value('tool.math.Round', -2.5)).toBe(-3);
    expect(value('tool.math.Round', 1234, -2)).toBe(1200);
    expect(value('tool.math.Round', 1e300, 2)).toBe(1e300);
    expect(value('tool.math.Round', 0.1 + 0.2, 15)).toBe(0.3);
    expect(value('tool.math.Round', -0.2)).toBe(0);
    expect(value('tool.math.Modulo', -7, 7)).toBe(0);
    expect(value('tool.math.Power', 1, { $num: 'NaN' })).toBe(1);
    expect(value('tool.math.Median', [3, { $num: 'NaN' }, 1])).toBe(3);
    expect(value('tool.math.Sum', [])).toBe(0);
  });

  it('map: keys in order, and keys that are members of objects elsewhere', () => {
    expect(value('tool.map.Keys', { b: 1, a: 1 })).toEqual(['b', 'a']);
    expect(value('tool.map.Has', { a: 1 }, 'toString')).toBe(false);
    expect(value('tool.map.Get', { a: 1 }, '__proto__', 'none')).toBe('none');
    expect(value('tool.map.Pick', { a: 1 }, ['a', 'constructor', null])).toEqual({ a: 1 });
    expect(value('tool.shape.Select', { a: 1 }, 'constructor', { missing_ok: true })).toBeNull();
    expect(called('tool.json.Parse', ['{"__proto__": 1}']).emits).toEqual(['{"__proto__": 1}']);
    expect(value('tool.map.Keys', { $error: { code: 1, message: 'm' } })).toEqual(['code', 'message']);
  });

  it('shape: optional, lists, nested, extra keys, letter case, formats', () => {
    const shape = { name: 'string', 'age?': 'int', 'tags[]?': 'string', 'at?[]': { x: 'float', 'y?': 'any' }, 'mail?': 'email' };
    const of = (data: TaggedJson, options: TaggedJson = null) => value('tool.shape.Problems', data, shape, options);
    expect(of({ name: 'a', age: 3, tags: ['x'], at: [{ x: 1, y: null }], mail: 'a@b.co' })).toEqual([]);
    expect(of({ name: null, age: 1.5, tags: ['x', 2], at: [{ y: 1, z: 1 }], mail: 'a@b' })).toEqual([
      '"name" must be a string, got nil',
      '"age" must be a whole number, got number 1.5',
      '"tags[1]" must be a string, got number 2',
      '"at[0].x" is missing',
      '"at[0].z" is not expected',
      '"mail" must be an e-mail address, got string "a@b"',
    ]);
    expect(of({ NAME: 'a' }, { case_insensitive: true })).toEqual([]);
    expect(of({ name: 'a', more: 1 }, { allow_extra: true })).toEqual([]);
    const formats = { u: 'url', t: 'isoDatetime' };
    expect(value('tool.shape.Validate', { u: 'https://example.org/a?b=1', t: '2025-01-01T00:00:00Z' }, formats)).toBe(true);
    expect(value('tool.shape.Problems', { u: 'ftp://x', t: 'now' }, formats)).toHaveLength(2);
  });

  it('template: what is filled in is never looked at again', () => {
    expect(value('tool.template.Render', '{{a}}{{b}}', { a: '{{b}}', b: 1 })).toBe('{{b}}1');
    expect(value('tool.template.Render', '{{ l[0].x }}-{{n}}', { l: [{ x: [1] }], n: null })).toBe('[1]-');
    expect(value('tool.template.Render', '{{a}}', {}, '')).toBe('');
  });

  it('diff: line ends and hunks', () => {
    expect(value('tool.diff.Unified', 'a\nb', 'a\nb\n')).toBe('@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n');
    expect(value('tool.diff.Unified', '', 'a\n')).toBe('@@ -0,0 +1 @@\n+a\n');
    const numbers = Array.from({ length: 20 }, (_, at) => `${at}\n`);
    const changed = numbers.with(2, 'x\n').with(16, 'y\n');
    expect(String(value('tool.diff.Unified', numbers.join(''), changed.join(''), 1)).match(/@@ .* @@/g)).toEqual([
      '@@ -2,3 +2,3 @@',
      '@@ -16,3 +16,3 @@',
    ]);
  });

  it('error: a value that is an error', () => {
    const source =
      'command\nset e = tool.error.New(42, "no")\nemit is_error(e)\nemit typeof(e)\nemit tool.map.Get(e, "code")\nendcommand\n';
    expect(drive(source, { pure: true }).emits).toEqual(['true', 'error', '42']);
  });
});
