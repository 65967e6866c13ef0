// @module-tag slow
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../architecture/source.ts';
import { PLANTS } from './plants.ts';

it('issue 46: each of more than 20 lost labels is found', { timeout: 120_000 }, () => {
  const main = join(ROOT, 'test/guest/flow/main.ts');
  const { stdout } = spawnSync(process.execPath, ['--no-warnings', main, '--programs', '3000', '--seed', '7', '--planted'], {
    encoding: 'utf8',
  });
  const found = [...stdout.matchAll(/^(.*): found in /gm)].map(([, name]) => name);
  expect(found).toEqual(Object.keys(PLANTS));
  expect(found.length).toBeGreaterThan(20);
});
