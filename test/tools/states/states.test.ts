import { describe, expect, it } from 'vitest';
import { SLOW } from '../../groups.ts';
import { exploreHere, fits } from '../../states/explorer.ts';
import { explore } from './explore.ts';
import { PLANTS, SMALL } from './plants.ts';

describe('every call under every policy of a set, and up to four calls under bounds, approvals and limits', () => {
  it('agrees with the model, and keeps A3-11.2-1 AL3-7-2 ARGO-8-2', { ...SLOW, timeout: 300_000 }, async () => {
    expect(await exploreHere(explore, SMALL)).toEqual({ states: 21286, transitions: 45456, wrong: null });
  });

  it.each(PLANTS)('can be explored with a bug: $what', (plant) => {
    expect(fits(plant)).toBe(true);
  });
});
