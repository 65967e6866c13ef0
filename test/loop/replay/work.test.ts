import { expect, it } from 'vitest';
import { LoopController, MemoryStore, replayTurn, runtimeExecutor } from '../../../src/loop/index.ts';
import { createRuntime } from '../../../src/runtime/index.ts';
import { defineTool } from '../../../src/tools/index.ts';
import { newKeyring } from '../../aeiou/kit.ts';
import { reply, TestClock, USERDATA } from '../fake.ts';
import { command, DONE } from '../sessions.ts';

const tool = defineTool({
  name: 'tool.o.Work',
  args: [{ name: 'bytes', type: 'int' }],
  run: async ({ bytes }, runtime) => {
    await runtime.charge(bytes);
    return 'done';
  },
});
const PROGRAM = command(
  'emit tool.o.Work(1000000)',
  'together',
  '  call tool.o.Work(2000000)',
  '  call tool.o.Work(3000000)',
  'endtogether',
  DONE,
);

it('A3-2-7 issue 44, finding 2: a replay charges the recorded work of tools that it does not have', async () => {
  await using recording = await createRuntime({ tools: [tool], policy: { allow: ['tool.o.*'] }, concurrency: 1 });
  await using replaying = await createRuntime({ concurrency: 1 });
  const clock = new TestClock();
  const store = new MemoryStore({ clock });
  const keyring = newKeyring('host', clock);
  const loop = new LoopController({ executor: runtimeExecutor(recording), keyring, clock, store });
  await loop.runLoop({ userdata: USERDATA, agent: { reply: async () => reply(PROGRAM) }, sid: 's' });
  const [record] = await store.turns('s');
  if (record === undefined) throw new Error('there is no turn');
  expect(record.journal.slice(0, 3)).toMatchObject([{ work: 31_250 }, { work: 62_500 }, { work: 93_750 }]);
  expect(record.usage.fuel).toBeGreaterThan(187_500);
  const copy = JSON.parse(JSON.stringify(record));
  expect(await replayTurn(replaying, copy, { prev: null })).toMatchObject({ verdict: 'same', faults: [], divergence: null });
  copy.journal[1].work = 1;
  expect(await replayTurn(replaying, copy, { prev: null })).toMatchObject({ divergence: { where: 'fuel' } });
  copy.journal[1].work = -1;
  expect(await replayTurn(replaying, copy, { prev: null })).toMatchObject({ why: expect.stringContaining('malformed') });
});

it('issue 44, finding 2: work that uses up the fuel ends the program while its call is open, and its replay is the same', async () => {
  await using recording = await createRuntime({
    ...{ tools: [tool], policy: { allow: ['tool.o.*'] }, concurrency: 1 },
    limits: { fuel: 100_000 },
  });
  await using replaying = await createRuntime({ concurrency: 1, limits: { fuel: 100_000 } });
  for (const program of [command('emit tool.o.Work(4000000)', DONE), PROGRAM]) {
    const clock = new TestClock();
    const store = new MemoryStore({ clock });
    const loop = new LoopController({ executor: runtimeExecutor(recording), keyring: newKeyring('host', clock), clock, store });
    await loop.runLoop({ userdata: USERDATA, agent: { reply: async () => reply(program) }, sid: 's', maxReasks: 0 });
    const [record] = await store.turns('s');
    expect(record).toMatchObject({ error: { code: 'ERR_QUOTA', limit: 'fuel', allowed: 100_000 }, usage: { fuel: 100_000 } });
    if (record === undefined) throw new Error('there is no turn');
    const replayed = await replayTurn(replaying, JSON.parse(JSON.stringify(record)), { prev: null });
    expect(replayed).toMatchObject({ verdict: 'same', faults: [], divergence: null });
  }
});
