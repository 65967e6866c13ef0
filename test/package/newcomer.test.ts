// @module-tag slow
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { nodeOf, prepared, run, succeed } from './kit.ts';

/** Most elapsed seconds. A machine with nothing else to do takes about ten, so that a busy one keeps it too. */
const MOST_SECONDS = 120;

describe.each([24, 26] as const)('somebody without the clone, on Node %i,', (major) => {
  const node = nodeOf(major);

  it('writes a service in a folder without any package, and its tests pass, in two minutes', () => {
    const started = performance.now();
    const cwd = mkdtempSync(join(tmpdir(), 'neuroscript-newcomer-'));
    onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
    const call = { cwd, node: node.binary, env: { npm_config_cache: prepared().cache } };
    succeed('npx', ['--yes', '-p', prepared().tarball, 'neuroscript', 'init', 'shop', '--service'], call);
    const project = { cwd: join(cwd, 'shop'), node: node.binary };
    succeed('npm', ['install', prepared().tarball], project);
    expect(existsSync(join(project.cwd, '.gitignore'))).toBe(true);
    const { status, stdout } = run('node', ['--test'], project);
    expect(status, stdout).toBe(0);
    expect(stdout).toMatch(/pass 8\n/);
    expect((performance.now() - started) / 1000).toBeLessThan(MOST_SECONDS);
  });
});
