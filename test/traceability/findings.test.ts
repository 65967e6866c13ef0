import { expect, it } from 'vitest';
import { ESCAPED, filesBelow, sourceOf } from '../architecture/source.ts';
import { titlesOf } from './ids.ts';

/** The findings of the review that limits are kept by the guest and paid for by the host. */
const FINDINGS = Array.from({ length: 19 }, (_, index) => index + 1);

it('every finding of the review has a test that names it in its title, and no title names another', () => {
  const named = filesBelow('test', '.test.ts')
    .map(sourceOf)
    .filter(({ text }) => /finding /.test(text) || ESCAPED.test(text))
    .flatMap(({ program }) => titlesOf(program))
    .flatMap((title) => [...title.matchAll(/\bfinding (\d+(?:, \d+)*)/g)])
    .flatMap(([, numbers = '']) => numbers.split(', ').map(Number));
  expect([...new Set(named)].sort((a, b) => a - b)).toEqual(FINDINGS);
});
