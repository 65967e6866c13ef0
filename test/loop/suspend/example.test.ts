// @module-tag slow
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const folder = new URL('../../../examples/approval/', import.meta.url);

it('examples/approval waits for leave, survives kill -9 and a restart, and finishes', () => {
  const [, section = ''] = readFileSync(new URL('README.md', folder), 'utf8').split('## A call that waits\n');
  const promised = /```text\n([\s\S]*?)```/.exec(section)?.[1];
  const { status, stdout, stderr } = spawnSync(process.execPath, [new URL('approval.ts', folder).pathname], { encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: promised, stderr: '' });
}, 60_000);
