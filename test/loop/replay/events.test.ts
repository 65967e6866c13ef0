import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRuntime, type Runtime } from '../../../src/runtime/index.ts';
import { RecordedCalls } from '../../../src/tools/index.ts';
import type { JournalEntry } from '../../../src/wire/journal.ts';
import type { EventInput, RunInput } from '../../../src/wire/protocol.ts';
import type { RunResult } from '../../../src/wire/result.ts';
import { diceOf, LIBRARY, openWild, programOf, randomOf } from './random.ts';

/** Handlers that say what came, ask a tool, and sometimes fail. */
const HANDLERS = `
on event "tick" as e do
  emit e["payload"][0]["ID"]
  emit e["payload"][0]["TS"]
  emit tool.wild.Random()
endon
on event "tick" named "second" as e do
  if e["payload"][0]["Payload"] > 2
    fail "too much"
  endif
  whisper self, deep(2)
endon
on event "tock" as e do
  clear event named "second"
  emit e
endon
`;

let recording: Runtime;
let replaying: Runtime;
beforeAll(async () => {
  recording = await openWild(createRuntime);
  replaying = await createRuntime({ concurrency: 1 });
});
afterAll(() => Promise.all([recording.close(), replaying.close()]));

/** Everything of a result that does not tell the time. */
const steady = ({ usage, journal: _, ...rest }: RunResult): unknown => {
  const { fuel, peakMemoryBytes, toolCalls, outputBytes } = usage;
  return { ...rest, usage: { fuel, peakMemoryBytes, toolCalls, outputBytes } };
};

it('A3-2-7: runs with events, their ids and times, failing handlers and calls are the same again', async () => {
  let failures = 0;
  for (let seed = 0; seed < 30; seed += 1) {
    const dice = diceOf(randomOf(seed));
    const root = recording.interpreter();
    await root.load(LIBRARY + HANDLERS);
    const events = Array.from({ length: dice.whole(6) }, (_, index): EventInput => {
      const payload = dice.pick<EventInput['payload']>([1, 3, { a: [index] }, null]);
      return { name: dice.pick(['tick', 'tock', 'other']), source: 'test', payload };
    });
    const inputs: RunInput[] = [];
    const result = await root.fork({ limits: { fuel: 50_000, toolMs: 1000 } }).runRequest({
      sources: [{ name: 'src', text: dice.chance(0.3) ? '' : programOf(dice, true).replaceAll(/.*tool.aeiou.*/g, '') }],
      events,
      ...(dice.chance(0.5) ? { call: { name: 'deep', args: [dice.whole(5)] } } : {}),
      onInput: (input) => inputs.push(input),
    });
    failures += result.eventErrors.length;
    const [input] = inputs;
    if (input === undefined) throw new Error('no input was recorded');
    const copy: { input: RunInput; journal: JournalEntry[] } = JSON.parse(JSON.stringify({ input, journal: result.journal }));
    const calls = new RecordedCalls(copy.journal);
    const again = await replaying
      .interpreter()
      .fork()
      .runRequest({ recorded: { input: copy.input, calls } });
    expect(calls.divergence).toBeNull();
    expect(steady(again)).toEqual(steady(result));
  }
  expect(failures).toBeGreaterThan(3);
});
