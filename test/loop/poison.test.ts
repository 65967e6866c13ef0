// @module-tag slow
import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { SqliteStore } from '../../src/loop/sessions/sqlite.ts';
import { bundled } from '../bundled.ts';
import { tempFolder } from '../folder.ts';
import { INNOCENT, POISON, type Started, WITNESS } from './poison.ts';

const CHILD = await bundled(fileURLToPath(new URL('poisonchild.ts', import.meta.url)));
const INNOCENTS = { alone: 20, apart: 5 } as const;
const MAX_ATTEMPTS = 3;

/** Runs a host process. Resolves with the programs that it and its own processes started, and whether the poison killed it. */
function host(
  { store, log }: Files,
  mode: keyof typeof INNOCENTS,
): Promise<{ readonly killed: boolean; readonly pid: number | undefined; readonly started: readonly Started[] }> {
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<typeof host>>>();
  const args = [CHILD, store, log, String(INNOCENTS[mode]), mode];
  const child = execFile(process.execPath, args, (error, _stdout, stderr) => {
    const killed = error?.signal === 'SIGKILL';
    if (error !== null && !killed) return reject(new Error(stderr, { cause: error }));
    const lines = readFileSync(`${store}.started`, 'utf8').split('\n');
    rmSync(`${store}.started`);
    resolve({ killed, pid: child.pid, started: lines.flatMap((line) => (line === '' ? [] : [JSON.parse(line)])) });
  });
  return promise;
}

interface Files {
  readonly store: string;
  readonly log: string;
}

async function files(): Promise<Files> {
  const folder = tempFolder();
  return { store: join(folder, 'store.db'), log: join(folder, 'log.jsonl') };
}

/** The poison is halted, every other session is done, and the log has one decision of each. */
async function mustHaltThePoison({ store: path, log }: Files, innocents: number): Promise<void> {
  using store = await SqliteStore.open(path);
  const sessions = await store.list();
  expect(sessions.length).toBeGreaterThan(innocents + 1);
  for (const session of sessions) {
    const isPoison = session.sid === POISON;
    expect(session).toMatchObject(isPoison ? { status: 'halted', reason: 'ERR_INTERRUPTED' } : { status: 'done', reason: null });
    if (session.sid.startsWith(INNOCENT))
      expect((await store.turns(session.sid))[0]).toMatchObject({ turn: 1, decision: 'DONE' });
  }
  const lines = (await readFile(log, 'utf8')).trimEnd().split('\n');
  const logged = lines.map((line) => JSON.parse(line));
  expect(logged.map(({ SID }) => SID).sort()).toEqual(sessions.map(({ sid }) => sid).sort());
  const halts = logged.filter(({ decision }) => decision === 'HALT');
  expect(halts).toMatchObject([{ SID: POISON, reason: 'ERR_INTERRUPTED' }]);
}

it('finding 10: a session that kills its process is halted and logged, and no session beside it', async () => {
  const here = await files();
  const hosts = [await host(here, 'alone')];
  while (hosts.at(-1)?.killed) hosts.push(await host(here, 'alone'));
  const [first, ...later] = hosts;
  expect(first?.started).toHaveLength(INNOCENTS.alone + 1);
  // The first death is that of all turns, and counts for none of them.
  expect(hosts.filter(({ killed }) => killed)).toHaveLength(1 + MAX_ATTEMPTS);
  const retried = later.flatMap(({ started }) => started).filter(({ sid }) => sid === POISON || sid.startsWith(INNOCENT));
  expect(retried.filter(({ sid }) => sid === POISON)).toHaveLength(MAX_ATTEMPTS);
  expect(retried.filter(({ sid }) => sid !== POISON)).toHaveLength(INNOCENTS.alone);
  expect(retried.filter(({ beside }) => beside > 0)).toEqual([]);
  await mustHaltThePoison(here, INNOCENTS.alone);
}, 120_000);

it('finding 10: a turn that ended its process is tried again in a process of its own while others go on', async () => {
  const here = await files();
  const [first, second] = [await host(here, 'apart'), await host(here, 'apart')];
  // One death, that of the first attempts, reaches a host. The later ones reach nothing but the process of the poison.
  expect([first.killed, second.killed]).toEqual([true, false]);
  const retried = second.started.filter(({ sid }) => sid === POISON || sid.startsWith(INNOCENT));
  expect(retried.filter(({ sid }) => sid === POISON)).toHaveLength(MAX_ATTEMPTS);
  expect(retried.filter(({ sid }) => sid !== POISON)).toHaveLength(INNOCENTS.apart);
  // Each has a process of its own. That of the poison ends when this host has decided another turn.
  expect(new Set(retried.map(({ pid }) => pid)).size).toBe(retried.length);
  expect(second.started.find(({ sid }) => sid === WITNESS)).toMatchObject({ pid: second.pid });
  await mustHaltThePoison(here, INNOCENTS.apart);
}, 120_000);
