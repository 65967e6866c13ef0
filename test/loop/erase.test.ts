import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { exportFile, exportSession, readExport, readSession, replaySession } from '../../src/loop/index.ts';
import { sealFaults } from '../../src/loop/record/seal.ts';
import { eraseSession } from '../../src/loop/sessions/erase.ts';
import { MemoryStore, SqliteStore } from '../../src/loop/sessions/sqlite.ts';
import { type ErasableStore, newSession } from '../../src/loop/sessions/store.ts';
import { tempFolder } from '../folder.ts';
import { SLOW } from '../groups.ts';
import { fakeRuntime } from '../runtime/fake.ts';
import { programAgent } from './fake.ts';
import { controller, run } from './host.ts';

const folder = tempFolder();

const SECRET = 'Ada Lovelace, 12 St James Square';
const { runtime } = fakeRuntime(async () => undefined);

/** A session of three turns whose USERDATA names a person. */
async function ended(store: ErasableStore, size = 0): Promise<void> {
  const userdata = { subject: SECRET, fields: { padding: 'x'.repeat(size) } };
  const { loop } = controller({ store });
  await loop.runLoop(run(programAgent('continue', 'both', 'done'), { userdata }));
}

/** Whether a file of a store, or what SQLite keeps beside it, holds the secret. */
function holds(path: string): boolean {
  return [path, `${path}-wal`].some((file) => existsSync(file) && readFileSync(file).includes(SECRET));
}

describe('issue 19: a session that is erased', () => {
  it('keeps its chain, its decisions and its usage, and nothing of the person', async () => {
    const store = new MemoryStore();
    await ended(store);
    const before = await store.turns('s');
    expect(JSON.stringify(before)).toContain(SECRET);
    expect(await eraseSession(store, 's')).toEqual(['s']);
    const after = await store.turns('s');
    expect(JSON.stringify([after, await store.read('s'), await store.list()])).not.toContain(SECRET);
    const kept = (turns: typeof after) =>
      turns.map(({ decision, kid, jti, usage, seal, outputBytes }) => ({ decision, kid, jti, usage, seal, outputBytes }));
    expect(kept(after)).toEqual(kept(before));
    expect(after.map(({ erased }) => erased?.includes('inputs.envelope'))).toEqual([true, true, true]);
    const replay = await replaySession(runtime, store, 's');
    expect(replay).toMatchObject({ ok: true, broken: [] });
    expect(replay.turns.map(({ verdict }) => verdict)).toEqual(['erased', 'erased', 'erased']);
    expect(replay.turns[0]?.why).toContain('erased: ');
  });

  it('still shows a change of what was not erased, whatever the record says', async () => {
    const store = new MemoryStore();
    await ended(store);
    await eraseSession(store, 's');
    const [first] = await store.turns('s');
    if (first === undefined) throw new Error('no turn');
    const forged = { ...first, decision: 'DONE', erased: [...(first.erased ?? []), 'decision', 'usage'] } as const;
    expect(sealFaults(forged, null)).toEqual([{ part: 'decision', problem: 'changed' }]);
  });

  it('can be exported, and the file says what was erased', async () => {
    const store = new MemoryStore();
    await ended(store);
    await eraseSession(store, 's');
    const exported = await exportSession(store, 's');
    if (exported === null) throw new Error('no session');
    const [session] = readExport(JSON.stringify(exportFile([exported])));
    if (session === undefined) throw new Error('no session');
    expect(session.redacted.get(1)).toContain('inputs.envelope');
    expect(await replaySession(runtime, session)).toMatchObject({ ok: true });
  });

  it('takes the sessions of its asks with it', async () => {
    const store = new MemoryStore();
    await ended(store);
    for (const [sid, parent] of [
      ['child', 's'],
      ['grandchild', 'child'],
      ['other', 'elsewhere'],
    ] as const)
      await store.create(
        { ...newSession(sid, `{"subject":"${SECRET}","fields":{}}`, { sid: parent, turn: 1, seq: 1 }), status: 'done' },
        1,
      );
    expect(await eraseSession(store, 's')).toEqual(['s', 'child', 'grandchild']);
    const subjects = (await store.list()).map(({ sid, subject }) => [sid, subject]);
    expect(subjects).toEqual([
      ['child', '[erased]'],
      ['grandchild', '[erased]'],
      ['other', SECRET],
      ['s', '[erased]'],
    ]);
  });

  it.each([
    ['unknown', 'nobody', 'ERR_SESSION_STATE'],
    ['open', 'open', 'ERR_SESSION_STATE'],
    ['driven by a process', 'driven', 'ERR_SESSION_LEASED'],
  ])('must not be %s; otherwise nothing is erased', async (_, sid, code) => {
    for (const store of [new MemoryStore(), await SqliteStore.open(join(folder, `${sid}.db`))]) {
      const state = newSession('open', `{"subject":"${SECRET}","fields":{}}`);
      await store.create(state, 1);
      await store.create({ ...state, sid: 'driven', status: 'done' }, 1);
      await store.claim('driven', { owner: 'x', ms: 600_000 });
      await expect(eraseSession(store, sid)).rejects.toMatchObject({ code });
      expect((await store.list()).every(({ subject }) => subject === SECRET)).toBe(true);
    }
  });
});

describe('issue 19: the file of a store', () => {
  it('holds nothing of an erased session, also not in free pages and the write-ahead log', async () => {
    const path = join(folder, 'file.db');
    using store = await SqliteStore.open(path);
    await ended(store);
    expect(holds(path)).toBe(true);
    await eraseSession(store, 's');
    expect(holds(path)).toBe(false);
    expect((await store.turns('s')).map(({ erased }) => erased?.length)).toEqual([
      expect.any(Number),
      expect.any(Number),
      expect.any(Number),
    ]);
  });

  it('whose eraser is killed is as before or erased; the next erasure completes it', { ...SLOW, timeout: 300_000 }, async () => {
    const original = join(folder, 'original.db');
    {
      using store = await SqliteStore.open(original);
      await ended(store, 30_000);
    }
    for (const delay of [0, 2, 5, 10, 20, 40]) {
      const path = join(folder, `killed-${delay}.db`);
      copyFileSync(original, path);
      await killedEraser(path, delay);
      using store = await SqliteStore.open(path);
      const erased = (await store.turns('s')).map(({ erased }) => erased !== undefined);
      expect(new Set(erased).size).toBe(1);
      expect((await readSession(store, 's')).faults ?? []).toEqual([]);
      await eraseSession(store, 's');
      expect(holds(path)).toBe(false);
      expect(await replaySession(runtime, store, 's')).toMatchObject({ ok: true });
    }
  });
});

/** Starts a process that erases, and kills it this many milliseconds after it has begun. */
async function killedEraser(path: string, delay: number): Promise<void> {
  const child = spawn(process.execPath, ['--no-warnings', join(import.meta.dirname, 'erasechild.ts'), path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = new Promise((resolve) => child.once('close', resolve));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  await sleep(delay);
  child.kill('SIGKILL');
  await gone;
}
