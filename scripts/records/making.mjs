// Makes the files of a corpus with the command of one version.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { INPUTS } from './inputs.mjs';

/** The second at which the clock of tokens stands. The session that waits began in 2096, so that its call does not expire before. */
export const NOW = '1760000000';
export const LATER = '4000000000';
const STORE = ['--store', 'sessions.db'];
const HOST = [...STORE, '--log', 'decisions.jsonl', '--keys', 'keys.json'];
const TOOLS = ['--tools', 'inputs/tools.json'];
const WITH_TOOLS = ['--policy', 'inputs/policy.json', ...TOOLS];

/** The sessions that one command runs to their end: id, name or command of the agent, flags, exit code. */
const SESSIONS = [
  ['done', 'done', [...TOOLS, '--userdata', 'inputs/userdata.json', '--record', 'recording.yaml'], 0],
  ['abort', 'abort', [], 10],
  ['fails', 'fails', [], 11],
  ['tokenless', 'tokenless', [], 11],
  ['syntax', 'syntax', [], 11],
  ['stuck', 'stuck', [], 11],
  ['endless', 'endless', ['--max-turns', '2'], 11],
  ['fuel', 'spins', ['--fuel', '5000'], 5],
  ['cpu', 'spins', ['--cpu', '20ms'], 5],
  ['time', 'spins', ['--wall', '50ms'], 124],
  ['refused', 'refused', WITH_TOOLS, 4],
  ['forged', 'forged', [], 11],
  ['both', 'both', [], 10],
  ['asks', 'asks', ['--models', 'inputs/models.json'], 0],
  ['waiting', 'buys', TOOLS, 0],
  ['cancelled', 'buys', TOOLS, 0],
  ['unapproved', 'deploys', TOOLS, 4],
  ['erased', 'done', TOOLS, 0],
  ['repaired', 'command:node inputs/mends.mjs', TOOLS, 0],
];

/** Runs commands of `bin` in a folder. A command that ends with another code than the expected one is an error. */
export function commandsOf(bin, cwd) {
  const env = { ...process.env, NO_COLOR: '1' };
  const run = (args, code = 0) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], { cwd, env, encoding: 'utf8' });
    if (code !== null && status !== code)
      throw new Error(`${args.join(' ')}: exit code ${status}, not ${code}\n${stdout}${stderr}`);
    return { code: status, stdout };
  };
  const start = (args) => spawn(process.execPath, [bin, ...args], { cwd, env, stdio: 'ignore' });
  return { run, start };
}

/** The year 2100, in Unix seconds. */
const FOREVER = 4_102_444_800;

/** Writes the files of a corpus into `folder`, which is empty. */
export async function makeCorpus(bin, folder) {
  const { run, start } = commandsOf(bin, folder);
  const write = (name, text) => writeFileSync(join(folder, name), text, { mode: 0o600 });
  mkdirSync(join(folder, 'inputs'));
  mkdirSync(join(folder, 'queue'));
  for (const [name, text] of Object.entries(INPUTS)) write(`inputs/${name}`, text);
  const loop = (sid, agent, flags, code) =>
    run(
      [
        'loop',
        '--agent',
        agent.startsWith('command:') ? agent : `script:inputs/${agent}.txt`,
        '--sid',
        sid,
        '--ids',
        sid,
        ...HOST,
        '--now',
        sid === 'waiting' ? LATER : NOW,
        ...flags,
        '--json',
      ],
      code,
    );

  run(['keys', 'generate', 'keys.json', '--name', 'test']);
  run(['keys', 'rotate', 'keys.json']);
  // A rotated key verifies for ten minutes of the real clock, but the records are read for ever.
  write('keys.json', readFileSync(join(folder, 'keys.json'), 'utf8').replace(/("verifyUntil": )\d+/, `$1${FOREVER}`));
  for (const [sid, agent, flags, code] of SESSIONS) {
    const { stdout } = loop(sid, agent, flags, code);
    if (sid === 'asks') write('loop.json', stdout);
  }
  run(['sessions', 'cancel', 'cancelled', ...STORE, '--log', 'decisions.jsonl']);
  run(['sessions', 'erase', 'erased', ...STORE]);

  const queue = ['--queue', 'queue'];
  const propose = (file) => {
    const { stdout } = run(['gate', 'propose', `inputs/${file}`, ...queue]);
    const [id] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(stdout);
    const [hash] = /\b[0-9a-f]{64}\b/.exec(stdout);
    return { id, hash };
  };
  const verifier = ['--verifier', `"${process.execPath}" "${bin}" gate verify --queue queue`];
  const [deploy, now, later] = ['deploy.json', 'now.json', 'later.json'].map(propose);
  propose('later.json');
  for (const { id } of [deploy, now, later]) run(['gate', 'approve', id, ...queue, '--yes']);
  run(['gate', 'execute', now.id, now.hash, ...queue, ...verifier, '--', 'echo', 'now']);
  loop('approved', 'deploys', [...TOOLS, '--intent', `${deploy.id}:${deploy.hash}`, ...queue, ...verifier], 0);

  write('v1.json', run(['loop', '--profile', 'v1', '--agent', 'script:inputs/v1.txt', ...TOOLS, '--json']).stdout);
  write('envelope.txt', INPUTS['abort.txt'].replace('{}', '{"subject":"one turn","fields":{}}'));
  write(
    'turn.json',
    run(['turn', 'envelope.txt', '--sid', 'turn', '--ids', 'turn', '--keys', 'keys.json', '--now', NOW, '--json'], 10).stdout,
  );
  run(['run', 'inputs/game.ns', ...TOOLS, '--record', 'game.yaml']);
  run(['run', 'inputs/keeps.ns', '--storage', 'values.db']);
  write('public.json', run(['keys', 'export-public', 'keys.json']).stdout);

  // Its process dies in turn 2, while a tool has not answered. The last session: its lease ends 15 seconds later.
  const host = start([
    'loop',
    '--agent',
    'script:inputs/hangs.txt',
    '--sid',
    'interrupted',
    '--ids',
    'interrupted',
    ...HOST,
    '--now',
    NOW,
    ...TOOLS,
  ]);
  const listed = () => {
    const lines = run(['sessions', 'list', ...STORE, '--json'])
      .stdout.split('\n')
      .filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line)).find(({ sid }) => sid === 'interrupted');
  };
  while (!(listed()?.started ?? null)) await sleep(100);
  host.kill('SIGKILL');
  while (listed().lease !== null) await sleep(500);

  run(['sessions', 'export', ...STORE, '--out', 'export.json']);
  run(['sessions', 'export', 'done', ...STORE, '--redact', 'inputs/redact.json', '--out', 'redacted.json']);
  for (const file of ['decisions.jsonl.lock', 'sessions.db-wal', 'sessions.db-shm', 'values.db-wal', 'values.db-shm'])
    rmSync(join(folder, file), { force: true });
  return { sids: [...SESSIONS.map(([sid]) => sid), 'approved', 'interrupted'], intents: { executed: now, approved: later } };
}
