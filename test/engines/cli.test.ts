import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { ROOT } from '../architecture/source.ts';
import { ENGINES, pgPool } from './kit.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'engines-cli-'));
  const pool = await pgPool(inject('url'));
  await pool.query('DROP SCHEMA IF EXISTS neuroscript CASCADE');
  await pool.end();
});
afterAll(() => rm(folder, { recursive: true }));

const STORE = (): string => inject('url');

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command, which may never print the password. */
async function neuroscript(...argv: readonly string[]): Promise<Ended> {
  const NODE_OPTIONS = `--import=${pathToFileURL(join(ENGINES, 'resolve.mjs')).href}`;
  const ended = await new Promise<Ended>((resolve) =>
    execFile(
      process.execPath,
      [join(ROOT, 'bin/neuroscript.js'), ...argv],
      { cwd: folder, env: { ...process.env, NODE_OPTIONS, NO_COLOR: '1' } },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    ),
  );
  const { password } = new URL(STORE());
  if (password !== '') expect(ended.stdout + ended.stderr).not.toContain(password);
  return ended;
}

const AGENT = `<<<NSENV:V3:START>>>
<<<NSENV:V3:USERDATA>>>
{"subject":"s","fields":{}}
<<<NSENV:V3:ACTIONS>>>
command
  emit tool.aeiou.magic("LOOP", {"action": "done"})
endcommand
<<<NSENV:V3:END>>>
`;

it('issue 20: every command on sessions takes the address of a database, and prints no password', async () => {
  await writeFile(join(folder, 'agent.txt'), AGENT);
  const early = await neuroscript('sessions', 'list', '--store', STORE());
  expect(early).toMatchObject({ code: 2, stderr: expect.stringContaining('run neuroscript store migrate') });
  const migrated = await neuroscript('store', 'migrate', '--store', STORE(), '--json');
  expect(migrated).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(migrated.stdout)).toMatchObject({ from: 0, to: 2 });
  expect(await neuroscript('store', 'migrate', '--store', STORE())).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/form 2\n$/),
  });
  const loop = await neuroscript('loop', '--agent', 'script:agent.txt', '--sid', 's', '--store', STORE());
  expect(loop).toMatchObject({ code: 0, stdout: expect.stringContaining('DONE') });
  expect(await neuroscript('sessions', 'list', '--store', STORE())).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^s +done/),
  });
  expect(await neuroscript('sessions', 'show', 's', '--store', STORE())).toMatchObject({ code: 0 });
  expect(await neuroscript('replay', 's', '--store', STORE())).toMatchObject({ code: 0 });
  expect(JSON.parse((await neuroscript('sessions', 'export', '--store', STORE())).stdout)).toMatchObject({
    sessions: [{ sid: 's' }],
  });
  expect(await neuroscript('log', 'verify', '--store', STORE())).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^1 lines, unbroken; head /),
  });
  const status = await neuroscript('store', 'status', '--store', STORE(), '--json');
  expect(JSON.parse(status.stdout)).toMatchObject({ form: 2, sessions: { done: 1 }, ready: 0, owed: 0, unsealed: 0 });
  expect((await neuroscript('store', 'status', '--store', STORE())).stdout).toContain('1 done');
  expect(await neuroscript('sessions', 'complete', 's', '--call', '1.1', '--result', '1', '--store', STORE())).toMatchObject({
    code: 2,
  });
  expect(await neuroscript('sessions', 'prune', '--older-than', '0s', '--store', STORE())).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('1 session removed'),
  });
  const pool = await pgPool(STORE());
  await pool.query(`UPDATE neuroscript.decisions SET text = replace(text, 'DONE', 'ABORT')`);
  await pool.end();
  expect(await neuroscript('log', 'verify', '--store', STORE())).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('line 1: it was changed'),
  });
}, 300_000);

it('issue 20: a database that cannot be reached is named, without its password', async () => {
  const ended = await neuroscript('sessions', 'list', '--store', 'postgres://me:geheim@127.0.0.1:1/app');
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('postgres://127.0.0.1:1/app cannot be used') });
  expect(ended.stderr).not.toContain('geheim');
  const odd = await neuroscript('sessions', 'list', '--store', 'postgres://me:geheim@[:1');
  expect(odd.code).toBe(2);
  expect(odd.stderr).not.toContain('geheim');
});
