import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { write } from '../../src/testing/contracts/storage.ts';
import { type OpenStorage, storageContract } from '../../src/testing/index.ts';
import { MemoryStorage, SqliteStorage } from '../../stdlib-tools/index.ts';
import { tempFolder } from '../folder.ts';
import { titleOf } from '../testing/contracts/titles.ts';

const directory = tempFolder();
let files = 0;

const kinds: readonly (readonly [string, OpenStorage])[] = [
  ['MemoryStorage', async (caps = {}) => new MemoryStorage(caps)],
  ['SqliteStorage', (caps = {}) => SqliteStorage.open(join(directory, `${++files}.db`), { caps })],
];

describe.each(kinds)('%s', (_, open) => {
  for (const { name, run } of storageContract(open))
    it(titleOf(name, ['AL1-6-3: of many writers with the same version exactly one succeeds']), run);

  it('refuses caps that make no sense', async () => {
    for (const caps of [{ entryBytes: 0 }, { entries: -1 }, { scopes: 0.5 }, { totalBytes: Number.NaN }, { entrys: 3 }])
      await expect(async () => await open(caps)).rejects.toMatchObject({ code: 'ERR_CONFIG' });
  });
});

describe('SqliteStorage', () => {
  it('keeps values over a restart, and two open storages of a file see each other', async () => {
    const path = join(directory, 'shared.db');
    const first = await SqliteStorage.open(path);
    const second = await SqliteStorage.open(path);
    await first.cas(write('k', 0, 'one'));
    expect(await second.cas(write('k', 0, 'two'))).toEqual({ ok: false, version: 1 });
    expect(await second.cas(write('k', 1, 'two'))).toEqual({ ok: true, version: 2 });
    first[Symbol.dispose]();
    second[Symbol.dispose]();
    using third = await SqliteStorage.open(path, { mustExist: true });
    expect(await third.get('a', 'k', 0)).toEqual({ value: 'two', version: 2 });
  });

  it('says what is wrong with a file, and tells a script no path', async () => {
    const path = join(directory, 'closed.db');
    const storage = await SqliteStorage.open(path);
    await expect(SqliteStorage.open(join(directory, 'none', 'x.db'))).rejects.toMatchObject({ code: 'ERR_STORE', detail: 'io' });
    await expect(SqliteStorage.open(join(directory, 'absent.db'), { mustExist: true })).rejects.toMatchObject({ detail: 'io' });
    using busy = await SqliteStorage.open(path, { busyMs: 1 });
    const { DatabaseSync } = await import('node:sqlite');
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    const refused = await busy.cas(write('k', 0, 1)).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'NS26', message: 'the storage cannot be used (busy)' });
    other.close();
    storage[Symbol.dispose]();
  });
});
