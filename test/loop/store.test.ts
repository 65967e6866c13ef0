import { execFileSync } from 'node:child_process';
import { open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, vi } from 'vitest';
import { MemoryStore, SqliteStore } from '../../src/loop/sessions/sqlite.ts';
import { storeStatistics } from '../../src/loop/sessions/statistics.ts';
import { ownedStore } from '../../src/testing/contracts/owned.ts';
import { commitOf, lease, ODD, started, state, WAITS } from '../../src/testing/contracts/samples.ts';
import { tempFolder } from '../folder.ts';

const folder = tempFolder();

let files = 0;
const newPath = (): string => join(folder, `store-${++files}.db`);

it('issue 43: a MemoryStore that was cleared is as a new one', async () => {
  const store = new MemoryStore();
  let woken = 0;
  store.onReady(() => woken++);
  for (const round of [1, 2]) {
    expect(await store.list()).toEqual([]);
    await store.create(state('s'), round);
    const { fence } = await store.claim('s', { owner: 'a', ms: 1000 });
    await store.start(started('s', 1), fence);
    expect(await store.list()).toMatchObject([{ sid: 's', createdAt: round, started: 1 }]);
    store.clear();
  }
  await Promise.resolve();
  expect(woken).toBe(1);
});

describe('the file of a SqliteStore', () => {
  it('keeps everything for the next process, and is for its owner only', async () => {
    const path = newPath();
    using store = await SqliteStore.open(path);
    await store.create(state('s', { userdata: ODD }), 1);
    using again = await SqliteStore.open(path, { mustExist: true });
    expect(await again.read('s')).toEqual(state('s', { userdata: ODD }));
    for (const name of [path, `${path}-wal`, `${path}-shm`]) expect((await stat(name)).mode & 0o777).toBe(0o600);
  });

  it('is not made when it must exist', async () => {
    const path = newPath();
    await expect(SqliteStore.open(path, { mustExist: true })).rejects.toMatchObject({ code: 'ERR_STORE', detail: 'io' });
    await expect(stat(path)).rejects.toThrow('ENOENT');
  });

  it('`:memory:` is a store without a file, gone when it is closed', async () => {
    for (const round of [1, 2]) {
      using store = await SqliteStore.open(':memory:');
      await store.create(state(`s${round}`), 1);
      expect((await store.list()).map(({ sid }) => sid)).toEqual([`s${round}`]);
    }
    await expect(stat(':memory:')).rejects.toThrow('ENOENT');
  });

  it.each(['-journal', '-wal', '-shm'])(
    'a named pipe in place of the file that ends with %s is refused, not waited for',
    async (ending) => {
      const path = newPath();
      (await SqliteStore.open(path))[Symbol.dispose]();
      await rm(`${path}${ending}`, { force: true });
      execFileSync('mkfifo', [`${path}${ending}`]);
      const refusal = { code: 'ERR_STORE', detail: 'io', message: expect.stringContaining(`${ending} is not an ordinary file`) };
      await expect(SqliteStore.open(path)).rejects.toMatchObject(refusal);
      await expect(storeStatistics(path)).rejects.toMatchObject(refusal);
    },
  );

  it('a file that is no database is foreign, and is left as it was', async () => {
    const path = newPath();
    const text = 'dear diary, '.repeat(500);
    await writeFile(path, text);
    await expect(SqliteStore.open(path)).rejects.toMatchObject({ code: 'ERR_STORE', detail: 'foreign' });
    expect(await readFile(path, 'utf8')).toBe(text);
  });

  it('a database of another program is foreign, and is left as it was', async () => {
    const path = newPath();
    const other = new DatabaseSync(path);
    other.exec('CREATE TABLE songs (title TEXT)');
    other.close();
    const before = await readFile(path);
    await expect(SqliteStore.open(path)).rejects.toMatchObject({ detail: 'foreign' });
    expect(await readFile(path)).toEqual(before);
  });

  it.each([
    [
      'an endless view in place of a table',
      `ALTER TABLE sessions RENAME TO kept;
       CREATE VIEW sessions AS WITH RECURSIVE n(sid) AS (SELECT 1 UNION ALL SELECT sid + 1 FROM n) SELECT * FROM n`,
    ],
    ['a view', 'CREATE VIEW v AS SELECT 1'],
    ['a trigger', 'CREATE TRIGGER t AFTER UPDATE ON sessions BEGIN DELETE FROM turns; END'],
    ['a table too many', 'CREATE TABLE more (a)'],
    ['a table too few', 'DROP TABLE steps'],
    ['a virtual table', 'DROP TABLE steps; CREATE VIRTUAL TABLE steps USING fts5(sid, nonce, body)'],
    ['a column of its own', 'ALTER TABLE steps ADD COLUMN slow TEXT AS (hex(zeroblob(100000000)))'],
    ['an index of its own', 'DROP INDEX turns_owed; CREATE INDEX turns_owed ON turns (hex(zeroblob(9)))'],
  ])('finding 15: a store with %s is foreign', async (_, change) => {
    const path = newPath();
    {
      using store = await SqliteStore.open(path);
      await store.create(state('s'), 1);
    }
    const other = new DatabaseSync(path);
    other.exec(change);
    other.close();
    await expect(SqliteStore.open(path)).rejects.toMatchObject({ code: 'ERR_STORE', detail: 'foreign' });
  });

  it('has statistics of its sessions and turns, the latest first', async () => {
    const path = newPath();
    const none = { sessions: 0, statuses: {}, turns: 0, decisions: {}, started: 0, createdAt: null, updatedAt: null, latest: [] };
    using file = await SqliteStore.open(path);
    const store = await ownedStore(() => ({ store: file }));
    expect(await storeStatistics(path)).toMatchObject({ contents: none });
    await store.create(state('s'), 3);
    await store.claim('s', lease('a', 0, 600_000));
    await store.start(started('s'), 'a');
    await store.commit(commitOf('s', 1, { at: 8 }));
    await store.start(started('s', 2), 'a');
    await store.create(state('t'), 9);
    expect(await storeStatistics(path)).toMatchObject({
      contents: {
        ...{
          sessions: 2,
          statuses: { open: 1, running: 1 },
          turns: 1,
          decisions: { HALT: 1 },
          started: 1,
          createdAt: 3,
          updatedAt: 9,
        },
        latest: [
          { sid: 't', status: 'open', reason: null, turns: 0, updatedAt: 9 },
          { sid: 's', status: 'running', reason: null, turns: 1, updatedAt: 8 },
        ],
      },
    });
    await store.start({ ...started('s', 2), suspended: WAITS }, 'a');
    expect(await storeStatistics(path)).toMatchObject({
      contents: { statuses: { open: 1, waiting: 1 }, latest: [{ status: 'open' }, { sid: 's', status: 'waiting' }] },
    });
    const completion = { ok: true, value: 1 } as const;
    await store.start({ ...started('s', 2), suspended: { ...WAITS, completion } }, 'a');
    expect(await storeStatistics(path)).toMatchObject({ contents: { statuses: { open: 1, running: 1 } } });
  });

  it('the statistics of ANALYZE are no change', async () => {
    const path = newPath();
    (await SqliteStore.open(path))[Symbol.dispose]();
    const other = new DatabaseSync(path);
    other.exec('ANALYZE');
    other.close();
    using store = await SqliteStore.open(path);
    expect(await store.list()).toEqual([]);
  });

  it('one of a later version is refused', async () => {
    const path = newPath();
    (await SqliteStore.open(path))[Symbol.dispose]();
    const later = new DatabaseSync(path);
    later.exec('PRAGMA user_version = 99');
    later.close();
    await expect(SqliteStore.open(path)).rejects.toMatchObject({ detail: 'newer' });
  });

  it('a damaged one is refused when it is opened', async () => {
    const path = newPath();
    const store = await SqliteStore.open(path);
    for (let i = 0; i < 200; i++) await store.create(state(`session-${i}`), 1);
    store[Symbol.dispose]();
    const file = await open(path, 'r+');
    const { size } = await file.stat();
    await file.write(Buffer.alloc(4096, 0xab), 0, 4096, Math.floor(size / 8192) * 4096);
    await file.close();
    await expect(SqliteStore.open(path)).rejects.toMatchObject({ code: 'ERR_STORE', detail: 'damaged' });
  });

  it('issue 48: a large one is opened without a look at every page, and its damage is found when it is read', async () => {
    const path = newPath();
    const store = await SqliteStore.open(path);
    for (const sid of ['whole', 'large']) await store.create(state(sid), 1);
    store[Symbol.dispose]();
    const other = new DatabaseSync(path);
    other.exec(`UPDATE sessions SET state = state || printf('%.*c', 17 * 1024 * 1024, ' ') WHERE sid = 'large'`);
    other.close();
    const file = await open(path, 'r+');
    const { size } = await file.stat();
    await file.write(Buffer.alloc(4096, 0xab), 0, 4096, Math.floor(size / 8192) * 4096);
    await file.close();
    using again = await SqliteStore.open(path);
    expect(await again.read('whole')).toEqual(state('whole'));
    await expect(again.read('large')).rejects.toMatchObject({ code: 'ERR_STORE', detail: 'damaged' });
  });

  it('a row that cannot be read is damage, with a name', async () => {
    const path = newPath();
    using store = await SqliteStore.open(path);
    await store.create(state('s'), 1);
    const other = new DatabaseSync(path);
    other.exec(`UPDATE sessions SET state = '{"sid":"s"}'`);
    other.close();
    const message = 'session "s" in the store cannot be read: status: ';
    await expect(store.read('s')).rejects.toMatchObject({ detail: 'damaged', message: expect.stringContaining(message) });
  });

  it('a session that cannot be read is listed as such, and hides no other', async () => {
    const path = newPath();
    using store = await SqliteStore.open(path);
    for (const sid of ['a', 'b', 'c']) await store.create(state(sid), 1);
    const other = new DatabaseSync(path);
    other.exec(`UPDATE sessions SET state = '{' WHERE sid = 'b'`);
    other.close();
    expect(await store.list()).toMatchObject([
      { sid: 'a', damaged: null },
      {
        sid: 'b',
        status: 'open',
        parent: null,
        damaged: expect.stringMatching(/^session "b" in the store cannot be read: [^\n]+$/),
      },
      { sid: 'c', damaged: null },
    ]);
  });

  it('issue 24: a session of an unknown status is listed as damaged, and never removed for its age', async () => {
    const path = newPath();
    using store = await SqliteStore.open(path);
    for (const sid of ['a', 'b']) await store.create(state(sid), 1);
    const other = new DatabaseSync(path);
    other.exec(`UPDATE sessions SET status = 'lost' WHERE sid = 'b'`);
    other.close();
    const damaged = { sid: 'b', status: 'open', damaged: 'a session has the status lost' };
    expect(await store.list()).toMatchObject([{ sid: 'a', damaged: null }, damaged]);
    expect(await store.recent({ limit: 1 })).toMatchObject([damaged]);
    expect(await store.prune({ before: 9 })).toEqual([]);
  });

  it('another process that does not let go of it is busy', async () => {
    const path = newPath();
    using store = await SqliteStore.open(path, { busyMs: 10 });
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    await expect(store.create(state('s'), 1)).rejects.toMatchObject({ code: 'ERR_STORE', detail: 'busy' });
    other.exec('ROLLBACK');
    other.close();
    await store.create(state('s'), 1);
  });

  it('a new file that another process opens at the same time is waited for, although SQLite does not wait there', async () => {
    const path = newPath();
    const exec = DatabaseSync.prototype.exec;
    let switches = 0;
    const spy = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql) {
      if (sql.startsWith('PRAGMA journal_mode')) switches += 1;
      if (switches === 1) {
        const other = new DatabaseSync(path);
        exec.call(other, 'BEGIN IMMEDIATE');
        setTimeout(() => other.close(), 20);
      }
      exec.call(this, sql);
    });
    try {
      using store = await SqliteStore.open(path);
      expect(switches).toBeGreaterThan(1);
      await store.create(state('s'), 1);
    } finally {
      spy.mockRestore();
    }
  });

  it('waits for the disk in every transaction only when power may fail', async () => {
    const path = newPath();
    using store = await SqliteStore.open(path, { durability: 'power' });
    await store.create(state('s'), 1);
    expect(await store.read('s')).toEqual(state('s'));
  });
});
