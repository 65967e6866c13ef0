import { describe, expect, it } from 'vitest';
import { clip, paletteFor, printable, printableLines } from '../../src/report/index.ts';

describe('text for a terminal', () => {
  it('shows control, reordering and invisible characters as escapes', () => {
    expect(printable('a\u001b[31mb\u0007\n\u009b\u202ec\u200bd\ud800')).toBe(
      'a\\e[31mb\\u{7}\\n\\u{9b}\\u{202e}c\\u{200b}d\\u{d800}',
    );
  });

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
