import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { fits } from '../../states/explorer.ts';
import { PLANTS } from './plants.ts';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));

describe('every call under every policy of a set, and up to four calls under bounds, approvals and limits', () => {
  it('agrees with the model, and keeps A3-11.2-1 AL3-7-2 ARGO-8-2', { timeout: 300_000 }, () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', MAIN, '--no-plants'], { encoding: 'utf8' });
    expect([stdout, stderr, status]).toEqual([
      expect.stringMatching(/^21286 states and 45456 transitions within 1 calls/),
      '',
      0,
    ]);
  });

  it.each(PLANTS)('can be explored with a bug: $what', (plant) => {
    expect(fits(plant)).toBe(true);
  });
});
