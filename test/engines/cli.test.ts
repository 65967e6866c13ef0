// @module-tag slow
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { ROOT } from '../architecture/source.ts';
import { tempFolder } from '../folder.ts';
import { ENGINES, pgPool, ROUNDS } from './kit.ts';
import { FaultyProxy } from './proxy.ts';

const folder = tempFolder();
beforeAll(async () => {
  const pool = await pgPool(inject('url'));
  await pool.query('DROP SCHEMA IF EXISTS neuroscript CASCADE');
  await pool.end();
});

const STORE = (): string => inject('url');

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where and with what commands run: they find the client of the database. */
const place = () => ({
  cwd: folder,
  env: { ...process.env, NODE_OPTIONS: `--import=${pathToFileURL(join(ENGINES, 'resolve.mjs')).href}`, NO_COLOR: '1' },
});

/** Runs a command, which may never print the password. */
const neuroscript = (...argv: readonly string[]): Promise<Ended> => neuroscriptWith('', ...argv);

async function neuroscriptWith(stdin: string, ...argv: readonly string[]): Promise<Ended> {
  const ended = await new Promise<Ended>((resolve) => {
    const child = execFile(process.execPath, [join(ROOT, 'bin/neuroscript.js'), ...argv], place(), (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
    child.stdin?.on('error', () => {}).end(stdin);
  });
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
  expect(JSON.parse(migrated.stdout)).toMatchObject({ from: 0, to: 1 });
  expect(await neuroscript('store', 'migrate', '--store', STORE())).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/form 1\n$/),
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
    stdout: expect.stringMatching(/^1 line, unbroken; head /),
  });
  const status = await neuroscript('store', 'status', '--store', STORE(), '--json');
  expect(JSON.parse(status.stdout)).toMatchObject({ form: 1, sessions: { done: 1 }, ready: 0, owed: 0, unsealed: 0 });
  expect((await neuroscript('store', 'status', '--store', STORE())).stdout).toContain('1 done');
  expect(await neuroscript('sessions', 'complete', 's', '--call', '1.1', '--result', '1', '--store', STORE())).toMatchObject({
    code: 2,
  });
  const line = (sid: string): string => `{"sid":"${sid}","userdata":{"subject":"s","fields":{}}}\n`;
  expect(await neuroscriptWith(`${line('a')}${line('b')}`, 'sessions', 'open', '--jsonl', '--store', STORE())).toMatchObject({
    code: 0,
    stdout: '{"sid":"a"}\n{"sid":"b"}\n',
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

it('issue 20: a host behind a pooler listens past it, and goes on with a turn that was completed in the database', async () => {
  const program = (...lines: readonly string[]): string => AGENT.replace('command\n', ['command', ...lines, ''].join('\n'));
  await writeFile(join(folder, 'waits.txt'), program('  emit tool.h.Approve()'));
  await writeFile(
    join(folder, 'tools.mjs'),
    "export const tools = [{ name: 'tool.h.Approve', returns: 'bool', run: (_, runtime) => runtime.pending({ reason: 'may I?' }) }];\n",
  );
  await writeFile(
    join(folder, 'serve.yaml'),
    'keys: k.json\nprofiles:\n  default: { agent: "script:waits.txt", tools: tools.mjs }\n',
  );
  await using pooler = await FaultyProxy.open(STORE());
  const direct = new URL(STORE());
  direct.searchParams.set('application_name', 'past the pooler');
  const pool = await pgPool(STORE());
  await pool.query('DROP SCHEMA IF EXISTS neuroscript CASCADE');
  expect(await neuroscript('keys', 'generate', 'k.json')).toMatchObject({ code: 0 });
  expect(await neuroscript('store', 'migrate', '--store', STORE())).toMatchObject({ code: 0 });
  const flags = ['--store', pooler.url(STORE()), '--store-listen', direct.href, '--config', 'serve.yaml'];
  const host = spawn(process.execPath, [join(ROOT, 'bin/neuroscript.js'), 'serve', ...flags], { ...place(), stdio: 'ignore' });
  try {
    const listening = async () =>
      (await pool.query("SELECT application_name AS by FROM pg_stat_activity WHERE query LIKE 'LISTEN %'")).rows;
    await expect.poll(listening, { timeout: 300_000 }).toEqual([{ by: 'past the pooler' }]);
    expect(await neuroscript('sessions', 'open', '--sid', 'w', '--store', STORE())).toMatchObject({ code: 0, stdout: 'w\n' });
    const status = async () =>
      (await pool.query("SELECT CASE WHEN waits_until IS NULL THEN status ELSE 'waits' END AS is FROM neuroscript.sessions"))
        .rows;
    await expect.poll(status, { timeout: 300_000 }).toEqual([{ is: 'waits' }]);
    const answer = ['sessions', 'complete', 'w', '--call', '1.1', '--result', 'true', '--tools', 'tools.mjs', '--store', STORE()];
    expect(await neuroscript(...answer)).toMatchObject({ code: 0, stderr: '' });
    await expect.poll(status, { timeout: 300_000 }).toEqual([{ is: 'done' }]);
    expect((await neuroscript('sessions', 'show', 'w', '--store', STORE())).stdout).toContain('true');
    host.kill('SIGTERM');
    expect(await once(host, 'exit')).toEqual([0, null]);
  } finally {
    host.kill('SIGKILL');
    await pool.end();
  }
  expect(await neuroscript('serve', '--store', 's.db', ...flags.slice(2))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--store-listen needs a --store of the form postgres://'),
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

describe.each(ROUNDS)('issue 48: faults that an operator sees, round %i', (round) => {
  it('a host whose database stops or is cut off says so in readiness and metrics, and goes on when it is back', async () => {
    await using proxy = await FaultyProxy.open(STORE());
    await writeFile(join(folder, 'agent.txt'), AGENT);
    await writeFile(
      join(folder, 'ready.yaml'),
      'agent: script:agent.txt\nlisten: 127.0.0.1:0\nleaseMs: 3000\nlimits: { concurrency: 1 }\n',
    );
    const args = ['serve', '--store', proxy.url(STORE()), '--config', 'ready.yaml', '--launcher', 'none'];
    const host = spawn(process.execPath, [join(ROOT, 'bin/neuroscript.js'), ...args], place());
    let said = '';
    host.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    try {
      await expect.poll(() => said, { timeout: 60_000 }).toContain('serving');
      const url = /http:\S+/.exec(said)?.[0] ?? '';
      const ask = async (path: string): Promise<string> => {
        const answer = await fetch(`${url}${path}`);
        return `${answer.status} ${await answer.text()}`;
      };
      const metrics = () => ask('/metrics');
      await expect.poll(() => ask('/readyz'), { timeout: 60_000 }).toBe('200 ready\nstore: ok\n');
      expect(await metrics()).toContain('neuroscript_part_up{part="store"} 1\n');
      proxy.hush();
      // Every probe says so, from the first one on.
      for (let probe = 0; probe < 3; probe++) expect(await ask('/readyz')).toBe('503 not ready\nstore: no answer within 2 s\n');
      const stopped = await metrics();
      expect(stopped).toContain('neuroscript_part_up{part="store"} 0\n');
      expect(stopped).not.toContain('neuroscript_people_waiting 0');
      expect((await ask('/healthz')).slice(0, 4)).toBe('200 ');
      proxy.mend();
      await expect.poll(() => ask('/readyz'), { timeout: 60_000 }).toBe('200 ready\nstore: ok\n');
      proxy.cut();
      await expect
        .poll(() => ask('/readyz'), { timeout: 60_000 })
        .toMatch(/^503 (not ready|unreachable)\nstore: postgres:.* cannot be used/);
      await expect
        .poll(metrics, { timeout: 60_000 })
        .toMatch(/neuroscript_host_ready 0\n(.*\n)*neuroscript_host_errors_total [1-9]/);
      proxy.mend();
      await expect.poll(() => ask('/readyz'), { timeout: 60_000 }).toBe('200 ready\nstore: ok\n');
      expect(await metrics()).toMatch(/^neuroscript_sessions\{state="ready",class="none"\} \d+$/m);
      // As a standby after a failover, which answers and takes no write.
      const pool = await pgPool(STORE());
      const readOnly = async (set: string): Promise<void> => {
        await pool.query(`ALTER SYSTEM ${set}`);
        await pool.query('SELECT pg_reload_conf()');
      };
      await readOnly('SET default_transaction_read_only = on');
      try {
        await expect.poll(() => ask('/readyz'), { timeout: 60_000 }).toMatch(/^503 .*\nstore: .* read-only transaction/);
      } finally {
        await readOnly('RESET default_transaction_read_only');
        await pool.end();
      }
      await expect.poll(() => ask('/readyz'), { timeout: 60_000 }).toBe('200 ready\nstore: ok\n');
    } finally {
      host.kill('SIGTERM');
      await once(host, 'exit');
    }
    expect(host.exitCode).toBe(0);
  });

  it('turns that a stall of the database took from their host go on in it, and metrics tell of the stall', async () => {
    await using proxy = await FaultyProxy.open(STORE());
    await writeFile(join(folder, 'slow.txt'), AGENT.replace('command\n', 'command\n  emit tool.w.Slow()\n'));
    await writeFile(
      join(folder, 'slow.mjs'),
      `import { appendFileSync } from 'node:fs';
     import { setTimeout } from 'node:timers/promises';
     const run = async () => { appendFileSync('pids-${round}', process.pid + '\\n'); await setTimeout(6000); return 1; };
     export const tools = [{ name: 'tool.w.Slow', run }];\n`,
    );
    await writeFile(
      join(folder, 'slow.yaml'),
      'agent: script:slow.txt\ntools: slow.mjs\nlisten: 127.0.0.1:0\nleaseMs: 3000\nlimits: { concurrency: 1 }\n',
    );
    for (const sid of ['a', 'b', 'c']) await neuroscript('sessions', 'open', `slow-${round}-${sid}`, '--store', STORE());
    const args = ['serve', '--store', proxy.url(STORE()), '--config', 'slow.yaml', '--launcher', 'none'];
    const host = spawn(process.execPath, [join(ROOT, 'bin/neuroscript.js'), ...args], place());
    let said = '';
    host.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    try {
      const pids = async (): Promise<readonly string[]> =>
        (await readFile(join(folder, `pids-${round}`), 'utf8').catch(() => '')).trim().split('\n');
      await expect.poll(async () => (await pids()).length, { timeout: 60_000 }).toBe(3);
      proxy.cut();
      await sleep(4200);
      proxy.mend();
      const listed = async () =>
        (await neuroscript('sessions', 'list', '--where', `slow-${round} status:done`, '--store', STORE())).stdout
          .trim()
          .split('\n').length;
      await expect.poll(listed, { timeout: 90_000, interval: 500 }).toBe(3);
      expect(new Set(await pids())).toEqual(new Set([String(host.pid)]));
      const url = /http:\S+/.exec(said)?.[0] ?? '';
      const text = await (await fetch(`${url}/metrics`)).text();
      expect(text).toMatch(/^neuroscript_leases_lost_total ([3-9]|\d\d)$/m);
      // What the metrics count is what the log has.
      expect(text).toMatch(/^neuroscript_decisions_total\{decision="DONE"\} 3$/m);
    } finally {
      host.kill('SIGTERM');
      await once(host, 'exit');
    }
  });
});
