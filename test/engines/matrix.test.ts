import { describe, inject, it } from 'vitest';
import { ROWS } from './matrix/rows.ts';

/** How often every row is run: once, unless `npm run prove` asks for more. */
const ROUNDS = Number(process.env['MATRIX_ROUNDS'] ?? 1);

describe.each(Array.from({ length: ROUNDS }, (_, index) => index + 1))('issue 20: the failure matrix, round %i', () => {
  for (const { name, engines, run } of ROWS)
    for (const engine of engines) it(`${engine}: ${name}`, () => run(engine, inject('url')));
});
