// @module-tag slow
import { expect, it } from 'vitest';
import { REAL } from '../input.ts';
import { compareWarm } from './compare.ts';
import { PLANTS, withPlant } from './plants.ts';

/** `npm run prove warm` takes a million. */
const RUNS = 5000;

it(`a run in an isolate that has served others is as one in a fresh isolate: ${RUNS} random programs`, {
  timeout: 600_000,
}, async () => {
  const { runs, ends, differences } = await compareWarm({ seed: 20_261_214, runs: RUNS }, REAL);
  expect(differences).toEqual([]);
  expect(runs).toBe(RUNS);
  for (const end of ['ok', 'NS7', 'NS1', 'NS2', 'ERR_QUOTA', 'ERR_CANCELLED'])
    expect([end, ends.get(end) ?? 0]).not.toEqual([end, 0]);
});

it.each(Object.keys(PLANTS))('a leak is found: %s', { timeout: 300_000 }, async (name) => {
  const { differences } = await withPlant(name, (files) => compareWarm({ seed: 7, runs: 3000, most: 1 }, files));
  expect(differences.length).toBeGreaterThan(0);
});
