import { describe, expect, it } from 'vitest';
import { habitsOf, KNOWN } from '../../conformance/habits/corpus.ts';
import { parse } from '../../grammar/index.ts';
import { changesOf } from '../../grammar/repair/program.ts';
import { clean } from '../../grammar/syntax/clean.ts';
import { cpuMs } from '../cost.ts';
import { SLOW } from '../groups.ts';
import { CORPUS } from '../lsp/corpus.ts';
import { doneBy, fixed, shareOf } from './harness.ts';

describe('the fixes of habits', () => {
  it.each(KNOWN)('mend nine of ten slips of the file %s, and no safe fix makes a program that does something else', (file) => {
    const { slips, wrong, misread } = shareOf(file);
    expect(misread.map(({ name }) => name)).toEqual([]);
    expect((slips - wrong.length) / slips).toBeGreaterThanOrEqual(0.9);
  });

  it('leave the programs alone that are right', () => {
    const changed = KNOWN.flatMap((file) => habitsOf(file)).filter(({ right }) => fixed(right, true) !== right);
    const unlike = changed.filter(({ right }) => doneBy(fixed(right, true)).join('\n') !== doneBy(right).join('\n'));
    expect(unlike.map(({ name }) => name)).toEqual([]);
  });

  it('find nothing to change in programs of the suite, so that an error elsewhere does not change them', () => {
    const texts = CORPUS.filter((text) => parse(text, { name: '' }).ok).map((text) => clean(text, 1e6).text);
    expect(texts.length).toBeGreaterThan(450);
    const changed = texts.flatMap((text) => changesOf(text).map(({ s, e }) => text.slice(s, e)));
    expect(changed).toEqual([]);
  });

  it('keep a byte order mark, line ends and characters beyond U+FFFF', () => {
    expect(fixed('\uFEFFcommand\r\n  set x = "😀"\r\n  x += "a"\r\n  emit x\r\nendcommand\r\n')).toBe(
      '\uFEFFcommand\r\n  set x = "😀"\r\n  set x = x + "a"\r\n  emit x\r\nendcommand\r\n',
    );
  });

  it('take time about linear in the length of the program', SLOW, () => {
    const time = (lines: number): number => {
      const text = `command\n${'  x += 1 if a else b\n'.repeat(lines)}endcommand\n`;
      return cpuMs(() => fixed(text));
    };
    time(200);
    expect(time(2000) / time(500)).toBeLessThan(16);
  });
});
