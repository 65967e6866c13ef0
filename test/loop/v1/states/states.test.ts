import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { fits } from '../../../states/explorer.ts';
import { PLANTS } from './plants.ts';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));

describe('every state of a loop of the v1 profile that two turns can reach', () => {
  it('agrees with the model, and keeps AL1-2.4-1 AL1-2.5-1 AL1-2.6-1 AL1-2.6-2 AL1-2.6-3 AL1-2.7-1 AL1-2.8-1 AL1-2.9-2 AL1-3-4', {
    timeout: 300_000,
  }, () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', MAIN, '--no-plants'], { encoding: 'utf8' });
    expect([stdout, stderr, status]).toEqual([
      expect.stringMatching(/^2997 states and 10165 transitions within 2 turns and 2 lines/),
      '',
      0,
    ]);
  });

  it.each(PLANTS)('can be explored with a bug: $what', (plant) => {
    expect(fits(plant)).toBe(true);
  });
});
