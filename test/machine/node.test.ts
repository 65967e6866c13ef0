import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OtherNode, otherNode } from './node.ts';

const command = fileURLToPath(new URL('../../bin/neuroscript.js', import.meta.url));
const program = 'command\n  emit 1 + 2\nendcommand\n';
const run = (node: OtherNode): { status: number | null; stdout: string; stderr: string } =>
  spawnSync(node.binary, [command, 'run', '-'], { input: program, encoding: 'utf8', env: { PATH: process.env.PATH } });

describe('on a Node that is too old', () => {
  let node: OtherNode;
  beforeAll(() => {
    node = otherNode([20, 22, 18]);
  });
  afterAll(() => node[Symbol.dispose]());

  it('the command line says so in one sentence and exits with 2', () => {
    const { status, stdout, stderr } = run(node);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toBe(`neuroscript needs Node 24 or newer; this is Node ${node.version.slice(1)}.\n`);
  });
});

describe('on the oldest supported Node line', () => {
  let node: OtherNode;
  beforeAll(() => {
    node = otherNode([24]);
  });
  afterAll(() => node[Symbol.dispose]());

  it('a program runs', () => {
    expect(run(node)).toMatchObject({ status: 0, stdout: '3\n', stderr: '' });
  });
});
