import { expect, it } from 'vitest';
import { functionAgent, type LoopResult, replaySession, replayTurn, type TurnRecord } from '../../../src/loop/index.ts';
import { createRuntime } from '../../../src/runtime/index.ts';
import { defineTool } from '../../../src/tools/index.ts';
import { resealed } from '../sessions.ts';
import { type AskBench, askBench, envelope, replies, token } from './bench.ts';

const DONE = token('done');
const GO_ON = token('continue');
const CATCHING = ['on error do', '  emit system_error.code', '  clear_error', 'endon'];
const SPIN = ['set i = 0', 'while i < 1000000', '  set i = i + 1', 'endwhile'];
const USERDATA = { subject: 's', fields: {} };

/** Two levels, one that fails, one that is cut off by its caller's option, and one that nobody knows. */
const agents = {
  fine: replies(envelope('emit "one"', GO_ON), envelope('ask "deep", "go" into y', 'emit y', 'emit tool.t.Clock()', DONE)),
  deep: functionAgent(async () => ({ text: envelope('emit "deep"', DONE), tokens: 7 })),
  aborts: replies(envelope(token('abort', '{"reason": "no way"}'))),
  spins: replies(envelope(...SPIN)),
};
const clock = defineTool({ name: 'tool.t.Clock', run: () => performance.now() });
const run = (bench: AskBench, ...turns: readonly string[]): Promise<LoopResult> =>
  bench.loop.runLoop({ userdata: USERDATA, agent: replies(...turns), sid: 'outer' });

it('A3-2-7: a turn that asked is the same again, to the byte, and nobody is asked; so are the nested ones', async () => {
  await using bench = await askBench({ agents, runtime: { tools: [clock] } });
  const result = await run(
    bench,
    envelope(
      ...CATCHING,
      'ask "fine", {"n": 1} into x',
      'emit x',
      'ask "aborts", "go"',
      'ask "spins", "go" with {"fuel": 4000}',
      'ask "nobody", "go"',
      'emit "on"',
      DONE,
    ),
  );
  expect([result.decision, result.output?.split('\n')[0]]).toEqual(['DONE', 'deep']);
  expect(result.output).toContain('\n1\n37\n9\non');
  const kept = await bench.store.list();
  // Four asks found a model: one of them asked again.
  expect(kept).toHaveLength(5);
  await using elsewhere = await createRuntime({ concurrency: 1 });
  for (const { sid } of kept) {
    const state = await bench.store.read(sid);
    const turns = await bench.store.turns(sid);
    const { ok, turns: replayed } = await replaySession(elsewhere, { sid, head: state?.head ?? null, turns });
    expect([sid, ok, replayed.map(({ verdict, divergence }) => [verdict, divergence])]).toEqual([
      sid,
      true,
      turns.map(() => ['same', null]),
    ]);
    expect(replayed.map((each) => each.replayed?.usage.fuel)).toEqual(turns.map(({ usage }) => usage.fuel));
    expect(replayed.map((each) => each.replayed?.output)).toEqual(turns.map(({ output }) => output));
  }
});

it("A3-2-7: also a turn that the ask ended: the caller's own limit, and what it paid", async () => {
  await using bench = await askBench({ agents, runtime: { tools: [clock], limits: { fuel: 20_000 } } });
  const result = await run(bench, envelope('emit "before"', ...CATCHING, 'ask "spins", "go"', 'emit "never"', DONE));
  expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_QUOTA', error: { limit: 'fuel', allowed: 20_000 } });
  const [turn] = result.turns;
  expect(turn?.usage.fuel).toBe(20_000);
  await using elsewhere = await createRuntime({ concurrency: 1 });
  const replay = await replayTurn(elsewhere, must(turn));
  expect([replay.verdict, replay.divergence]).toEqual(['same', null]);
  expect(replay.replayed?.usage.fuel).toBe(20_000);
  expect(replay.replayed?.journal).toEqual(turn?.journal);
});

it('what was paid is part of what is compared: a record that says less differs in its fuel', async () => {
  await using bench = await askBench({ agents, runtime: { tools: [clock] } });
  const { turns } = await run(bench, envelope('ask "deep", "go" into x', 'emit x', DONE));
  const record = must(turns[0]);
  const journal = record.journal.map((entry) =>
    entry.kind === 'ask' && entry.spent !== undefined
      ? { ...entry, spent: { ...entry.spent, fuel: entry.spent.fuel - 1 } }
      : entry,
  );
  await using elsewhere = await createRuntime({ concurrency: 1 });
  const replay = await replayTurn(elsewhere, { ...record, journal });
  expect(replay.verdict).toBe('changed');
  expect(replay.divergence).toMatchObject({ where: 'fuel', recorded: String(record.usage.fuel) });
});

it('what was paid for an ask must be amounts: a record with anything else is not executed', async () => {
  await using bench = await askBench({ agents });
  const { turns } = await run(bench, envelope('ask "deep", "go" into x', 'emit x', DONE));
  const record = must(turns[0]);
  await using elsewhere = await createRuntime({ concurrency: 1 });
  for (const spent of [null, {}, { fuel: -1, toolCalls: 0, cpuMs: 0, turns: 1, tokens: 0 }]) {
    const journal = record.journal.map((entry) => (entry.kind === 'ask' ? { ...entry, spent } : entry));
    const forged: TurnRecord = JSON.parse(JSON.stringify({ ...record, journal }));
    expect(await replayTurn(elsewhere, resealed(forged), { prev: null })).toMatchObject({
      verdict: 'malformed',
      replayed: null,
    });
  }
});

it('model tokens of asks are tokens of the session, which bounds them', async () => {
  const asks = functionAgent(async ({ turn }) => ({
    text: envelope(`emit ${turn}`, 'ask "deep", "go"', 'ask "deep", "go"', GO_ON),
    tokens: 5,
  }));
  await using bench = await askBench({ agents });
  const options = { userdata: USERDATA, agent: asks, sid: 'outer' };
  const result = await bench.loop.runLoop({ ...options, maxTokens: 50 });
  // Twice 5 + 7 + 7; then 5, 7, and of the 0 left nothing can be asked: the run ends, and no program can catch that.
  expect(result).toMatchObject({ decision: 'HALT', reason: 'ERR_QUOTA', error: { limit: 'maxTokens', allowed: 50, used: 50 } });
  expect(result.turns).toHaveLength(3);
  expect((await bench.store.read('outer'))?.spent.tokens).toBe(50);
});

function must(record: TurnRecord | undefined): TurnRecord {
  if (record === undefined) throw new Error('there is no such turn');
  return record;
}
