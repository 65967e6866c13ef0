// @module-tag slow
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../architecture/source.ts';
import { ENTRIES, installed, nodeOf, PROGRAM, prepared, projectOf, run, succeed } from './kit.ts';

/** A folder that belongs to no project. */
let elsewhere = '';

beforeAll(() => {
  elsewhere = mkdtempSync(join(tmpdir(), 'neuroscript-elsewhere-'));
});
afterAll(() => rmSync(elsewhere, { recursive: true, force: true }));

describe.each([24, 26] as const)('on Node %i', (major) => {
  const node = nodeOf(major);

  it('npm install of the tarball gives the command', () => {
    const call = { cwd: prepared().project, input: PROGRAM, node: node.binary };
    expect(run('npx', ['--no', 'neuroscript', 'run', '-'], call)).toMatchObject({ status: 0, stdout: '3\n' });
    expect(succeed('node', ['--version'], call).trim()).toBe(node.version);
  });
});

describe('a clone', () => {
  it('runs its own command by npx, also from a pipe and at the first time, and keeps its build', () => {
    const built = (): number => statSync(join(ROOT, 'dist', 'cli.js')).mtimeMs;
    const before = built();
    const call = { cwd: ROOT, input: PROGRAM, env: { npm_config_cache: prepared().cache } };
    expect(run('npx', ['neuroscript', 'run', '-'], call)).toMatchObject({ status: 0, stdout: '3\n' });
    expect(run('npx', ['neuroscript', 'run', '-'], call)).toMatchObject({ status: 0, stdout: '3\n' });
    expect(built()).toBe(before);
  });

  it('gives the command as a dependency by its folder', () => {
    const cwd = projectOf({ 'package.json': '{ "private": true }' });
    succeed('npm', ['install', ROOT], { cwd });
    expect(run('npx', ['--no', 'neuroscript', 'run', '-'], { cwd, input: PROGRAM })).toMatchObject({ status: 0, stdout: '3\n' });
  });
});

describe('the committed state of a clone', () => {
  it('gives the command as a git dependency, which npm builds', () => {
    const cwd = projectOf({ 'package.json': '{ "private": true }' });
    succeed('npm', ['install', `git+file://${ROOT}`], { cwd });
    expect(run('npx', ['--no', 'neuroscript', 'run', '-'], { cwd, input: PROGRAM })).toMatchObject({ status: 0, stdout: '3\n' });
  });
});

describe.each([20, 22] as const)('on Node %i, which is too old', (major) => {
  const node = nodeOf(major);

  it('every entry point says so in one sentence', () => {
    const tried = ENTRIES.map((entry) => `await import('${entry}').catch(({ message }) => console.log(message));`);
    const cwd = projectOf({ 'index.mjs': tried.join('\n') });
    const said = `neuroscript-runtime needs Node 24 or newer; this is Node ${node.version.slice(1)}.\n`;
    expect(succeed(node.binary, ['index.mjs'], { cwd, node: node.binary })).toBe(said.repeat(ENTRIES.length));
  });

  it('the command says so in one sentence', () => {
    const command = join(installed(), 'bin', 'neuroscript.js');
    const { stdout, ...rest } = run(node.binary, [command, 'run', '-'], { cwd: elsewhere, input: PROGRAM, node: node.binary });
    const said = `neuroscript needs Node 24 or newer; this is Node ${node.version.slice(1)}.\n`;
    expect({ stdout, ...rest }).toEqual({ status: 2, stdout: '', stderr: said });
  });
});
