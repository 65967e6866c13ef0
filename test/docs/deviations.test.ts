import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../architecture/source.ts';

const rows = readFileSync(join(ROOT, 'docs/deviations.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| (?:P|R)\d/.test(line))
  .map((line) =>
    line
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.trim()),
  );

describe('docs/deviations.md', () => {
  it('has a row for every row of the profile, P1 to P35, and every ruling, R1 to R18', () => {
    const named = new Set(rows.flatMap(([ids = '']) => ids.split(', ')));
    const due = [...Array.from({ length: 35 }, (_, i) => `P${i + 1}`), ...Array.from({ length: 18 }, (_, i) => `R${i + 1}`)];
    expect([...named].toSorted()).toEqual(due.toSorted());
  });

  it('says of each difference what the reference does, what we do, and why', () => {
    expect(rows.filter((cells) => cells.length !== 5 || cells.includes(''))).toEqual([]);
  });
});
