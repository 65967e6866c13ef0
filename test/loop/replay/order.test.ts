import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  exportSession,
  LoopController,
  MemoryStore,
  Redaction,
  replayTurn,
  runtimeExecutor,
  type TurnRecord,
} from '../../../src/loop/index.ts';
import { readRecord } from '../../../src/loop/sessions/rows.ts';
import { createRuntime, type Runtime } from '../../../src/runtime/index.ts';
import { defineTool } from '../../../src/tools/index.ts';
import { newKeyring } from '../../aeiou/kit.ts';
import { reply, TestClock, USERDATA } from '../fake.ts';
import { command, DONE, resealed } from '../sessions.ts';

const tools = [
  defineTool({ name: 'tool.o.Same', args: [{ name: 'm', type: 'any' }], orderedMaps: true, run: ({ m }) => m }),
  defineTool({
    name: 'tool.o.Years',
    args: [{ name: 'm', type: 'any' }],
    run: () =>
      new Map([
        ['2025', 1],
        ['2024', 2],
        ['2023', 3],
      ]),
  }),
];
const PROGRAM = command(
  'emit shared',
  "set years = tool.o.Years({'10': 1, '2': 2})",
  'for each k, v in years',
  '  emit k',
  'endfor',
  "emit tool.o.Same({'b': 1, '3': {'9': 1, '8': 2}})",
  DONE,
);
const SAID = '{"20": 1, "3": 2}\n2025\n2024\n2023\n{"b": 1, "3": {"9": 1, "8": 2}}\n';

let recording: Runtime;
let replaying: Runtime;
let record: TurnRecord;
let kept: MemoryStore;
beforeAll(async () => {
  recording = await createRuntime({ tools, policy: { allow: ['tool.o.*'] }, concurrency: 1 });
  replaying = await createRuntime({ concurrency: 1 });
  const root = recording.interpreter();
  root.setGlobal(
    'shared',
    new Map([
      ['20', 1],
      ['3', 2],
    ]),
  );
  const clock = new TestClock();
  const store = new MemoryStore({ clock });
  const keyring = newKeyring('host', clock);
  const loop = new LoopController({ executor: runtimeExecutor(recording, root), keyring, clock, store });
  await loop.runLoop({ userdata: USERDATA, agent: { reply: async () => reply(PROGRAM) }, sid: 's' });
  const [first] = await store.turns('s');
  if (first === undefined) throw new Error('there is no turn');
  record = first;
  kept = store;
});
afterAll(() => Promise.all([recording.close(), replaying.close()]));

/** The record as it comes out of a file, with its JSON changed. */
const copy = (change: (text: string) => string = (text) => text): TurnRecord => JSON.parse(change(JSON.stringify(record)));
/** Seals are another test's matter. */
const changed = (change: (text: string) => string): TurnRecord => resealed(copy(change));

it('A3-2-7 P9: a turn whose maps have whole-number keys is the same again, in the order of its maps', async () => {
  expect(record.output.startsWith(SAID)).toBe(true);
  expect(record.journal[0]).toMatchObject({
    args: [{ $10: 1, $2: 2 }],
    outcome: { value: { $2025: 1, $2024: 2, $2023: 3 } },
  });
  expect(await replayTurn(replaying, copy(), { prev: null })).toMatchObject({ verdict: 'same', faults: [], divergence: null });
});

it('A3-2-7: another order in the record is a difference', async () => {
  const moved = changed((text) => text.replace('{"$2025":1,"$2024":2,', '{"$2024":2,"$2025":1,'));
  expect(await replayTurn(replaying, moved)).toMatchObject({ verdict: 'differs', divergence: { where: 'line 2 of OUTPUT' } });
  const asked = changed((text) => text.replace('{"$10":1,"$2":2}', '{"$2":2,"$10":1}'));
  expect(await replayTurn(replaying, asked)).toMatchObject({ verdict: 'differs', divergence: { where: 'call 1: args' } });
});

it('a record with one key twice is malformed, and nothing of it is executed', async () => {
  const twice = changed((text) => text.replace('"args":[{"$10":1,', '"args":[{"10":1,"$10":1,'));
  expect(await replayTurn(replaying, twice)).toMatchObject({ verdict: 'malformed', why: expect.stringContaining('malformed') });
});

it('redaction knows a key by its own name, and leaves no name that is none', () => {
  const { record: clean } = new Redaction({ keys: ['3'], values: ['2024'] }).apply(record);
  expect(clean.journal[0]).toMatchObject({ outcome: { value: { $2025: 1, '[redacted]': 2, $2023: 3 } } });
  expect(clean.journal[1]).toMatchObject({ args: [{ b: 1, $3: '[redacted]' }] });
});

it.each([7, {}, { judged: 7 }, { judged: { keys: [null] } }])(
  '18: a record with the scene %j is malformed, and names no key',
  async (scene) => {
    const altered = changed((text) => JSON.stringify({ ...JSON.parse(text), inputs: { ...JSON.parse(text).inputs, scene } }));
    expect(await replayTurn(replaying, altered)).toMatchObject({ verdict: 'malformed', unverified: [] });
    const altering = { read: (sid: string) => kept.read(sid), turns: async () => [altered] };
    expect(await exportSession(altering, 's')).toMatchObject({ keys: [] });
  },
);

it.each([{}, { envelope: 5 }, { limits: null }, { scene: 7 }])(
  '18: a stored record with %j among its inputs is damaged',
  (inputs) => {
    const text = JSON.stringify({ ...record, inputs: { ...(Object.keys(inputs).length === 0 ? {} : record.inputs), ...inputs } });
    expect(() => readRecord(text)).toThrow('a turn in the store cannot be read');
  },
);

it.each([{}, 7, [null], [{ kind: 7 }]])('18: a stored record with the journal %j is damaged', (journal) => {
  expect(() => readRecord(JSON.stringify({ ...record, journal }))).toThrow('a turn in the store cannot be read');
});
