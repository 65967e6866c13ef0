import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Agent, LoopController, runtimeExecutor, SqliteStore, systemClock } from '../../src/loop/index.ts';
import { createRuntime } from '../../src/runtime/index.ts';
import { defineTool } from '../../src/tools/index.ts';
import { reply, testKeyring, USERDATA } from '../loop/fake.ts';

const SESSIONS = 1000;
const TURNS = 5;

it('AL3-3-2 A3-2-3: 1,000 sessions of 5 turns at once, on two workers: no cross-talk, each in order, flat memory', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'loop-many-'));
  const where = defineTool({ name: 'tool.probe.Where', run: (_, { turn }) => `${turn.sessionId}/${turn.turnIndex}` });
  try {
    using store = await SqliteStore.open(join(folder, 'store.db'));
    await using runtime = await createRuntime({
      tools: [where],
      policy: { allow: ['tool.probe.*'] },
      concurrency: 2,
      maxWorkers: 2,
      queueLength: 2 * SESSIONS,
    });
    const loop = new LoopController({
      executor: runtimeExecutor(runtime),
      keyring: testKeyring(systemClock),
      store,
      leaseMs: 60_000,
    });
    const agent: Agent = {
      reply: async ({ turn }) =>
        reply(
          `command\n  emit tool.probe.Where()\n  emit tool.aeiou.magic("LOOP", {"action": "${turn < TURNS ? 'continue' : 'done'}"})\nendcommand`,
        ),
    };
    const before = process.memoryUsage().rss;
    const begun = performance.now();
    const ends = await Promise.all(
      Array.from({ length: SESSIONS }, (_, index) => loop.runLoop({ userdata: USERDATA, sid: `s-${index}`, agent })),
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
  } finally {
    await rm(folder, { recursive: true });
  }
}, 300_000);
