// @module-tag slow
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../architecture/source.ts';
import { PLANTS } from './plants.ts';

it.each(Object.keys(PLANTS))('a lost label is found: %s', { timeout: 300_000 }, (name) => {
  const main = join(ROOT, 'test/guest/flow/main.ts');
  const flags = ['--programs', '5000', '--seed', '7', '--plant', name];
  const { status, stdout } = spawnSync(process.execPath, ['--no-warnings', main, ...flags], { encoding: 'utf8' });
  expect(stdout).toContain('LEAK');
  expect(status).toBe(1);
});
