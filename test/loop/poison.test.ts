import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { SqliteStore } from '../../src/loop/sessions/sqlite.ts';
import { INNOCENT, POISON, type Started } from './poison.ts';

const CHILD = fileURLToPath(new URL('poisonchild.ts', import.meta.url));
const INNOCENTS = 20;
const MAX_ATTEMPTS = 3;

/** Runs a host process. Resolves with the programs it started and whether the poison killed it. */
function host(store: string, log: string): Promise<{ readonly killed: boolean; readonly started: readonly Started[] }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ killed: boolean; started: Started[] }>();
  execFile(process.execPath, [CHILD, store, log, String(INNOCENTS)], (error, stdout, stderr) => {
    const killed = error?.signal === 'SIGKILL';
    if (error !== null && !killed) reject(new Error(stderr, { cause: error }));
    else resolve({ killed, started: stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)])) });
  });
  return promise;
}

it('issue 18.10: a session that kills its process is halted and logged, and no session beside it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'loop-poison-'));
  const [storePath, log] = [join(folder, 'store.db'), join(folder, 'log.jsonl')];
  try {
    const hosts = [await host(storePath, log)];
    while (hosts.at(-1)?.killed) hosts.push(await host(storePath, log));
    const [first, ...later] = hosts;
    expect(first?.started).toHaveLength(INNOCENTS + 1);
    // The first death is that of all turns, and counts for none of them.
    expect(hosts.filter(({ killed }) => killed)).toHaveLength(1 + MAX_ATTEMPTS);
    const retried = later.flatMap(({ started }) => started).filter(({ sid }) => sid === POISON || sid.startsWith(INNOCENT));
    expect(retried.filter(({ sid }) => sid === POISON)).toHaveLength(MAX_ATTEMPTS);
    expect(retried.filter(({ sid }) => sid !== POISON)).toHaveLength(INNOCENTS);
    expect(retried.filter(({ beside }) => beside > 0)).toEqual([]);
    using store = await SqliteStore.open(storePath);
    const sessions = await store.list();
    expect(sessions.length).toBeGreaterThan(INNOCENTS + 1);
    for (const session of sessions) {
      const isPoison = session.sid === POISON;
      expect(session).toMatchObject(
        isPoison ? { status: 'halted', reason: 'ERR_INTERRUPTED' } : { status: 'done', reason: null },
      );
      if (session.sid.startsWith(INNOCENT))
        expect((await store.turns(session.sid))[0]).toMatchObject({ turn: 1, decision: 'DONE' });
    }
    const lines = (await readFile(log, 'utf8')).trimEnd().split('\n');
    const logged = lines.map((line) => JSON.parse(line));
    expect(logged.map(({ SID }) => SID).sort()).toEqual(sessions.map(({ sid }) => sid).sort());
    const halts = logged.filter(({ decision }) => decision === 'HALT');
    expect(halts).toMatchObject([{ SID: POISON, reason: 'ERR_INTERRUPTED' }]);
  } finally {
    await rm(folder, { recursive: true });
  }
}, 120_000);
