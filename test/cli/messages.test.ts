import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { command, folder } from './spawn.ts';
import { within } from './terminal.ts';

it.each([
  ['run a.ns --bound a.ns', 'a.ns:1: must be a map'],
  ['run a.ns --global-file k=', "--global-file 'k=' has no value; write --global-file NAME=FILE"],
  ['turn a.ns --turn 99999999999999999999', "--turn '99999999999999999999' is too large; the maximum is 9007199254740991"],
])('%s says which flag and file is wrong', async (line, message) => {
  const cwd = folder({ 'a.ns': command('emit 1'), 'agent.txt': '' });
  const { code, stderr } = await within(line.split(' '), { cwd });
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`neuroscript: ${message}`) });
});

it('tells keys for receipts from keys for control tokens, and public halves from private ones', async () => {
  const cwd = folder({ 'a.ns': '' });
  const keys = (...args: readonly string[]) => within(['keys', ...args], { cwd });
  expect(await keys('generate', 'r.json', '--receipts')).toMatchObject({ code: 0 });
  const other = 'neuroscript: r.json has a key for receipts and checkpoints, which neither signs nor verifies control tokens\n';
  for (const args of [
    ['keys', 'list'],
    ['keys', 'rotate'],
    ['turn', 'a.ns', '--keys'],
  ])
    expect(await within([...args, 'r.json'], { cwd })).toMatchObject({ code: 2, stderr: other });
  const verify = 'token verify x --sid s --turn 1 --nonce AAECAwQFBgcICQoLDA0ODw --keys r.json';
  expect(await within(verify.split(' '), { cwd })).toMatchObject({ code: 2, stderr: other });
  expect(await keys('generate', 'k.json')).toMatchObject({ code: 0 });
  const { stdout: halves } = await keys('export-public', 'k.json');
  const there = folder({ 'public.json': halves });
  chmodSync(join(there, 'public.json'), 0o600);
  expect(await within(['keys', 'rotate', 'public.json'], { cwd: there })).toMatchObject({
    code: 2,
    stderr: 'neuroscript: public.json has only public halves; rotate the file that has the private ones\n',
  });
});

it('says of a trial which of its settings is wrong', async () => {
  const cwd = folder({
    'agent.txt': `<<<NSENV:V3:START>>>\n<<<NSENV:V3:USERDATA>>>\n{}\n<<<NSENV:V3:ACTIONS>>>\n${command('emit 1')}<<<NSENV:V3:END>>>\n`,
  });
  await within('loop --agent script:agent.txt --store s.db --sid one'.split(' '), { cwd });
  const trial = 'replay one --store s.db --from-turn 1 --set 1.1=2 --set 1.2={'.split(' ');
  expect(await within(trial, { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('neuroscript: --set 1.2={: it is not JSON'),
  });
});

it('says of a turn and of a session that the policy denied what allows the call', async () => {
  const cwd = folder({
    'e.txt': `<<<NSENV:V3:START>>>\n<<<NSENV:V3:USERDATA>>>\n{"subject":"s","fields":{}}\n<<<NSENV:V3:ACTIONS>>>\n${command('emit tool.memory.Get("/x")')}<<<NSENV:V3:END>>>\n`,
  });
  for (const line of ['turn e.txt', 'loop --agent script:e.txt --store none']) {
    const { code, stdout } = await within(line.split(' '), { cwd });
    expect({ code, stdout }).toEqual({ code: 4, stdout: expect.stringMatching(/hint: allow it with --storage FILE/) });
  }
});

it('doctor keeps flags and amounts apart', async () => {
  const { stdout } = await within(['doctor']);
  expect(stdout).toMatch(/^ {2}--tool-calls-per-tool 100,000, at most 1,000,000,000$/m);
  expect(stdout).toMatch(/^ {2}--fuel {12}100,000,000, at most 1,000,000,000,000,000$/m);
});
