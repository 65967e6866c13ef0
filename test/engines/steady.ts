// Two hosts of `neuroscript serve` at a steady load, and a store from which old sessions are removed: `node test/engines/steady.ts [SECONDS]
// [SESSIONS A SECOND]`, on SQLite, or on the database of DATABASE_URL. The exit code is 1 when memory, handles or the store grow, when a turn
// takes more space than docs/scale.md says, or when hosts do not keep up.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { descendants, descriptorsOf } from '../../bench/residence.ts';
import { line } from '../../bench/soak.ts';
import { short, table } from '../../bench/table.ts';
import { generateKeys, saveKeyFile } from '../../src/aeiou/index.ts';
import { openSession, type SessionStore, SqliteStore } from '../../src/loop/index.ts';
import { PostgresStore } from '../../src/postgres/index.ts';
import { pgPool } from './kit.ts';

const [SECONDS = 60, RATE = 2] = process.argv.slice(2).map(Number);
const URL_OF = process.env['DATABASE_URL'] ?? '';
const SCHEMA = 'neuroscript';
const TURNS = 5;
const PARTS = 20;
/** Parts that are not judged: caches are filled, workers start, and nothing is old enough to be removed. */
const WARM = 5;
/** Parts after which a session is removed. */
const KEPT = 3;
const BIN = fileURLToPath(new URL('../../bin/neuroscript.js', import.meta.url));
const RESOLVE = fileURLToPath(new URL('../../apps/lab/engines/resolve.mjs', import.meta.url));
const MB = 1024 * 1024;
/** What docs/scale.md says a turn takes, and how much a file that grows in pieces may have beside it. */
const TURN_BYTES = 11_000;
const MOST = { rss: 32 * MB, handles: 8, turn: 1.2 * TURN_BYTES, store: 1.1, behind: 10 * RATE };

/** Each turn says something else, so that none is taken for one without progress. */
const program = (turn: number, action: string): string => `<<<NSENV:V3:START>>>
<<<NSENV:V3:USERDATA>>>
{"subject":"s","fields":{}}
<<<NSENV:V3:ACTIONS>>>
command
  emit tool.w.Note("a few words of turn ${turn}")
  emit tool.aeiou.magic("LOOP", {"action": "${action}"})
endcommand
<<<NSENV:V3:END>>>
`;
const FILES = {
  'agent.txt': Array.from({ length: TURNS }, (_, turn) => program(turn, turn + 1 < TURNS ? 'continue' : 'done')).join(''),
  'tools.mjs': `export const tools = [{ name: 'tool.w.Note', args: [{ name: 'what', type: 'string' }], run: ({ what }) => what }];`,
  'serve.yaml': 'keys: k.json\nlisten: 127.0.0.1:0\nagent: script:agent.txt\ntools: tools.mjs\nlimits: { concurrency: 1 }\n',
};

/** What is seen at the end of a part. */
interface Sample {
  readonly at: number;
  readonly turns: number;
  readonly ready: number;
  /** Of the hosts without their workers. */
  readonly rss: number;
  /** Open descriptors of the hosts and of their workers. */
  readonly handles: number;
  readonly store: number;
  /** Seconds of hosts and workers. */
  readonly cpu: number;
}

interface Served {
  readonly child: ChildProcess;
  readonly url: string;
}

async function serve(cwd: string, place: string): Promise<Served> {
  const env = { ...process.env, NODE_OPTIONS: `--import=${pathToFileURL(RESOLVE).href}` };
  const child = spawn(process.execPath, [BIN, 'serve', '--store', place, '--config', 'serve.yaml'], { cwd, env });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4000)));
  for (const until = performance.now() + 30_000; !said.includes('serving'); await sleep(50))
    if (performance.now() > until || child.exitCode !== null) throw new Error(`a host did not start: ${said}`);
  return { child, url: /http:\S+/.exec(said)?.[0] ?? '' };
}

const handlesOf = (pid: number): number => [pid, ...descendants(pid)].reduce((sum, each) => sum + descriptorsOf(each), 0);

/** A store with what tells its size and ends it. */
interface Place extends AsyncDisposable {
  readonly store: SessionStore & { prune(pruning: { readonly before: number }): Promise<readonly object[]> };
  readonly name: string;
  bytes(): Promise<number>;
}

async function openPlace(folder: string): Promise<Place> {
  if (URL_OF === '') {
    const name = join(folder, 's.db');
    const store = await SqliteStore.open(name);
    const bytes = async (): Promise<number> => statSync(name).size;
    return { store, name, bytes, [Symbol.asyncDispose]: async () => store[Symbol.dispose]() };
  }
  const pool = await pgPool(URL_OF, { max: 2 });
  await pool.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
  const store = await PostgresStore.open(pool, { schema: SCHEMA });
  const sum = `SELECT sum(pg_total_relation_size(c.oid)) AS bytes FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = '${SCHEMA}' AND c.relkind = 'r'`;
  return {
    store,
    name: URL_OF,
    bytes: async () => Number((await pool.query(sum)).rows[0]?.['bytes']),
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await pool.query(`DROP SCHEMA ${SCHEMA} CASCADE`);
      await pool.end();
    },
  };
}

async function measure(): Promise<readonly Sample[]> {
  await using resources = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'steady-'));
  resources.defer(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
  saveKeyFile(join(folder, 'k.json'), generateKeys('steady'));
  const { store, name, bytes } = resources.use(await openPlace(folder));
  const hosts = [await serve(folder, name), await serve(folder, name)];
  resources.defer(async () => {
    for (const { child } of hosts) if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit');
  });
  const scrape = async ({ url }: Served): Promise<string> => (await fetch(`${url}/metrics`)).text();
  const numberIn = (text: string, series: string): number =>
    Number(
      text
        .split('\n')
        .find((each) => each.startsWith(`${series} `))
        ?.split(' ')[1],
    );
  const sample = async (at: number): Promise<Sample> => {
    const texts = await Promise.all(hosts.map(scrape));
    const sum = (series: string): number => texts.reduce((all, text) => all + numberIn(text, series), 0);
    return {
      at,
      turns: sum('neuroscript_decisions_total{decision="CONTINUE"}') + sum('neuroscript_decisions_total{decision="DONE"}'),
      ready: numberIn(texts[0] ?? '', 'neuroscript_sessions{state="ready",class="none"}'),
      rss: sum('neuroscript_process_resident_memory_bytes{process="host"}'),
      handles: hosts.reduce((all, { child }) => all + handlesOf(child.pid ?? 0), 0),
      store: await bytes(),
      cpu: sum('neuroscript_process_cpu_seconds{process="host"}') + sum('neuroscript_process_cpu_seconds{process="workers"}'),
    };
  };
  const samples = [await sample(0)];
  const begun = performance.now();
  const partMs = (SECONDS * 1000) / PARTS;
  let opened = 0;
  for (let part = 1; part <= PARTS; part++) {
    for (; performance.now() - begun < part * partMs; await sleep(1000 / RATE))
      for (; opened < ((performance.now() - begun) / 1000) * RATE; opened++)
        await openSession(store, { subject: 's', fields: {} }, { sid: `s${opened}`, at: Date.now() });
    if (part > WARM) await store.prune({ before: Date.now() - KEPT * partMs });
    samples.push(await sample((performance.now() - begun) / 1000));
    process.stderr.write(`part ${part} of ${PARTS}\n`);
  }
  return samples;
}

const samples = await measure();
const trendOf = (value: (sample: Sample) => number, from = WARM + 1) =>
  line(samples.slice(from).map((each) => [each.at, value(each)]));
const [first, warm, last] = [samples[0], samples[WARM], samples.at(-1)];
if (first === undefined || warm === undefined || last === undefined) throw new Error('nothing was measured');
const turnBytes = (warm.store - first.store) / (warm.turns - first.turns);
const [rss, handles, store] = [
  trendOf((each) => each.rss),
  trendOf((each) => each.handles),
  trendOf((each) => each.store, PARTS / 2),
];
const expected = RATE * TURNS * last.at;
const verdicts: readonly (readonly [what: string, found: string, good: boolean])[] = [
  ['turns', `${last.turns} of ${Math.round(expected)}`, last.turns >= expected - 10 * RATE * TURNS],
  ['ready at the end', String(last.ready), last.ready <= MOST.behind],
  [
    'host RSS',
    `${short(rss.from / MB)} to ${short(rss.to / MB)} MB, ${short((rss.slope * 3600) / MB)} MB an hour`,
    rss.to - rss.from <= MOST.rss,
  ],
  ['handles', `${short(handles.from)} to ${short(handles.to)}`, handles.to - handles.from <= MOST.handles],
  ['CPU ms a turn', short((1000 * (last.cpu - warm.cpu)) / (last.turns - warm.turns)), true],
  ['bytes a turn', short(turnBytes), turnBytes <= MOST.turn],
  ['store', `${short(store.from / MB)} to ${short(store.to / MB)} MB`, store.to <= MOST.store * store.from],
];
const head = ['second', 'turns', 'ready', 'hosts RSS MB', 'handles', 'store MB'];
const cells = samples.map((each) => [
  each.at.toFixed(0),
  String(each.turns),
  String(each.ready),
  short(each.rss / MB),
  String(each.handles),
  short(each.store / MB),
]);
process.stdout.write(
  `${table(head, cells)}\n\n${table(
    ['what', 'found', 'verdict'],
    verdicts.map(([what, found, good]) => [what, found, good ? 'ok' : 'WRONG']),
  )}\n`,
);
process.exitCode = verdicts.every(([, , good]) => good) ? 0 : 1;
