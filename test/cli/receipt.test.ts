import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { command, folder } from './spawn.ts';
import { within } from './terminal.ts';

const AGENT = `<<<NSENV:V3:START>>>
<<<NSENV:V3:USERDATA>>>
{"subject":"s","fields":{}}
<<<NSENV:V3:ACTIONS>>>
${command('emit tool.str.ToUpper("word")', 'emit tool.aeiou.magic("LOOP", {"action": "done"})')}<<<NSENV:V3:END>>>
`;

it('issue 23: a receipt is issued, verified, redacted; a checkpoint shows a log that was written anew', async () => {
  const cwd = folder({ 'agent.txt': AGENT });
  const run = (...args: readonly string[]) => within(args, { cwd });
  const drive = ['--agent', 'script:agent.txt', '--store', 's.db', '--log', 'd.log'];
  expect(await run('loop', ...drive, '--sid', 'one')).toMatchObject({ code: 0 });
  expect(await run('keys', 'generate', 'r.key', '--receipts')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('receipts'),
  });
  const half = await run('keys', 'export-public', 'r.key');
  expect(half.stdout).not.toContain('seed');
  writeFileSync(join(cwd, 'r.pub'), half.stdout, { mode: 0o644 });
  expect(await run('keys', 'generate', 'k.json')).toMatchObject({ code: 0 });

  const issue = ['sessions', 'receipt', 'one', '--store', 's.db'];
  const refused = await run(...issue, '--key', 'k.json', '--out', 'one.receipt');
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('keys of control tokens do not sign them') });
  expect(await run(...issue, '--key', 'r.pub')).toMatchObject({ code: 2 });
  expect(await run(...issue, '--key', 'r.key', '--out', 'one.receipt')).toMatchObject({ code: 0 });
  const verify = (file: string, ...flags: readonly string[]) => run('receipt', 'verify', file, '--key', 'r.pub', ...flags);
  expect(await verify('one.receipt', '--whole')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('turn 1  DONE  same'),
  });

  expect(await run('receipt', 'redact', 'one.receipt', '--part', '*.journal.*', '--out', 'less.receipt')).toMatchObject({
    code: 0,
  });
  const less = await verify('less.receipt');
  expect(less).toMatchObject({ code: 0, stdout: expect.stringContaining('turn 1  DONE  verified') });
  expect(less.stdout).toContain('parts withheld: 1');
  expect(await verify('less.receipt', '--whole')).toMatchObject({ code: 1 });
  expect(await run('receipt', 'redact', 'one.receipt', '--part', '9.*')).toMatchObject({ code: 2 });

  const text = readFileSync(join(cwd, 'one.receipt'), 'utf8');
  writeFileSync(join(cwd, 'forged.receipt'), text.replaceAll('WORD', 'WARD'));
  const forged = await verify('forged.receipt');
  expect(forged).toMatchObject({ code: 1, stdout: expect.stringContaining('turn 1  DONE  differs') });
  expect(forged.stdout).toContain('FAULT: part 1.output was changed: its digest does not fit');

  expect(await run('log', 'checkpoint', 'd.log', '--key', 'r.key', '--out', 'c.json')).toMatchObject({ code: 0 });
  const since = ['--since', 'c.json', '--key', 'r.pub'];
  expect(await run('loop', ...drive, '--sid', 'two')).toMatchObject({ code: 0 });
  expect(await run('log', 'verify', 'd.log', ...since)).toMatchObject({ code: 0, stdout: expect.stringContaining('2 lines') });
  expect(await run('log', 'verify', 'd.log', '--since', 'c.json')).toMatchObject({ code: 2 });
  expect(await run('loop', '--agent', 'script:agent.txt', '--store', 'none', '--log', 'anew.log')).toMatchObject({ code: 0 });
  const anew = await run('log', 'verify', 'anew.log', ...since);
  expect(anew).toMatchObject({ code: 1, stdout: expect.stringContaining('the log was written anew') });
  writeFileSync(join(cwd, 'cut.log'), '');
  expect(await run('log', 'checkpoint', 'none.log', '--key', 'r.key')).toMatchObject({ code: 2 });
  expect(await run('log', 'verify', 'cut.log', ...since)).toMatchObject({ code: 1, stdout: expect.stringContaining('cut off') });
  writeFileSync(join(cwd, 'broken.log'), '{}\n');
  expect(await run('log', 'checkpoint', 'broken.log', '--key', 'r.key')).toMatchObject({ code: 1, stdout: '' });
});
