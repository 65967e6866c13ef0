import { expect, it } from 'vitest';
import { reply } from '../aeiou/kit.ts';
import { command, folder } from './spawn.ts';
import { within } from './terminal.ts';

it('issue 47, price: foresee says what such calls usually cost, by the recorded turns of a store', async () => {
  const cwd = folder({
    'tools.yaml': `tools:
  tool.t.Print: { args: [pages], cost: { usd: { each: 0.002, of: pages } }, cases: [{ when: { pages: 9 }, throws: { code: 21, message: jam } }, { when: { pages: 0 }, throws: { code: 21, message: jam } }], otherwise: { returns: 1 } }
  tool.t.Free: { args: [], otherwise: { returns: 1 } }
`,
    'agent.txt': reply(
      command(
        'on error do',
        'clear_error',
        'endon',
        ...[5, 1, 1, 9, 0].map((pages) => `call tool.t.Print(${pages})`),
        'call tool.t.Free()',
        'emit tool.aeiou.magic("LOOP", {"action": "done"})',
      ),
    ),
    'next.ns': command('call tool.t.Print(tool.t.Free())'),
  });
  const run = (...args: readonly string[]) => within(args, { cwd });
  await run('loop', '--agent', 'script:agent.txt', '--tools', 'tools.yaml', '--store', 's.db');
  const foresee = ['foresee', 'next.ns', '--tools', 'tools.yaml'];
  expect((await run(...foresee)).stdout).not.toContain('usually');
  // Of 1, 1, 5 and 9 pages: the call that failed was paid, and the one that failed for nothing does not count.
  const shown = await run(...foresee, '--store', 's.db', '--html', 'page.html');
  expect(shown.stdout).toContain('cost: no bound but the limit, usually $0.002 a call (median of 4)');
  expect(shown.stdout.match(/usually/g)).toHaveLength(1);
  const { calls } = JSON.parse((await run(...foresee, '--store', 's.db', '--json')).stdout);
  expect(calls.map(({ usually = null }) => usually)).toEqual([null, { usd: 0.002, calls: 4 }]);
  const granted = await run(...foresee, '--store', 's.db', '--grant', 'next.grant.yaml');
  expect(granted.stdout).toContain('cost: no bound but the limit, usually $0.002 a call (median of 4)');
  expect(granted.stdout).toContain('all of it costs at most $100.00, by the limit of the run');
  expect(await run(...foresee, '--store', 'none.db')).toMatchObject({ code: 2, stderr: expect.stringContaining('none.db') });
});
