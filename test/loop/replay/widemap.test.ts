import { expect, it } from 'vitest';
import { LoopController, MemoryStore, replayTurn } from '../../../src/loop/index.ts';
import { createRuntime } from '../../../src/runtime/index.ts';
import { defineTool } from '../../../src/tools/index.ts';
import { MAX_MAP_KEYS } from '../../../src/wire/frames.ts';
import { newKeyring } from '../../aeiou/kit.ts';
import { reply, TestClock, USERDATA } from '../fake.ts';
import { command, DONE } from '../sessions.ts';

const PROGRAM = command(
  'set i = 0',
  'set m = {}',
  `while i <= ${MAX_MAP_KEYS}`,
  '  set m["k" + i] = 0',
  '  set i = i + 1',
  'endwhile',
  'emit tool.o.Size(m)',
  DONE,
);
const tools = [
  defineTool({ name: 'tool.o.Size', args: [{ name: 'm', type: 'map' }], run: ({ m }) => Object.keys(Object(m)).length }),
];

const keyring = newKeyring('host', new TestClock());

it('finding 8: a turn that the bound on the keys of a map halted is halted again', async () => {
  await using recording = await createRuntime({ tools, policy: { allow: ['tool.o.*'] }, concurrency: 1 });
  await using replaying = await createRuntime({ concurrency: 1 });
  const store = new MemoryStore();
  const loop = new LoopController({ runtime: recording, keyring, store });
  await loop.runLoop({ userdata: USERDATA, agent: { reply: async () => reply(PROGRAM) }, sid: 's' });
  const [halted] = await store.turns('s');
  expect(halted?.error).toMatchObject({ code: 'ERR_QUOTA', limit: 'toolBytes', message: expect.stringContaining('16384 keys') });
  const replayed = await replayTurn(replaying, JSON.parse(JSON.stringify(halted)), { prev: null });
  expect(replayed).toMatchObject({ verdict: 'same', faults: [], divergence: null });
});
