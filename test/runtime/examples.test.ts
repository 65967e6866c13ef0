// @module-tag slow
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const folder = new URL('../../examples/custom-tool/', import.meta.url);

it('examples/custom-tool prints what its page says', () => {
  const page = readFileSync(new URL('README.md', folder), 'utf8');
  const promised = /```text\n([\s\S]*?)```/.exec(page)?.[1];
  const { status, stdout, stderr } = spawnSync(process.execPath, [new URL('main.ts', folder).pathname], { encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: promised, stderr: '' });
});
