// @module-tag slow
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { nodeOf, prepared, run, succeed } from './kit.ts';

/**
 * What a newcomer needs at most, from the tarball to the replay, in elapsed seconds. A machine with nothing else to do takes about
 * ten, so that a busy one keeps it too.
 */
const MOST_SECONDS = 120;

/** Fails for more, and prints how long the newcomer took. */
function withinTwoMinutes(what: string, started: number): void {
  const seconds = (performance.now() - started) / 1000;
  process.stdout.write(`${what}: ${seconds.toFixed(1)} s of ${MOST_SECONDS}\n`);
  expect(seconds).toBeLessThan(MOST_SECONDS);
}

/** A folder that belongs to no project. */
function elsewhere(): string {
  const folder = mkdtempSync(join(tmpdir(), 'neuroscript-newcomer-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The commands of a page's shell blocks, in order. */
function commandsOf(page: string): string {
  return [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, code]) => code).join('');
}

describe.each([24, 26] as const)('somebody without the clone, on Node %i,', (major) => {
  const node = nodeOf(major);

  it('installs the tarball; runs, tests, loops, lists and replays what init wrote, as its README says, in two minutes', () => {
    const started = performance.now();
    const cwd = elsewhere();
    const call = { cwd, node: node.binary, env: { XDG_STATE_HOME: join(cwd, 'state') } };
    succeed('npm', ['install', prepared().tarball], call);
    expect(succeed('npx', ['--no', 'neuroscript', 'init'], call).split('\n')).toContain('order.ns');
    const script = commandsOf(readFileSync(join(cwd, 'README.md'), 'utf8'));
    const said = succeed('bash', ['-euo', 'pipefail', '-c', script], call);
    for (const part of [
      '\ntotal: 15\n',
      'no mistakes found',
      '4 passed, 0 failed',
      /pass 2\n/,
      'DONE after 2 turns',
      'first  done  2 turns',
      '2 same',
    ])
      expect(said).toMatch(part);
    expect(said).not.toMatch(/fail [1-9]/);
    withinTwoMinutes(`newcomer on Node ${major}`, started);
  });

  it('writes a service without installing anything first, and its tests pass, in two minutes', () => {
    const started = performance.now();
    const cwd = elsewhere();
    const call = { cwd, node: node.binary, env: { npm_config_cache: prepared().cache } };
    succeed('npx', ['--yes', '-p', prepared().tarball, 'neuroscript', 'init', 'shop', '--service'], call);
    const project = { cwd: join(cwd, 'shop'), node: node.binary };
    succeed('npm', ['install', prepared().tarball], project);
    expect(existsSync(join(project.cwd, '.gitignore'))).toBe(true);
    const { status, stdout } = run('node', ['--test'], project);
    expect(status, stdout).toBe(0);
    expect(stdout).toMatch(/pass 8\n/);
    withinTwoMinutes(`service on Node ${major}`, started);
  });
});
