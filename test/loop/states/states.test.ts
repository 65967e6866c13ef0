import { describe, expect, it } from 'vitest';
import { SLOW } from '../../groups.ts';
import { exploreHere, fits } from '../../states/explorer.ts';
import { explore } from './explore.ts';
import { PLANTS, SMALL } from './plants.ts';

describe('every state of a session that one move of any kind can reach', () => {
  it('agrees with the model, and keeps A3-5.3-2 A3-5.3-3 A3-6.5-1 A3-8-3 A3-8-6 A3-9-7 A3-10-2 A3-10-4 A3-11.4-4 AL3-5.3-4 AL3-8-13 AL3-11-7', {
    ...SLOW,
    timeout: 300_000,
  }, async () => {
    expect(await exploreHere(explore, SMALL)).toEqual({ states: 146, transitions: 393, wrong: null });
  });

  it.each(PLANTS)('can be explored with a bug: $what', (plant) => {
    expect(fits(plant)).toBe(true);
  });
});
