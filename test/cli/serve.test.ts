// @module-tag slow
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { BIN, command, folder } from './spawn.ts';
import { within } from './terminal.ts';

const envelope = (...lines: readonly string[]): string =>
  `<<<NSENV:V3:START>>>\n<<<NSENV:V3:USERDATA>>>\n{"subject":"s","fields":{}}\n<<<NSENV:V3:ACTIONS>>>\n${command(...lines)}<<<NSENV:V3:END>>>\n`;
const magic = (action: string): string => `emit tool.aeiou.magic("LOOP", {"action": "${action}"})`;
const FILES = {
  'agent.txt':
    envelope('emit tool.w.Note()', 'ask "critic", "well?" into answer', magic('continue')) +
    envelope('emit tool.w.Note()', magic('done')),
  'tools.mjs': `import { appendFileSync } from 'node:fs';
    export const tools = [{ name: 'tool.w.Note', run: (_, { call }) => { appendFileSync('notes.txt', call.key + '\\n'); return 1; } }];`,
  'critic.txt': envelope(magic('done')),
  'models.yaml': 'models:\n  critic: { provider: script, model: critic.txt }\n',
  'serve.yaml':
    'keys: k.json\nlog: log.jsonl\nlisten: 127.0.0.1:0\nleaseMs: 1000\nprofiles:\n  default:\n    agent: script:agent.txt\n    models: models.yaml\n    tools: tools.mjs\n    limits: { fuel: 100000, concurrency: 1 }\n',
  'wrong.yaml': 'keys: k.json\nprofiles:\n  default:\n    agent: script:agent.txt\n    tolls: tools.mjs\n',
};

const linesOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

/** A host, and what it has said so far. */
async function serve(cwd: string, owner: string) {
  const child = spawn(process.execPath, [BIN, 'serve', '--store', 's.db', '--config', 'serve.yaml', '--owner', owner], { cwd });
  onTestFinished(() => void child.kill('SIGKILL'));
  const said: string[] = [];
  child.stderr.on('data', (chunk) => said.push(String(chunk)));
  await expect.poll(() => said.join(''), { timeout: 20_000 }).toContain('serving');
  return { child, said, url: /http:\S+/.exec(said.join(''))?.[0] ?? '' };
}

async function stopped(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null) await once(child, 'exit');
  return child.exitCode;
}

async function done(cwd: string): Promise<number> {
  const { stdout } = await within(['sessions', 'list', '--store', 's.db', '--json'], { cwd });
  return (linesOf(stdout) as readonly { status: string }[]).filter(({ status }) => status === 'done').length;
}

it('issue 20: hosts serve one store, tell about themselves, and drain at a signal', async () => {
  const cwd = folder(FILES);
  expect(await within(['keys', 'generate', 'k.json'], { cwd })).toMatchObject({ code: 0 });
  const wrong = await within(['serve', '--store', 's.db', '--config', 'wrong.yaml'], { cwd });
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringMatching(/wrong\.yaml:5: profiles\.default\.tolls: unknown key/) });
  for (const sid of ['one', 'two']) {
    const opened = await within(['sessions', 'open', '--store', 's.db', '--sid', sid, '--durable', 'call'], { cwd });
    expect(opened).toMatchObject({ code: 0, stdout: `${sid}\n` });
  }
  const hosts = [await serve(cwd, 'a'), await serve(cwd, 'b')];
  expect(await within(['sessions', 'open', 'three', '--store', 's.db'], { cwd })).toMatchObject({ stdout: 'three\n' });
  await expect.poll(() => done(cwd), { timeout: 300_000, interval: 300 }).toBe(6);
  for (const { url } of hosts) {
    expect(await (await fetch(`${url}/readyz`)).text()).toBe('ready\nstore: ok\nlog: ok\n');
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405);
    expect((await fetch(`${url}/other`)).status).toBe(404);
  }
  const texts = await Promise.all(hosts.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()));
  const claims = texts.map((text) => Number(/^neuroscript_host_claims_total (\d+)$/m.exec(text)?.[1]));
  expect(claims.reduce((sum, each) => sum + each, 0)).toBe(3);
  for (const { child } of hosts) child.kill('SIGTERM');
  expect(await Promise.all(hosts.map(({ child }) => stopped(child)))).toEqual([0, 0]);
  expect(hosts.map(({ said }) => said.join('').includes('drained'))).toEqual([true, true]);
  const keys = readFileSync(join(cwd, 'notes.txt'), 'utf8').trimEnd().split('\n');
  expect(new Set(keys).size).toBe(6);
  expect(keys).toHaveLength(6);
  // The log is one chain: the decisions of the six turns, and of the three turns that they asked for.
  const verified = await within(['log', 'verify', 'log.jsonl', '--json'], { cwd });
  expect(verified.code).toBe(0);
  const decided = readFileSync(join(cwd, 'log.jsonl'), 'utf8').trimEnd().split('\n');
  expect(decided).toHaveLength(9);
  const shown = await within(['sessions', 'show', 'one', '--store', 's.db'], { cwd });
  expect(shown.stdout).toContain('DONE');
}, 120_000);

it('18: a turn that ends its host is tried again in processes of its own, while the host serves on', async () => {
  const cwd = folder({
    ...FILES,
    'tools.mjs': `import { appendFileSync } from 'node:fs';
      const run = (_, { turn }) => {
        appendFileSync('notes.txt', turn.sessionId + ' ' + process.pid + '\\n');
        if (turn.sessionId === 'poison') process.kill(process.pid, 'SIGKILL');
        return 1;
      };
      export const tools = [{ name: 'tool.w.Note', run }];`,
  });
  const open = (sid: string) => within(['sessions', 'open', '--store', 's.db', '--sid', sid], { cwd });
  const listed = async (): Promise<readonly { sid: string; status: string }[]> =>
    linesOf((await within(['sessions', 'list', '--store', 's.db', '--json'], { cwd })).stdout);
  expect(await within(['keys', 'generate', 'k.json'], { cwd })).toMatchObject({ code: 0 });
  await open('poison');
  const first = await serve(cwd, 'a');
  await stopped(first.child);
  expect(first.child.signalCode).toBe('SIGKILL');
  await open('innocent');
  const { child } = await serve(cwd, 'b');
  const states = async () => Object.fromEntries((await listed()).map(({ sid, status }) => [sid, status]));
  await expect.poll(states, { timeout: 300_000, interval: 300 }).toMatchObject({ poison: 'halted', innocent: 'done' });
  child.kill('SIGTERM');
  expect(await stopped(child)).toBe(0);
  const notes = readFileSync(join(cwd, 'notes.txt'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' '));
  const pids = (sid: string) => notes.filter(([name]) => name === sid).map(([, pid]) => Number(pid));
  expect(pids('innocent')).toEqual([child.pid, child.pid]);
  // The first attempt beside others, and three in processes of their own.
  expect(new Set(pids('poison')).size).toBe(4);
  expect(pids('poison')).not.toContain(child.pid);
}, 120_000);

it('serves a configuration of one profile, with which a session was opened by name', async () => {
  const cwd = folder({
    'agent.txt': envelope(magic('continue')) + envelope(magic('done')),
    'serve.yaml': 'name: night\nagent: script:agent.txt\nlimits: { fuel: 100000, concurrency: 1 }\nmaxTurns: 3\n',
    'short.yaml': 'agent: script:agent.txt\nceilings: { maxTurns: 1 }\n',
    'job.json': '{"subject": "job", "fields": {}}',
    'odd.json': '{"fields": {}}',
  });
  const opens = (...args: readonly string[]) => within(['sessions', 'open', ...args, '--store', 's.db'], { cwd });
  expect(await opens('one', '--config', 'serve.yaml', '--userdata', 'job.json')).toMatchObject({ code: 0, stdout: 'one\n' });
  expect(await opens('two', '--config', 'serve.yaml', '--max-turns', '1')).toMatchObject({ code: 0 });
  expect(await opens('--sid', 'three')).toMatchObject({ code: 0, stdout: 'three\n' });
  expect(await opens('four', '--config', 'short.yaml', '--profile', 'night')).toMatchObject({
    code: 2,
    stderr: "neuroscript: short.yaml has no profile 'night'; it has default\n",
  });
  expect(await opens('four', '--sid', 'five')).toMatchObject({ code: 2, stderr: expect.stringContaining('once') });
  expect(await opens('four', '--userdata', 'odd.json')).toMatchObject({
    code: 2,
    stderr: "neuroscript: odd.json: USERDATA needs 'subject', a text\n",
  });
  expect(await opens('four', '--max-time', '5s')).toMatchObject({ code: 2 });
  const { child, said } = await serve(cwd, 'a');
  expect(said.join('')).toContain('serve.yaml names no keys');
  const listed = async () => {
    const { stdout } = await within(['sessions', 'list', '--store', 's.db', '--json'], { cwd });
    const sessions: readonly { sid: string; status: string; subject: string; profile: string }[] = linesOf(stdout);
    return sessions.map(({ sid, status, subject, profile }) => [sid, status, subject, profile].join(' ')).sort();
  };
  await expect
    .poll(listed, { timeout: 60_000, interval: 300 })
    .toEqual(['one done job night', 'three done session ', 'two halted session night']);
  child.kill('SIGTERM');
  expect(await stopped(child)).toBe(0);
}, 120_000);

it('says of a mistake in a configuration where it is', async () => {
  const one = (...lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
  const cases = [
    [one('tools: t.yaml'), 'c.yaml: profile default: needs an agent'],
    [one('profiles: { default: { agent: command:true } }'), 'c.yaml:1: keys: is missing'],
    [one('keys: k.json', 'profiles: {}'), 'c.yaml:2: profiles: needs at least one profile'],
    [one('name: a', 'agent: 5'), 'c.yaml:2: agent: must be a text, got the number 5'],
    [one('name: a', 'agent: nobody'), "c.yaml: profile a: unknown agent 'nobody'"],
    [one('agent: command:true', 'limits: { fule: 1 }'), "c.yaml: profile default: unknown limit 'fule'"],
    [one('agent: command:true', 'tolls: t.yaml'), 'c.yaml:2: tolls: unknown key'],
  ] as const;
  for (const [text, message] of cases) {
    const cwd = folder({ 'c.yaml': text });
    expect(await within(['serve', '--store', 's.db', '--config', 'c.yaml'], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`neuroscript: ${message}`),
    });
  }
}, 60_000);
