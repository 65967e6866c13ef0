import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { type ChainReport, verifyChain } from '../../src/loop/log/chain.ts';
import { rotatedFiles } from '../../src/loop/log/disk.ts';
import type { TurnRecord } from '../../src/loop/record/record.ts';
import { SqliteStore } from '../../src/loop/sessions/sqlite.ts';
import type { SessionSummary } from '../../src/loop/sessions/store.ts';
import { bundled } from '../bundled.ts';
import { COMPILED } from '../compiled.ts';

/** How much is run, and how often it is killed. */
export interface CrashPlan {
  readonly sessions: number;
  readonly turns: number;
  readonly kills: number;
  readonly leaseMs: number;
  /** Processes at work at the same time. */
  readonly processes: number;
}

/** What is found when all is over. */
export interface CrashReport {
  /** Kills that hit a process at work. */
  readonly killed: number;
  readonly sessions: readonly SessionSummary[];
  readonly turns: ReadonlyMap<string, readonly TurnRecord[]>;
  /** `session turn` of every line of the log, in order. */
  readonly logged: readonly string[];
  readonly chain: ChainReport;
  readonly cells: readonly { readonly sid: string; readonly value: number; readonly effects: number }[];
  /** Programs that were run, finished or not. */
  readonly runs: number;
}

const CHILD = fileURLToPath(new URL('crashchild.ts', import.meta.url));
let program: Promise<string> | undefined;

/** Lets processes drive the sessions of one store, kills them at random instants, and lets the last ones finish. */
export async function crash(plan: CrashPlan): Promise<CrashReport> {
  const folder = await mkdtemp(join(tmpdir(), 'loop-crash-'));
  const [store, log, world] = ['store.db', 'log.jsonl', 'world.db'].map((name) => join(folder, name)) as [string, string, string];
  program ??= bundled(CHILD);
  const child = await program;
  const start = () =>
    spawn(process.execPath, [child, store, log, world, ...[plan.sessions, plan.turns, plan.leaseMs].map(String)], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...COMPILED },
    });
  createWorld(world);
  try {
    let killed = 0;
    while (killed < plan.kills) {
      const child = start();
      await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
      if (child.exitCode !== null) break;
      await new Promise((done) => setTimeout(done, Math.random() * 60));
      child.kill('SIGKILL');
      if (child.exitCode === null) killed += 1;
      await exited(child);
    }
    await Promise.all(Array.from({ length: plan.processes }, () => exited(start(), true)));
    return await look(killed, store, log, world);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Made before any process starts: SQLite does not wait when two processes switch one file to write-ahead mode. */
function createWorld(path: string): void {
  using world = new DatabaseSync(path);
  world.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE cells (sid TEXT PRIMARY KEY, value INTEGER NOT NULL, effects INTEGER NOT NULL);
    CREATE TABLE runs (sid TEXT NOT NULL, turn INTEGER NOT NULL)`);
}

async function exited(child: ChildProcess, mustSucceed = false): Promise<void> {
  let words = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (words += text));
  child.stdout?.resume();
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
  if (mustSucceed && child.exitCode !== 0)
    throw new Error(`a process of the crash test ended with ${child.exitCode}: ${words.slice(0, 2000)}`);
}

async function look(killed: number, storePath: string, log: string, worldPath: string): Promise<CrashReport> {
  using store = await SqliteStore.open(storePath, { mustExist: true });
  const sessions = await store.list();
  const turns = new Map<string, readonly TurnRecord[]>();
  for (const { sid } of sessions) turns.set(sid, await store.turns(sid));
  const files = [...rotatedFiles(log), log];
  const logged: string[] = [];
  for (const file of files)
    for (const line of (await readFile(file, 'utf8')).trimEnd().split('\n')) {
      const { SID, turn_index } = JSON.parse(line);
      logged.push(`${SID} ${turn_index}`);
    }
  using world = new DatabaseSync(worldPath);
  const cells = world
    .prepare('SELECT sid, value, effects FROM cells')
    .all()
    .map(({ sid, value, effects }) => ({ sid: String(sid), value: Number(value), effects: Number(effects) }));
  const runs = Number(world.prepare('SELECT count(*) AS n FROM runs').get()?.['n']);
  return { killed, sessions, turns, logged, chain: await verifyChain(files), cells, runs };
}
