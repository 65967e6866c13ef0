import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { command, folder } from './spawn.ts';
import { within } from './terminal.ts';

const TOOLS = `tools:
  tool.fs.List: { args: [path], effects: read, cases: [{ returns: ["x", "keep"] }] }
  tool.fs.Delete: { args: [path], cases: [{ returns: null }] }
`;
const PLAN = command(
  'set found = tool.fs.List("/tmp")',
  'for each f in ["a", "b"]',
  'call tool.fs.Delete("/tmp/" + f)',
  'endfor',
  'while found',
  'call tool.fs.Delete(found[0])',
  'set found = []',
  'endwhile',
);

describe('issue 22.3: neuroscript foresee', () => {
  it('shows what a program can do, as text and as JSON, and a run is bound to it', async () => {
    const cwd = folder({ 'plan.ns': PLAN, 'tools.yaml': TOOLS, 'policy.yaml': 'allow: ["tool.fs.*"]\ndeny: ["*.delete"]\n' });
    const run = (...args: readonly string[]) => within(args, { cwd });
    const text = await run('foresee', 'plan.ns', '--tools', 'tools.yaml', '--policy', 'policy.yaml');
    expect(text).toMatchObject({ code: 0, stderr: '' });
    await expect(text.stdout).toMatchFileSnapshot('golden/foresee.txt.golden');
    const json = await run('foresee', 'plan.ns', '--tools', 'tools.yaml', '--json');
    await expect(`${JSON.stringify(JSON.parse(json.stdout), null, 2)}\n`).toMatchFileSnapshot('golden/foresee.json.golden');

    writeFileSync(join(cwd, 'preview.json'), json.stdout);
    const bound = ['--tools', 'tools.yaml', '--bound', 'preview.json'];
    expect(await run('run', 'plan.ns', ...bound)).toEqual({ code: 0, stdout: '', stderr: '' });
    writeFileSync(
      join(cwd, 'other.ns'),
      command('call tool.fs.Delete("/tmp/a")', 'call tool.fs.Delete("/etc")', 'call tool.fs.List("/etc")'),
    );
    expect(await run('run', 'other.ns', ...bound)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(
        'this call of tool.fs.list was not foreseen, and the run is bound to a preview. Foreseen: ("/tmp") once',
      ),
    });
    writeFileSync(join(cwd, 'none.json'), '{"version": 2}');
    expect(await run('run', 'plan.ns', '--bound', 'none.json')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('none.json'),
    });
  });

  it('binds a turn', async () => {
    const envelope = (...lines: readonly string[]): string =>
      [
        ...['<<<NSENV:V3:START>>>', '<<<NSENV:V3:USERDATA>>>', '{"subject":"s","fields":{}}', '<<<NSENV:V3:ACTIONS>>>'],
        ...[command(...lines).trimEnd(), '<<<NSENV:V3:END>>>\n'],
      ].join('\n');
    const done = 'emit tool.aeiou.magic("LOOP", {"action": "done"})';
    const list = (path: string): string => `call tool.fs.List(${path})`;
    const cwd = folder({
      'tools.yaml': TOOLS,
      'actions.ns': command(list('"/tmp"'), done),
      'good.txt': envelope(list('"/tmp"'), done),
      'bad.txt': envelope(list('"/etc"'), done),
    });
    const run = (...args: readonly string[]) => within([...args, '--tools', 'tools.yaml'], { cwd });
    writeFileSync(join(cwd, 'p.json'), (await run('foresee', 'actions.ns', '--turn', '--json')).stdout);
    expect(await run('turn', 'good.txt', '--bound', 'p.json')).toMatchObject({ code: 0 });
    const refused = await run('turn', 'bad.txt', '--bound', 'p.json', '--json');
    expect(refused.code).not.toBe(0);
    expect(JSON.parse(refused.stdout)).toMatchObject({ decision: 'HALT', error: { code: 'NS1003' } });
  });
});
