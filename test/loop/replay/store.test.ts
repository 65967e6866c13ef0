import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LoopController } from '../../../src/loop/controller.ts';
import { runtimeExecutor, SqliteStore } from '../../../src/loop/index.ts';
import { replaySession } from '../../../src/loop/replay/session.ts';
import { createRuntime, type Runtime } from '../../../src/runtime/index.ts';
import { tempFolder } from '../../folder.ts';
import { newKeyring, reply, TestClock, USERDATA } from '../fake.ts';
import { CONTINUE, command, DONE } from '../sessions.ts';

const folder = tempFolder();
let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ concurrency: 1 });
});
afterAll(() => runtime.close());

/** A store with a session of two turns. */
async function recorded(name: string): Promise<string> {
  const path = join(folder, name);
  using store = await SqliteStore.open(path);
  const clock = new TestClock();
  const loop = new LoopController({ executor: runtimeExecutor(runtime), keyring: newKeyring('test', clock), clock, store });
  const programs = [command("emit 'one'", CONTINUE), command("emit 'two'", DONE)];
  await loop.runLoop({ userdata: USERDATA, agent: { reply: async ({ turn }) => reply(programs[turn - 1] ?? '') }, sid: 's' });
  return path;
}

async function replayOf(path: string) {
  using store = await SqliteStore.open(path);
  return await replaySession(runtime, store, 's');
}

describe('a store', () => {
  it('one byte changed in its file is found, with session, turn and part', async () => {
    const path = await recorded('changed.db');
    expect(await replayOf(path)).toMatchObject({ ok: true, turns: [{ verdict: 'same' }, { verdict: 'same' }] });
    using database = new DatabaseSync(path);
    database.exec(`UPDATE turns SET record = replace(record, '"output":"one', '"output":"onf') WHERE turn = 1`);
    expect(await replayOf(path)).toMatchObject({
      ok: false,
      turns: [
        {
          turn: 1,
          verdict: 'changed',
          faults: [{ part: 'output', problem: 'changed' }],
          divergence: { where: 'line 1 of OUTPUT' },
        },
        { turn: 2, verdict: 'same' },
      ],
    });
    database.exec(`UPDATE turns SET record = substr(record, 2) WHERE turn = 2`);
    const { ok, broken } = await replayOf(path);
    expect({ ok, broken }).toEqual({ ok: false, broken: [expect.stringContaining('turn 2 of session "s"')] });
    using store = await SqliteStore.open(path);
    await expect(store.turns('s')).rejects.toMatchObject({ code: 'ERR_STORE' });
    await expect(replaySession(runtime, store, 'none')).rejects.toMatchObject({ code: 'ERR_SESSION_STATE' });
  });
});
