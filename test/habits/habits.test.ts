import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HELD_OUT, habitsOf, KNOWN, UNSEEN } from '../../conformance/habits/corpus.ts';
import { parse } from '../../grammar/index.ts';
import { changesOf } from '../../grammar/repair/program.ts';
import { clean } from '../../grammar/syntax/clean.ts';
import { ROOT } from '../architecture/source.ts';
import { cpuMs } from '../cost.ts';
import { SLOW } from '../groups.ts';
import { CORPUS } from '../lsp/corpus.ts';
import { doneBy, fixed, shareOf } from './harness.ts';

describe('the fixes of habits', () => {
  const shares = new Map([...KNOWN, HELD_OUT, UNSEEN].map((file) => [file, shareOf(file)]));

  it.each(KNOWN)('mend nine of ten slips of the file %s', (file) => {
    const { slips = 0, wrong = [] } = shares.get(file) ?? {};
    expect((slips - wrong.length) / slips).toBeGreaterThanOrEqual(0.9);
  });

  it('make no program that does something else, where they are safe', () => {
    expect([...shares].filter(([, { misread }]) => misread.length > 0).map(([file]) => file)).toEqual([]);
  });

  it('issue 50: have the shares that docs/lints.md states, of known, held-out and unseen slips', () => {
    const page = readFileSync(join(ROOT, 'docs/lints.md'), 'utf8');
    const table = page.slice(page.indexOf('| slips of'), page.indexOf('`npm run habits -- --held-out --unseen`'));
    const stated = [...table.matchAll(/\| +(\d+) of (\d+) \| +(\d+) % \|/g)].map(([, ...cells]) => cells.map(Number));
    const counts = [...shares.values()].map(({ slips, wrong }) => [slips - wrong.length, slips]);
    const known = counts
      .slice(0, KNOWN.length)
      .reduce((sum, count) => sum.map((one, index) => one + (count[index] ?? 0)), [0, 0]);
    const measured = [...counts.slice(0, KNOWN.length), known, ...counts.slice(KNOWN.length)];
    expect(stated).toEqual(measured.map(([right = 0, all = 1]) => [right, all, Math.round((100 * right) / all)]));
    expect(page).toContain(
      `Safe fixes alone mend ${KNOWN.reduce((sum, file) => sum + (shares.get(file)?.safe ?? 0), 0)} of the 704`,
    );
  });

  it('have right programs beside the unseen slips', () => {
    for (const { name, right, output } of habitsOf(UNSEEN)) expect([name, doneBy(right)]).toEqual([name, output]);
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

  it.each(['(', '{', 'not ', 'await ', '${', 'if (a) {\n', 'xs.each { |x| '])(
    'issue 44, finding 3: are looked for in a program that nests %j without end',
    (piece) => {
      for (const begin of ['', 'command\nemit ']) {
        const closed = piece.includes('|') ? ' }'.repeat(5000) : '';
        const text = `${begin}${piece.repeat(5000)}1${closed}\n`;
        expect(fixed(text, true).length).toBeGreaterThan(0);
      }
    },
  );

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
