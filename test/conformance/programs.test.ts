import { describe, expect, it } from 'vitest';
import { observed } from './both.ts';
import { runHere, sections } from './suite.ts';

const files = sections().filter(({ name }) => name.startsWith('programs/'));
const programs = files.flatMap(({ chunks }) => chunks);

describe.each(files)('$name', (section) => {
  it.each(section.chunks)('$title', (chunk) => {
    const here = runHere(section, chunk);
    expect(here === null ? null : observed(here, chunk.expected)).toEqual(chunk.expected);
  });
});

describe('the programs', () => {
  it('are at least 60, each of 20 to 80 lines and with its own title', () => {
    expect(programs.length).toBeGreaterThanOrEqual(60);
    expect(new Set(programs.map(({ title }) => title)).size).toBe(programs.length);
    const odd = programs.filter(({ source }) => linesOf(source) < 20 || linesOf(source) > 80);
    expect(odd.map(({ title, source }) => `${title}: ${linesOf(source)} lines`)).toEqual([]);
  });

  it('each expects something, a third of them that something fails', () => {
    const { length } = programs.filter(({ expected }) => expected.emits.length + expected.eventErrors.length > 0);
    expect(length).toBe(programs.length);
    const failing = programs.filter(({ source }) => /on error|#!!|#!event/.test(source));
    expect(failing.length).toBeGreaterThan(programs.length / 3);
  });
});

/** Lines that are not blank. */
function linesOf(source: string): number {
  return source.split('\n').filter((line) => line.trim() !== '').length;
}
