// @module-tag slow
import { describe, inject, it } from 'vitest';
import { ROUNDS } from './kit.ts';
import { ROWS } from './matrix/rows.ts';

describe.each(ROUNDS)('issue 20: the failure matrix, round %i', () => {
  for (const { name, engines, run } of ROWS)
    for (const engine of engines) it(`${engine}: ${name}`, () => run(engine, inject('url')));
});
