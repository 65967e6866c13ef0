import { describe, expect, it } from 'vitest';
import { SLOW } from '../../../groups.ts';
import { exploreHere, fits } from '../../../states/explorer.ts';
import { explore } from './explore.ts';
import { PLANTS, SMALL } from './plants.ts';

describe('every state of a loop of the v1 profile that two turns can reach', () => {
  it('agrees with the model, and keeps AL1-2.4-1 AL1-2.5-1 AL1-2.6-1 AL1-2.6-2 AL1-2.6-3 AL1-2.7-1 AL1-2.8-1 AL1-2.9-2 AL1-3-4', {
    ...SLOW,
    timeout: 300_000,
  }, async () => {
    expect(await exploreHere(explore, SMALL)).toEqual({ states: 2997, transitions: 10165, wrong: null });
  });

  it.each(PLANTS)('can be explored with a bug: $what', (plant) => {
    expect(fits(plant)).toBe(true);
  });
});
