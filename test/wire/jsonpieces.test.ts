import { afterEach, describe, expect, it, vi } from 'vitest';
import { WireError } from '../../src/wire/errors.ts';
import { MAX_FRAME_DEPTH, MAX_FRAME_VALUES, parseFrame } from '../../src/wire/frames.ts';
import { PIECE_UNITS } from '../../src/wire/frametext.ts';
import { jsonUnits, parseInPieces } from '../../src/wire/jsonpieces.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Parses a text that comes in parts of `step` units. */
function whole(text: string, maxValues = MAX_FRAME_VALUES, step = PIECE_UNITS) {
  const texts = Array.from({ length: Math.ceil(text.length / step) }, (_, index) => text.slice(index * step, (index + 1) * step));
  const parsing = parseInPieces(texts.values(), maxValues);
  for (let pieces = 1; ; pieces++) {
    const { done, value } = parsing.next();
    if (done === true) return { ...value, pieces };
  }
}

const list = (item: (index: number) => string, count: number, joint = ','): string =>
  `[${Array.from({ length: count }, (_, index) => item(index)).join(joint)}]`;
const map = (item: (index: number) => string, count: number): string =>
  `{${Array.from({ length: count }, (_, index) => `"k${index % 12_000}":${item(index)}`).join(',')}}`;
const long = JSON.stringify('"\\\n\u2028é𝒳x'.repeat(30_000));
const numbers = list(String, 40_000);

const TEXTS: Readonly<Record<string, string>> = {
  'a list': numbers,
  'a list with blanks': list(String, 30_000, ' ,\n\t'),
  'a list of empty lists': list(() => '[]', 60_000),
  'a list of maps': list((index) => `{"a${index}":{"b":[1,{}]}}`, 10_000),
  'a map, of some keys the last counts': map(String, 16_000),
  'a map of lists that are longer than a piece': map(() => numbers, 3),
  'lists in lists': `[1,[2,${numbers},3],[[[${numbers}]]],{"a":{"b":${numbers},"c":[]}},4]`,
  'a list beside empty ones': `[[],${numbers},{},${numbers} , [ ]]`,
  'long strings': `[1,${long},2,{"a":${long},"b":[${long}]}]`,
  'a long key': `{${long}:[${numbers}],"b":1}`,
  'a long string alone': long,
  'keys that are special': `{"__proto__":${numbers},"a":{"__proto__":1,"constructor":${numbers}},"7":1,"3":${numbers}}`,
  'blanks around': `  \n${numbers}\n `,
  'brackets and quotes in strings': list(() => '"]}\\",[{:"', 20_000),
};

describe('18: parsing in pieces', () => {
  it.each(Object.entries(TEXTS))('gives what parsing gives: %s', (_name, text) => {
    const { value, pieces } = whole(text);
    const expected = parseFrame(text);
    expect(JSON.stringify(value)).toBe(JSON.stringify(expected));
    expect(Object.getPrototypeOf(value)).toBe(Object.getPrototypeOf(expected));
    expect(pieces).toBeGreaterThan(1);
    for (const step of [7_001, text.length])
      expect(JSON.stringify(whole(text, MAX_FRAME_VALUES, step).value)).toBe(JSON.stringify(expected));
  });

  it.each(Object.entries(TEXTS))('counts at least the units of the value, and few more: %s', (_name, text) => {
    const { value, units } = whole(text);
    const counted = jsonUnits(parseFrame(JSON.stringify(value)) as Parameters<typeof jsonUnits>[0]);
    expect(units).toBeGreaterThanOrEqual(counted);
    // Of equal keys in different pieces each counts.
    expect(units).toBeLessThanOrEqual(1.5 * counted + 1000);
  });

  it.each(Object.entries(TEXTS))('refuses the text with a mistake at any place: %s', (_name, text) => {
    for (const place of [0, 2]) {
      const at = Math.floor((text.length * (place + 0.3)) / 4);
      for (const damaged of [
        `${text.slice(0, at)}]${text.slice(at)}`,
        `${text.slice(0, at)},${text.slice(at)}`,
        text.slice(0, at) + text.slice(at + 1),
      ])
        expect(outcome(() => whole(damaged).value)).toBe(outcome(() => parseFrame(damaged)));
    }
  });

  it.each([
    ['[1,2,]', '[#,]'],
    ['an item after a list', '[# 5,1]'],
    ['an item before a list', '[5 #]'],
    ['no item', '[#,,1]'],
    ['a list after a list', '[##]'],
    ['a value before the list of a key', '{"a":1#}'],
    ['a value after the list of a key', '{"a":#1}'],
    ['two keys', '{"a":"b":#}'],
    ['no key', '{#}'],
    ['a list that ends as a map', '[#}'],
    ['no end', '[#'],
    ['two values', '# #'],
    ['text behind', '#x'],
    ['text before', 'x#'],
    ['a comma behind', '#,'],
  ])('refuses %s', (_what, form) => {
    for (const part of [numbers, TEXTS['a map, of some keys the last counts'] ?? ''])
      expect(() => whole(form.replaceAll('#', part))).toThrow('a frame is not JSON');
  });

  it('refuses too many values and too deep nesting as parsing does, each with its reason', () => {
    for (const [text, values] of [
      [numbers, 40_000],
      [TEXTS['a list of maps'] ?? '', 120_000],
    ] as const) {
      expect(JSON.stringify(whole(text, values).value)).toBe(JSON.stringify(parseFrame(text, values)));
      expect(() => whole(text, values - 1)).toThrow(`more than ${values - 1} values`);
      expect(() => parseFrame(text, values - 1)).toThrow(`more than ${values - 1} values`);
    }
    const deep = (levels: number) => `${'['.repeat(levels)}${numbers}${']'.repeat(levels)}`;
    expect(() => whole(deep(MAX_FRAME_DEPTH - 1))).not.toThrow();
    expect(() => whole(deep(MAX_FRAME_DEPTH))).toThrow('nests deeper');
  });

  it('gives no long text to the parser of the engine', () => {
    const texts = Object.entries(TEXTS).filter(([name]) => !/alone|key$/.test(name));
    const parse = vi.spyOn(JSON, 'parse');
    for (const [, text] of texts) whole(text);
    expect(Math.max(...parse.mock.calls.map(([text]) => String(text).length))).toBeLessThan(3 * PIECE_UNITS);
  });
});

function outcome(work: () => unknown): string {
  try {
    return JSON.stringify(work());
  } catch (error) {
    expect(error).toBeInstanceOf(WireError);
    return (error as WireError).message.replace(/^(a frame is not JSON).*/, '$1');
  }
}
