// @module-tag slow
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../architecture/source.ts';
import { commandOf } from './kit.ts';

/** What the official inspector prints about `neuroscript tools mcp` for one method. */
function inspect(...args: readonly string[]): Record<string, unknown> {
  const inspector = commandOf('@modelcontextprotocol/inspector', 'mcp-inspector');
  const server = [process.execPath, join(ROOT, 'bin/neuroscript.js'), 'tools', 'mcp'];
  const { stdout, stderr } = spawnSync(process.execPath, [inspector, '--cli', ...server, '--method', ...args], {
    cwd: tmpdir(),
    encoding: 'utf8',
  });
  if (!stdout.startsWith('{')) throw new Error(stdout + stderr);
  return JSON.parse(stdout);
}

describe('the official inspector', () => {
  it('lists the tools, resources and prompts', () => {
    const named = (...names: readonly string[]) => names.map((name) => expect.objectContaining({ name }));
    expect(inspect('tools/list')).toMatchObject({ tools: named('run', 'check', 'turn', 'tools') });
    expect(inspect('resources/list')).toMatchObject({ resources: named('language', 'tools') });
    expect(inspect('prompts/list')).toMatchObject({ prompts: named('language') });
  });

  it('calls tools and reads resources', () => {
    const src = 'command\n  emit 6 * 7\nendcommand';
    const run = inspect('tools/call', '--tool-name', 'run', '--tool-arg', `src=${src}`);
    expect(run).toMatchObject({ isError: false, structuredContent: { ok: true, values: [42] } });
    const page = inspect('resources/read', '--uri', 'neuroscript://errors/NS14');
    expect(page).toMatchObject({ contents: [{ text: expect.stringContaining('DivisionByZero') }] });
  });
});
