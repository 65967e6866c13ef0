import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ALLOW_ALL, ToolBench } from '../../src/testing/index.ts';
import { loadMockTools, loadPolicy } from '../../src/tools/index.ts';
import { ROOT } from '../architecture/source.ts';
import { SLOW } from '../groups.ts';
import { folder, neuroscript } from './spawn.ts';
import { within } from './terminal.ts';

/** The first block of YAML on a page. */
const yamlOf = (page: string): string => /^```yaml\n([\s\S]*?)^```$/m.exec(readFileSync(join(ROOT, page), 'utf8'))?.[1] ?? '';

describe('the pages about tools and policy', () => {
  it('have a tools file that does what its comments say, and a policy file', async () => {
    const [tools, policy] = [yamlOf('docs/tools.md'), yamlOf('docs/policy.md')];
    await using bench = new ToolBench(loadMockTools(tools, 'tools.yaml'), { policy: ALLOW_ALL });
    expect(await bench.call('kv.get', ['/a'])).toBe('first');
    await expect(bench.call('kv.get', ['/broken'])).rejects.toMatchObject({ nsCode: 9, message: 'nothing at /broken' });
    expect(await bench.call('kv.get', ['/slow/x'])).toBe('late');
    expect([await bench.call('kv.put', ['/b', 1]), await bench.call('kv.put', ['/b', 2])]).toEqual([true, true]);
    await expect(bench.call('kv.put', ['/b', 3])).rejects.toMatchObject({ nsCode: 20 });
    expect(await bench.call('kv.get', ['/b'])).toBe(2);
    expect([await bench.call('queue.next'), await bench.call('queue.next'), await bench.call('audit.log', ['x'])]).toEqual([
      'a',
      'b',
      null,
    ]);
    expect(loadPolicy(policy, 'policy.yaml').toolMaxCalls.get('tool.memory.cas')).toBe(10);
    expect(parse(policy)).toHaveProperty('deny');
  });
});

describe('examples/recorded-run', () => {
  const example = (file: string): string => readFileSync(join(ROOT, 'examples/recorded-run', file), 'utf8');
  const files = { 'game.ns': example('game.ns'), 'tools.ts': example('tools.ts'), 'calls.yaml': example('calls.yaml') };
  const play = (cwd: string, ...args: readonly string[]) => within(['run', 'game.ns', ...args], { cwd });

  it('its recording gives what its page shows, and a recording of the replay is the same file', async () => {
    const cwd = folder(files);
    const shown = /```text\n([\s\S]*?)```/.exec(example('README.md'))?.[1];
    expect(await play(cwd, '--tools', 'calls.yaml', '--record', 'again.yaml')).toMatchObject({ code: 0, stdout: shown });
    expect(readFileSync(join(cwd, 'again.yaml'), 'utf8')).toBe(files['calls.yaml']);
  });

  it('a new run is recorded, and replayed against its own recording to the byte', SLOW, async () => {
    const cwd = folder(files);
    // A module needs a process of its own.
    const real = await neuroscript(['run', 'game.ns', '--tools', 'tools.ts', '--record', 'new.yaml', '--json'], { cwd });
    const again = await play(cwd, '--tools', 'new.yaml', '--json');
    const { usage, ...said } = JSON.parse(real.stdout);
    const { usage: used, ...repeated } = JSON.parse(again.stdout);
    expect(repeated).toEqual(said);
    expect(used.fuel).toBe(usage.fuel);
  });
});
