import { afterAll, beforeAll, expect, it } from 'vitest';
import { LoopController, MemoryStore, replayTurn, runtimeExecutor, type TurnRecord } from '../../../src/loop/index.ts';
import { inputOf } from '../../../src/loop/record/record.ts';
import type { TurnExecutor } from '../../../src/loop/turn/executor.ts';
import { createRuntime, type Runtime } from '../../../src/runtime/index.ts';
import { defineTool } from '../../../src/tools/index.ts';
import { MAX_MAP_KEYS } from '../../../src/wire/frames.ts';
import type { RunInput } from '../../../src/wire/protocol.ts';
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

let recording: Runtime;
let replaying: Runtime;
let halted: TurnRecord;
let older: TurnRecord;
beforeAll(async () => {
  recording = await createRuntime({ tools, policy: { allow: ['tool.o.*'] }, concurrency: 1 });
  replaying = await createRuntime({ concurrency: 1 });
  halted = await recordedBy(runtimeExecutor(recording));
  older = await recordedBy(asOlder(runtimeExecutor(recording)));
});
afterAll(() => Promise.all([recording.close(), replaying.close()]));

async function recordedBy(executor: TurnExecutor): Promise<TurnRecord> {
  const clock = new TestClock();
  const store = new MemoryStore({ clock });
  const loop = new LoopController({ executor, keyring: newKeyring('host', clock), clock, store });
  await loop.runLoop({ userdata: USERDATA, agent: { reply: async () => reply(PROGRAM) }, sid: 's' });
  const [record] = await store.turns('s');
  if (record === undefined) throw new Error('there is no turn');
  return record;
}

/** Runs and records as before there was a bound. */
function asOlder(executor: TurnExecutor): TurnExecutor {
  return {
    ...executor,
    fork: (init) => {
      const fork = executor.fork(init);
      const execute: typeof fork.execute = ({ onInput, ...execution }) => {
        const { scene, limits } = halted.inputs;
        if (scene?.run == null) throw new Error('nothing is recorded');
        const { mapKeys: _, ...run } = scene.run;
        const input: RunInput = inputOf(
          run,
          limits,
          execution.sources?.at(-1) ?? { name: '', text: '' },
          execution.globals?.['userdata'] ?? null,
        );
        onInput?.(input);
        return fork.execute({ ...execution, recorded: { input, calls: { known: () => null } } });
      };
      return { ...fork, execute };
    },
  };
}

const replayed = (record: TurnRecord) => replayTurn(replaying, JSON.parse(JSON.stringify(record)), { prev: null });

it('finding 8: a turn that the bound on the keys of a map halted is halted again', async () => {
  expect(halted.error).toMatchObject({ code: 'ERR_QUOTA', limit: 'toolBytes', message: expect.stringContaining('16384 keys') });
  expect(halted.inputs.scene?.run).toMatchObject({ mapKeys: MAX_MAP_KEYS });
  expect(await replayed(halted)).toMatchObject({ verdict: 'same', faults: [], divergence: null });
});

it('finding 8: a turn from before that bound gives its wider map to its tool again', async () => {
  expect(older).toMatchObject({ error: null, output: expect.stringMatching(/^16385\n/) });
  expect(older.inputs.scene?.run).not.toHaveProperty('mapKeys');
  expect(await replayed(older)).toMatchObject({ verdict: 'same', faults: [], divergence: null });
});
