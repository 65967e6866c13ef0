import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { fits } from '../../states/explorer.ts';
import { PLANTS } from './plants.ts';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));

describe('every state of an approval that two moves and one fault can reach', () => {
  it('agrees with the model, and keeps ARGO-3-3c ARGO-5-3 ARGO-5-5 ARGO-5-8 ARGO-6-1 ARGO-6-2 ARGO-6-9 ARGO-7-1 ARGO-9-2 ARGO-R4 ARGO-R5', {
    timeout: 300_000,
  }, () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', MAIN, '--no-plants'], { encoding: 'utf8' });
    expect([stdout, stderr, status]).toEqual([
      expect.stringMatching(/^1059 states and 6916 transitions within 2 moves and 1 faults/),
      '',
      0,
    ]);
  });

  it.each(PLANTS)('can be explored with a bug: $what', (plant) => {
    expect(fits(plant)).toBe(true);
  });
});
