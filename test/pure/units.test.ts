import { describe, expect, it } from 'vitest';
import { Random } from '../fuzz/random.ts';
import { value } from './call.ts';

/** Every character of one unit but surrogates, then letters of two units. */
const EVERY = Array.from({ length: 0x1044f }, (_, code) => code)
  .filter((code) => code < 0xd800 || (code > 0xdfff && code < 0x10000) || code >= 0x10400)
  .map((code) => String.fromCodePoint(code));
const single = (one: string, changed: string): string => (changed.length === one.length ? changed : one);

describe('tools that read a text unit by unit (issue 21, 6)', () => {
  it('change the case of every character by itself, whatever came before', () => {
    const text = EVERY.join('');
    const upper = EVERY.map((one) => single(one, one.toUpperCase())).join('');
    expect(value('tool.str.ToUpper', text) === upper).toBe(true);
    const lower = EVERY.map((one) => (one === '\u0130' ? 'i' : single(one, one.toLowerCase()))).join('');
    expect(value('tool.str.ToLower', text) === lower).toBe(true);
    expect(value('tool.str.EqualFold', upper, text)).toBe(value('tool.str.EqualFold', text, upper));
    // The first half of a pair alone, and then with its other half.
    const pairs = 'é😀\u{10428}\u{1044f}'.repeat(600);
    expect(value('tool.str.ToUpper', pairs)).toBe('É😀\u{10400}\u{10427}'.repeat(600));
  });

  it('escape what has a meaning in a pattern', () => {
    const random = new Random(21);
    for (const length of [0, 1, 5, 1023, 1024, 1025, 5000]) {
      const text = Array.from({ length }, () => String.fromCharCode(random.int(0x90))).join('');
      expect(value('tool.regex.Escape', text)).toBe(text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&'));
    }
  });

  it('count lines, and characters before a place', () => {
    const random = new Random(22);
    for (const length of [0, 1, 4095, 4096, 4097, 9000]) {
      const text = Array.from({ length }, () => 'a\n😀'.slice(random.int(2), 2)).join('');
      const lines = text.split('\n');
      expect(value('tool.str.LineCount', text)).toBe(lines.at(-1) === '' ? lines.length - 1 : lines.length);
    }
    expect(value('tool.str.LastIndexOf', `${'a'.repeat(5000)}x`, 'x')).toBe(5000);
    expect(value('tool.str.LastIndexOf', `${'a😀'.repeat(5000)}x`, 'x')).toBe(10_000);
  });
});
