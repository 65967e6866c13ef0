// A process that counts up under compare-and-set: `node incrementer.ts FILE TIMES`. It prints every value that the storage
// has acknowledged, a line each.
import { writeSync } from 'node:fs';
import { SqliteStorage } from '../../stdlib-tools/storage/sqlite.ts';

const [, , file = '', times = '0'] = process.argv;
using storage = await SqliteStorage.open(file, { busyMs: 60_000 });
for (let done = 0; done < Number(times); ) {
  const found = await storage.get('counter', 'n', 0);
  const next = Number(found?.value ?? 0) + 1;
  const expected = found?.version ?? 0;
  const { ok } = await storage.cas({ scope: 'counter', key: 'n', expected, value: next, ttlMs: null, at: 0 });
  if (!ok) continue;
  done += 1;
  // At once: what stands in a buffer dies with the process.
  writeSync(1, `${next}\n`);
}
