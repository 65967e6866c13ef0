// Three hosts share one store and 200 sessions of five turns. One host is killed, one is drained, and the database is restarted
// where this program has started it. At the end it says what became of each promise. Needs `npm run build`.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openSession } from 'neuroscript-runtime/host';
import { SqliteStore } from 'neuroscript-runtime/loop';
import { ChainWalk } from 'neuroscript-runtime/sessions';

const SESSIONS = Number(process.env.SESSIONS ?? 200);
const TURNS = 5;
const HERE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = join(HERE, '../..');
const COMMAND = join(ROOT, 'bin/neuroscript.js');
const ENGINES = join(ROOT, 'lab/engines');
const begun = performance.now();

const say = (text) => process.stdout.write(`${((performance.now() - begun) / 1000).toFixed(1).padStart(5)} s  ${text}\n`);

/** The database: that of DATABASE_URL, a server of our own, or a file. */
async function database(folder) {
  const url = process.env.DATABASE_URL ?? '';
  if (url !== '') return { place: url, name: 'Postgres of DATABASE_URL', server: null };
  if (existsSync(join(ENGINES, 'node_modules'))) {
    const { startPostgres } = await import(join(ENGINES, 'server.ts'));
    const server = await startPostgres();
    return { place: server.url, name: 'a Postgres server of our own', server };
  }
  return { place: join(folder, 'sessions.db'), name: 'one SQLite file (without DATABASE_URL and lab/engines)', server: null };
}

async function opened(place) {
  if (!place.startsWith('postgres')) return SqliteStore.open(place);
  const { PostgresStore } = await import('neuroscript-runtime/postgres');
  const { Pool } = createRequire(join(ENGINES, 'package.json'))('pg');
  return PostgresStore.open(new Pool({ connectionString: place, max: 4 }));
}

const folder = mkdtempSync(join(tmpdir(), 'cluster-'));
const hosts = [];
await using resources = new AsyncDisposableStack();
resources.defer(() => rmSync(folder, { recursive: true, force: true }));
resources.defer(() => {
  for (const { child } of hosts) if (child.exitCode === null) child.kill('SIGKILL');
});
for (const file of ['agent.txt', 'tools.mjs', 'serve.yaml']) copyFileSync(join(HERE, file), join(folder, file));
mkdirSync(join(folder, 'orders'));
execFileSync(process.execPath, [COMMAND, 'keys', 'generate', 'keys.json'], { cwd: folder });
const { place, name, server } = await database(folder);
if (server !== null) resources.use(server);
const store = resources.use(await opened(place));

say(`${SESSIONS} sessions of ${TURNS} turns, in ${name}`);
const known = new Set((await store.list()).map(({ sid }) => sid));
for (let index = 0; index < SESSIONS; index++)
  await openSession(
    store,
    { subject: 'work', fields: { index } },
    { at: Date.now(), durable: index % 2 === 0 ? 'call' : 'turn' },
  );
const ours = async () => (await store.list()).filter(({ sid }) => !known.has(sid));

function start(owner) {
  const argv = [
    COMMAND,
    'serve',
    '--store',
    place,
    '--config',
    'serve.yaml',
    '--owner',
    owner,
    '--drain',
    '30s',
    '--concurrency',
    '8',
  ];
  const child = spawn(process.execPath, argv, {
    cwd: folder,
    env: { ...process.env, SHOP: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const host = { owner, child, said: '' };
  child.stderr.on('data', (text) => {
    host.said += text;
  });
  hosts.push(host);
  say(`host ${owner} starts`);
  return host;
}

/** Turns that are decided, of all sessions. */
const decided = async () => (await ours()).reduce((sum, { turns }) => sum + turns, 0);
async function until(share) {
  while ((await decided()) < share * SESSIONS * TURNS && (await ours()).some(({ status }) => status === 'open')) await wait(100);
}

const [first, second] = [start('one'), start('two'), start('three')];
await until(0.2);
first.child.kill('SIGKILL');
say('host one is killed');
await until(0.4);
second.child.kill('SIGTERM');
say('host two drains');
const [code] = second.child.exitCode === null ? await once(second.child, 'exit') : [second.child.exitCode];
say(`host two has drained, with exit code ${code}`);
start('four');
if (server !== null) {
  await until(0.6);
  server.kill();
  say('the database is killed');
  await wait(500);
  await server.restart();
  say('the database runs again');
}
await until(1);
while ((await ours()).some(({ status }) => status === 'open')) await wait(100);
for (const { child } of hosts.filter((host) => host.child.exitCode === null && host.child.signalCode === null)) {
  child.kill('SIGTERM');
  await once(child, 'exit');
}
say('all sessions have ended, and the other hosts have drained');

const sessions = await ours();
const requests = readFileSync(join(folder, 'requests.txt'), 'utf8').trimEnd().split('\n');
const orders = readdirSync(join(folder, 'orders'));
const walk = new ChainWalk();
const faults = [];
const logged = new Map();
for await (const { text } of store.log.lines()) {
  const why = walk.next(text);
  if (why !== null) faults.push(why);
  const { SID, turn_index } = JSON.parse(text);
  logged.set(`${SID} ${turn_index}`, (logged.get(`${SID} ${turn_index}`) ?? 0) + 1);
}
const expected = SESSIONS * TURNS;
const mine = sessions.flatMap(({ sid, turns }) => Array.from({ length: turns }, (_, index) => `${sid} ${index + 1}`));
const rows = [
  [
    'every session ends with the right decision',
    sessions.every(({ status, turns }) => status === 'done' && turns === TURNS),
    `${sessions.filter(({ status }) => status === 'done').length} of ${SESSIONS} done`,
  ],
  [
    'no session is halted by a host that stops',
    sessions.every(({ status }) => status !== 'halted'),
    `${sessions.filter(({ status }) => status === 'halted').length} halted`,
  ],
  [
    'no keyed effect happens twice',
    orders.length === expected,
    `${orders.length} orders for ${expected} calls; ${requests.length - expected} requests came twice and were recognised`,
  ],
  [
    'every decision is logged once, in one chain',
    mine.every((key) => logged.get(key) === 1) && faults.length === 0,
    `${mine.length} turns, ${mine.filter((key) => logged.get(key) === 1).length} logged once, ${faults.length} faults in the chain`,
  ],
  ['a host that drains ends well', code === 0 && second.said.includes('drained'), `exit code ${code}`],
];
process.stdout.write('\n');
for (const [promise, kept, found] of rows) process.stdout.write(`${kept ? 'kept  ' : 'BROKEN'}  ${promise}: ${found}\n`);
process.exitCode = rows.every(([, kept]) => kept) ? 0 : 1;
