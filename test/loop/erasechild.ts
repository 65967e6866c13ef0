import { flushCompileCache } from 'node:module';
import { eraseSession } from '../../src/loop/sessions/erase.ts';
import { SqliteStore } from '../../src/loop/sessions/sqlite.ts';

/** Erases the session of `erase.test.ts`, which kills this process meanwhile. */
// A process that is killed writes nothing at its end.
flushCompileCache();
using store = await SqliteStore.open(process.argv[2] ?? '');
process.stdout.write('begun\n');
await eraseSession(store, 's');
