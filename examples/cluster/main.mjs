// Three hosts share one store and 200 sessions of five turns. One host is killed, one is drained, and the database is restarted
// where this program has started it. At the end it says what became of each promise. Needs `npm run build`.
//
// The store is the database of DATABASE_URL; else a server of Postgres that this program starts; with --sqlite one file.
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ChainWalk, openSession, SqliteStore } from 'neuroscript-runtime/loop';

const SESSIONS = Number(process.env.SESSIONS ?? 200);
const TURNS = 5;
const HERE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = join(HERE, '../..');
const COMMAND = join(ROOT, 'bin/neuroscript.js');
// A package of this repository with a server of Postgres and its client; a published package does not have it.
const ENGINES = join(ROOT, 'apps/lab/engines');
const CLIENT = join(ENGINES, 'resolve.mjs');
/** Begins the id of each session of this run. */
const PREFIX = `demo-${randomBytes(4).toString('hex')}-`;
const begun = performance.now();

const say = (text) => process.stdout.write(`${((performance.now() - begun) / 1000).toFixed(1).padStart(5)} s  ${text}\n`);

/** The store: an address or a file, and the server that this program may restart. */
async function chosenStore(folder) {
  const file = { place: join(folder, 'sessions.db'), server: null };
  if (process.argv.includes('--sqlite')) return { ...file, name: 'one SQLite file' };
  const url = process.env.DATABASE_URL ?? '';
  const hasEngines = existsSync(ENGINES);
  if (hasEngines && !existsSync(join(ENGINES, 'node_modules'))) {
    say('npm installs apps/lab/engines');
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: ENGINES, stdio: 'ignore' });
  }
  if (url !== '') return { place: url, name: 'the Postgres of DATABASE_URL', server: null };
  if (!hasEngines) return { ...file, name: 'one SQLite file, because there is no DATABASE_URL' };
  const { startPostgres } = await import(pathToFileURL(join(ENGINES, 'server.ts')).href);
  const server = await startPostgres();
  return { place: server.url, name: 'a Postgres server of its own', server };
}

async function opened(place) {
  if (!place.startsWith('postgres')) return SqliteStore.open(place);
  if (existsSync(CLIENT)) await import(pathToFileURL(CLIENT).href);
  const { PostgresStore } = await import('neuroscript-runtime/postgres');
  return PostgresStore.open(place, { connections: 4 });
}

const resources = new AsyncDisposableStack();
const folder = mkdtempSync(join(tmpdir(), 'cluster-'));
resources.defer(() => rmSync(folder, { recursive: true, force: true }));
const hosts = [];
const failed = Promise.withResolvers();
let store;
let place;

/** Starts a host, and resolves with it once it serves. It fails the run if it ends before it is asked to. */
async function start(owner) {
  const client = place.startsWith('postgres') && existsSync(CLIENT) ? ['--import', pathToFileURL(CLIENT).href] : [];
  const flags = ['--store', place, '--config', 'serve.yaml', '--owner', owner, '--concurrency', '8', '--drain', '30s'];
  const child = spawn(process.execPath, [...client, COMMAND, 'serve', ...flags], {
    cwd: folder,
    env: { ...process.env, SHOP: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const host = { owner, said: '', isAsked: false, gone: once(child, 'exit'), child };
  const serving = Promise.withResolvers();
  child.stderr.on('data', (text) => {
    host.said += text;
    if (host.said.includes('serving as')) serving.resolve();
  });
  child.once('exit', (code) => {
    if (!host.isAsked) failed.reject(new Error(`host ${owner} ended with exit code ${code}: ${host.said}`));
  });
  hosts.push(host);
  say(`host ${owner} starts`);
  await serving.promise;
  return host;
}

/** Sends a signal to a host, and resolves with its exit code. */
async function end(host, signal) {
  host.isAsked = true;
  if (host.child.exitCode === null && host.child.signalCode === null) host.child.kill(signal);
  const [code] = await host.gone;
  return code;
}

const ours = async () => (await store.list({ after: PREFIX, limit: SESSIONS })).filter(({ sid }) => sid.startsWith(PREFIX));

/** Waits until a share of all turns is decided. */
async function until(share) {
  for (;;) {
    const sessions = await ours();
    const decided = sessions.reduce((sum, { turns }) => sum + turns, 0);
    if (decided >= share * SESSIONS * TURNS || sessions.every(({ status }) => status !== 'open')) return;
    await wait(100);
  }
}

/** What happens to the hosts and the server. Resolves with the host that was drained, and its exit code. */
async function story(server) {
  const [first, second] = await Promise.all(['one', 'two', 'three'].map(start));
  await until(0.2);
  await end(first, 'SIGKILL');
  say('host one is killed');
  await until(0.4);
  say('host two drains');
  const code = await end(second, 'SIGTERM');
  say(`host two has drained, with exit code ${code}`);
  await start('four');
  if (server !== null) {
    await until(0.6);
    server.kill();
    say('the database server is killed');
    await wait(500);
    await server.restart();
    say('the database server runs again');
  }
  while ((await ours()).some(({ status }) => status === 'open')) await wait(100);
  for (const host of hosts) if (!host.isAsked) await end(host, 'SIGTERM');
  say('all sessions have ended, and the other hosts have drained');
  return { drained: second, code };
}

/** Each promise, whether it was kept, and what was found. */
async function promises({ drained, code }) {
  const sessions = await ours();
  const expected = SESSIONS * TURNS;
  const ended = (wanted) => sessions.filter(({ status }) => status === wanted).length;
  const orders = readdirSync(join(folder, 'orders')).length;
  const requests = readFileSync(join(folder, 'requests.txt'), 'utf8').trimEnd().split('\n');
  let outOfTurn = 0;
  const fences = new Map();
  for (const line of requests) {
    const { sid, fence } = JSON.parse(line);
    if (fence < (fences.get(sid) ?? 0)) outOfTurn += 1;
    else fences.set(sid, fence);
  }
  const walk = new ChainWalk();
  let faults = 0;
  const logged = new Map();
  for await (const { text } of store.log.lines()) {
    if (walk.next(text) !== null) faults += 1;
    const { SID, turn_index } = JSON.parse(text);
    logged.set(`${SID} ${turn_index}`, (logged.get(`${SID} ${turn_index}`) ?? 0) + 1);
  }
  const turns = sessions.flatMap(({ sid, turns }) => Array.from({ length: turns }, (_, index) => `${sid} ${index + 1}`));
  const once = turns.filter((turn) => logged.get(turn) === 1).length;
  return [
    [
      'every session ends with the right decision',
      ended('done') === SESSIONS && turns.length === expected,
      `${ended('done')} of ${SESSIONS} are done, after ${turns.length} of ${expected} turns`,
    ],
    [
      'no session is halted because a host ends',
      ended('halted') === 0,
      [`${ended('halted')} are halted`, ...new Set(sessions.flatMap(({ reason }) => reason ?? []))].join(', '),
    ],
    [
      'no keyed effect happens twice',
      orders === expected,
      `${orders} orders for ${expected} calls; ${requests.length - expected} requests came twice and were recognised`,
    ],
    [
      'one host at a time acts for a session',
      outOfTurn === 0,
      `${outOfTurn} of ${requests.length} requests came from a host after its successor's`,
    ],
    [
      'every decision is logged once, in one chain',
      once === turns.length && faults === 0,
      `${once} of ${turns.length} decisions are logged once; ${faults} faults in the chain`,
    ],
    ['a host that drains ends well', code === 0 && drained.said.includes('drained'), `exit code ${code}`],
  ];
}

async function main() {
  const chosen = await chosenStore(folder);
  place = chosen.place;
  if (chosen.server !== null) resources.use(chosen.server);
  store = resources.use(await opened(place));
  resources.defer(() => Promise.all(hosts.map((host) => end(host, 'SIGKILL'))));
  for (const file of ['agent.txt', 'tools.mjs', 'serve.yaml']) copyFileSync(join(HERE, file), join(folder, file));
  mkdirSync(join(folder, 'orders'));
  execFileSync(process.execPath, [COMMAND, 'keys', 'generate', 'keys.json'], { cwd: folder });
  say(`${SESSIONS} sessions of ${TURNS} turns, in ${chosen.name}`);
  for (let index = 0; index < SESSIONS; index++)
    await openSession(
      store,
      { subject: 'work', fields: { index } },
      {
        sid: `${PREFIX}${String(index).padStart(6, '0')}`,
        at: Date.now(),
        profile: 'demo',
        durable: index % 2 === 0 ? 'call' : 'turn',
      },
    );
  const rows = await promises(await Promise.race([story(chosen.server), failed.promise]));
  process.stdout.write('\n');
  for (const [promise, kept, found] of rows) process.stdout.write(`${kept ? 'kept  ' : 'BROKEN'}  ${promise}: ${found}\n`);
  if (process.env.DATABASE_URL !== undefined && place === process.env.DATABASE_URL)
    process.stdout.write(`\nThe sessions ${PREFIX}… stay in the database.\n`);
  process.exitCode = rows.every(([, kept]) => kept) ? 0 : 1;
}

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    void resources.disposeAsync().finally(() => process.exit(1));
  });
try {
  await main();
} finally {
  await resources.disposeAsync();
}
