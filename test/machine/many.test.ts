// @module-tag slow
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TURNS, USERDATA, whereAgent, whereTool } from '../../bench/fleet.ts';
import { generateKeys, keyringFrom } from '../../src/aeiou/index.ts';
import { LoopController, runtimeExecutor, SqliteStore, systemClock } from '../../src/loop/index.ts';
import { createRuntime } from '../../src/runtime/index.ts';
import { tempFolder } from '../folder.ts';

const SESSIONS = 1000;
const WORKERS = 2;

it('AL3-3-2 A3-2-3: 1,000 sessions of 5 turns at once, on two workers: no cross-talk, each in order, flat memory', async () => {
  const folder = tempFolder();
  using store = await SqliteStore.open(join(folder, 'store.db'));
  await using runtime = await createRuntime({
    tools: [whereTool],
    policy: { allow: [whereTool.name] },
    concurrency: WORKERS,
    maxWorkers: WORKERS,
    queueLength: 2 * SESSIONS,
  });
  const keyring = keyringFrom(generateKeys('many'), { clock: systemClock });
  const controller = new LoopController({ executor: runtimeExecutor(runtime), keyring, store, leaseMs: 60_000 });
  const before = process.memoryUsage().rss;
  const begun = performance.now();
  const ends = await Promise.all(
    Array.from({ length: SESSIONS }, (_, index) =>
      controller.runLoop({ userdata: USERDATA, sid: `s-${index}`, agent: whereAgent, keepTurns: true }),
    ),
  );
  const seconds = (performance.now() - begun) / 1000;
  for (const { sid, decision, turns } of ends) {
    expect(decision).toBe('DONE');
    expect(turns.map(({ output }) => output.split('\n')[0])).toEqual(turns.map((_, index) => `${sid}/${index + 1}`));
    expect(turns).toHaveLength(TURNS);
    expect(await store.turns(sid)).toHaveLength(TURNS);
  }
  const grown = (process.memoryUsage().rss - before) / SESSIONS / TURNS;
  process.stdout.write(`${Math.round((SESSIONS * TURNS) / seconds)} turns a second, ${Math.round(grown / 1024)} KiB a turn\n`);
  // The results themselves are held here: all records of all turns.
  expect(grown).toBeLessThan(100 * 1024);
}, 300_000);
