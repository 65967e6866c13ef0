import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { KEPT, regexes } from './regexes.ts';
import { ROOT } from './source.ts';

/** Judged safe by `npm --prefix apps/lab run regexes`, which writes the file: the search takes linear time. */
const SAFE = new Set(readFileSync(join(ROOT, 'test/architecture/regexes.txt'), 'utf8').trimEnd().split('\n'));

it('every regular expression of the product takes linear time, or has a reason to stay (finding 18)', () => {
  const found = regexes();
  expect(found.size).toBeGreaterThan(150);
  const unjudged = [...found].filter(([text]) => !SAFE.has(text) && !Object.hasOwn(KEPT, text));
  expect(unjudged, 'run: npm --prefix apps/lab run regexes').toEqual([]);
  expect(
    [...SAFE, ...Object.keys(KEPT)].filter((text) => !found.has(text)),
    'no longer in the product',
  ).toEqual([]);
});
