import { describe, expect, it } from 'vitest';
import { corpus } from './corpus.ts';
import { findings } from './lint.ts';

describe('correct programs', () => {
  const fine = corpus.filter(({ expected }) => expected.error === null && expected.eventErrors.length === 0);

  it('have errors only at unreached places and in programs about handlers', () => {
    const wrong = fine
      .filter(({ source }) => !/on error do| (?:or|and) nope\(\)/.test(source))
      .flatMap(({ title, source, globals }) =>
        findings(source, { globals: Object.keys(globals) })
          .filter(({ severity }) => severity === 'error')
          .map(({ code, line }) => `${title}: ${line} ${code}`),
      );
    expect(fine.length).toBeGreaterThan(300);
    expect(wrong).toEqual([]);
  });

  it('have few warnings if they are longer than a few lines: some programs test rare forms on purpose', () => {
    // Those of P16 are about handlers that go on.
    const realistic = fine.filter(({ title, source }) => !title.startsWith('P16') && source.split('\n').length >= 20);
    const warned = realistic.filter(({ source, globals }) =>
      findings(source, { globals: Object.keys(globals) }).some(({ severity }) => severity !== 'info'),
    );
    expect(realistic.length).toBeGreaterThan(50);
    expect(warned.length / realistic.length).toBeLessThan(0.15);
  });
});
