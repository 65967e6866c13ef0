// @module-tag slow
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../architecture/source.ts';

/** What Node prints when an error ends a process of this module. */
function printed(...args: readonly string[]): string[] {
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8', input: '' });
  expect(status).not.toBe(0);
  return stderr.split('\n');
}

/** Longer lines wrap so often in a terminal that the message leaves the screen. */
const READABLE = 240;

describe('an error that nothing catches', () => {
  it.each([
    ['neuroscript-runtime', 'await m.createRuntime({ limits: { feul: 1 } })', "ConfigError: unknown limit 'feul'"],
    ['neuroscript-runtime', "m.defineTool({ name: 'no name' })", 'ConfigError: '],
    ['neuroscript-runtime/loop', 'new m.LoopController({})', 'ConfigError: '],
    ['neuroscript-runtime/aeiou', "m.parseKeys('{}')", 'KeyError: '],
  ])('of %s prints the line that throws it, and its message: %s', (entry, call, message) => {
    const lines = printed('--input-type=module', '-e', `const m = await import('${entry}');\n${call}`);
    const at = lines.findIndex((line) => line.startsWith(message));
    const [file = '', line = ''] = lines;
    expect(at).toBeGreaterThan(1);
    expect(at).toBeLessThan(6);
    expect(file).toMatch(/\/dist\/.*\.js:\d+$/);
    expect(line).toMatch(/\bnew \w+Error\(/);
    expect(lines.slice(0, at).filter((each) => each.length > READABLE)).toEqual([]);
  });

  it('of a worker names what is wrong first', () => {
    const lines = printed('dist/worker.js');
    expect(lines[0]).toMatch(/^Error: usage: worker /);
    expect(lines.filter((line) => line.length > READABLE)).toEqual([]);
  });
});
