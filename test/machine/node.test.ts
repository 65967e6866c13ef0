// @module-tag slow
import { spawnSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { tempFolder } from '../folder.ts';
import { type OtherNode, otherNode } from './node.ts';

const command = fileURLToPath(new URL('../../bin/neuroscript.js', import.meta.url));
const program = 'command\n  emit 1 + 2\nendcommand\n';
const run = (node: OtherNode): { status: number | null; stdout: string; stderr: string } =>
  spawnSync(node.binary, [command, 'run', '-'], { input: program, encoding: 'utf8', env: { PATH: process.env.PATH } });

/** Starts a worker, and prints what it complains of until it has said hello. */
const GREETED = `
  const { launch, packageFiles } = await import(${JSON.stringify(new URL('../../src/sandbox/launch.ts', import.meta.url).href)});
  const { child, frames, stderr } = launch(packageFiles(), 64 * 1024 * 1024);
  stderr.pipe(process.stdout);
  frames.once('data', () => child.kill('SIGKILL'));
  child.once('exit', (code) => (process.exitCode = code ?? 0));
`;

describe('on a Node that is too old', () => {
  let node: OtherNode;
  beforeAll(async () => {
    node = await otherNode([20, 22, 18]);
  });

  it('the command line says so in one sentence, with the way to run it in a checkout, and exits with 2', () => {
    const { status, stdout, stderr } = run(node);
    const way = '("npx neuroscript" in this checkout uses its own Node)';
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toBe(`neuroscript needs Node 24 or newer; this is Node ${node.version.slice(1)} ${way}.\n`);
  });

  it('an installed package, which has no Node of its own, says no more than the version', () => {
    const root = tempFolder();
    cpSync(command, join(root, 'bin', 'neuroscript.js'));
    writeFileSync(join(root, 'package.json'), '{"type":"module"}');
    const { status, stderr } = spawnSync(node.binary, [join(root, 'bin', 'neuroscript.js')], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: `neuroscript needs Node 24 or newer; this is Node ${node.version.slice(1)}.\n`,
    });
  });
});

describe('on the oldest supported Node line', () => {
  let node: OtherNode;
  beforeAll(async () => {
    node = await otherNode([24]);
  });

  it('a program runs', () => {
    expect(run(node)).toMatchObject({ status: 0, stdout: '3\n', stderr: '' });
  });

  it('V8 knows each flag that a worker sets', () => {
    const { status, stdout } = spawnSync(node.binary, ['--input-type=module', '-e', GREETED], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  });
});
