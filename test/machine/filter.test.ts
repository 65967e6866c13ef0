// @module-tag slow
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { type OtherNode, otherNode } from './node.ts';

const LIBRARY = JSON.stringify(new URL('../../src/sandbox/index.ts', import.meta.url).href);

/** Starts a worker, asks the kernel what holds of it, and runs a program in it. */
const PROGRAM = (launcher: string): string => `
  const { Sandbox } = await import(${LIBRARY});
  const sandbox = await Sandbox.create({ concurrency: 1, launcher: '${launcher}' });
  const cage = sandbox.launcher.cage?.name ?? null;
  process.stdout.write(JSON.stringify({ cage, lacks: [...sandbox.confinement.keys()] }));
  await sandbox.close();
`;

describe('the oldest supported Node line', () => {
  let node: OtherNode;
  beforeAll(async () => {
    node = await otherNode([24]);
  });

  it.each([
    ['none', { cage: null, lacks: ['namespaces'] }],
    ['unshare', { cage: 'unshare', lacks: [] }],
  ])('finding 4: workers under %s have a filter of system calls there, too', (launcher, expected) => {
    const { stdout, stderr } = spawnSync(node.binary, ['--no-warnings', '--input-type=module', '-e', PROGRAM(launcher)], {
      encoding: 'utf8',
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
    });
    expect(stderr).toBe('');
    const { cage, lacks } = JSON.parse(stdout);
    // Without a launcher, a host that is root has workers with its rights.
    expect({ cage, lacks: lacks.filter((lack: string) => lack !== 'rights') }).toEqual(expected);
  });
});
