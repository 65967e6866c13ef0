import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSession, SqliteStore } from '../../src/loop/index.ts';
import { tempFolder } from '../folder.ts';

const USERDATA = { subject: 'a', fields: {} };

it('a store that was closed says so, whatever is asked of it', async () => {
  const folder = tempFolder();
  const store = await SqliteStore.open(join(folder, 'a.db'));
  await openSession(store, USERDATA, { sid: 's1', at: 1 });
  store[Symbol.dispose]();
  store[Symbol.dispose]();
  for (const ask of [
    () => store.list(),
    () => store.turns('s1'),
    () => store.claim('s1', { owner: 'a', ms: 1000 }),
    () => openSession(store, USERDATA, { sid: 's2', at: 1 }),
  ])
    await expect(ask()).rejects.toMatchObject({
      code: 'ERR_STORE',
      detail: 'order',
      message: expect.stringContaining('has been closed: open the store of sessions again'),
    });
});
