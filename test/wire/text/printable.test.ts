import { describe, expect, it } from 'vitest';
import { clip, grouped, paletteFor, printable, printableLines } from '../../../src/report/index.ts';

describe('text for a terminal', () => {
  it('shows control, reordering and invisible characters as escapes', () => {
    expect(printable('a\u001b[31mb\u0007\n\u009b\u202ec\u200bd\ud800')).toBe(
      'a\\e[31mb\\u{7}\\n\\u{9b}\\u{202e}c\\u{200b}d\\u{d800}',
    );
  });

  it.each(
    'ad 34f 61c 115f 1160 17b4 180b 180e 200b 200c 200d 2028 2029 202e 2060 2064 206a 2800 3164 fe00 fe0f feff ffa0 fff9 1d173 e0001 e0041 e0100 e000 13441 13442 16fe4 1d159'.split(
      ' ',
    ),
  )('shows what cannot be seen, U+%s, as an escape, in one line and in several (finding 18)', (code) => {
    const char = String.fromCodePoint(Number.parseInt(code, 16));
    expect(printable(`a${char}b`)).toBe(`a\\u{${code}}b`);
    expect(printableLines(`a${char}b`)).toBe(`a\\u{${code}}b`);
  });

  it.each('a0 1680 2000 2003 200a 202f 205f 3000'.split(' '))(
    'shows the blank U+%s, which is no space, in a line that is judged, and leaves it in what a program says',
    (code) => {
      const char = String.fromCodePoint(Number.parseInt(code, 16));
      expect(printable(`Pay( 1,${char}2)`)).toBe(`Pay( 1,\\u{${code}}2)`);
      expect(printableLines(`a${char}b`)).toBe(`a${char}b`);
    },
  );

  it('leaves letters of every script and pictographs alone', () => {
    expect(printable('Grüße 世界 😀 שלום')).toBe('Grüße 世界 😀 שלום');
  });

  it('keeps line feeds and tabs where several lines are meant', () => {
    expect(printableLines('a\tb\n\u001bc')).toBe('a\tb\n\\ec');
  });

  it('clips without cutting a character in half', () => {
    expect(clip('abcdef', 4)).toBe('abc…');
    expect(clip('a😀bc', 3)).toBe('a…');
    expect(clip('abc', 3)).toBe('abc');
  });

  it('colours a terminal alone, and not when NO_COLOR is set or the terminal is dumb', () => {
    expect(paletteFor({ isTTY: true }, {}).red('x')).toBe('\u001b[31mx\u001b[39m');
    expect(paletteFor({ isTTY: true }, { NO_COLOR: '' }).red('x')).toBe('\u001b[31mx\u001b[39m');
    expect(paletteFor({ isTTY: true }, { NO_COLOR: '1' }).red('x')).toBe('x');
    expect(paletteFor({ isTTY: true }, { TERM: 'dumb' }).red('x')).toBe('x');
    expect(paletteFor({}, {}).red('x')).toBe('x');
  });
});

it('a whole number is grouped as people write it', () => {
  for (const value of [0, 7, 999, 1000, 12_345, 100_000, 1_234_567, Number.MAX_SAFE_INTEGER])
    expect(grouped(value)).toBe(value.toLocaleString('en-US'));
});
