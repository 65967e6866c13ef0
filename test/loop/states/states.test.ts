import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { fits } from '../../states/explorer.ts';
import { PLANTS } from './plants.ts';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));

describe('every state of a session that one move of any kind can reach', () => {
  it('agrees with the model, and keeps A3-5.3-2 A3-5.3-3 A3-6.5-1 A3-8-3 A3-8-6 A3-9-7 A3-10-2 A3-10-4 A3-11.4-4 AL3-5.3-4 AL3-8-13 AL3-11-7', {
    timeout: 300_000,
  }, () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', MAIN, '--no-plants'], { encoding: 'utf8' });
    expect([stdout, stderr, status]).toEqual([
      expect.stringMatching(/^146 states and 393 transitions within 1 moves and 1 steps/),
      '',
      0,
    ]);
  });

  it.each(PLANTS)('can be explored with a bug: $what', (plant) => {
    expect(fits(plant)).toBe(true);
  });
});
