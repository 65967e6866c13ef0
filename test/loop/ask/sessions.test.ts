import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { askExecutor } from '../../../src/loop/ask/nested.ts';
import { functionAgent, type LoopEvent, SessionCoordinator, SqliteStore } from '../../../src/loop/index.ts';
import { AskQuota } from '../../../src/loop/quota.ts';
import { newSession } from '../../../src/loop/sessions/store.ts';
import type { AskRequest, ForkOptions } from '../../../src/runtime/index.ts';
import { defineTool } from '../../../src/tools/index.ts';
import { tempFolder } from '../../folder.ts';
import { BEGUN } from '../begun.ts';
import { askBench, envelope, replies, token } from './bench.ts';

const DONE = token('done');
const GO_ON = token('continue');
const USERDATA = { subject: 's', fields: {} };

it('CTX-4-1, CTX-4-9: 50 sessions at once, each asking two levels deep: every probe sees its own session and turn, then its own again', async () => {
  const seen = new Map<string, [string | null, number | null][]>();
  const probe = defineTool({
    name: 'tool.t.Probe',
    args: [{ name: 'who', type: 'string' }],
    async run({ who }, { turn }) {
      await sleep(Math.random() * 3);
      const places = seen.get(String(who)) ?? [];
      seen.set(String(who), [...places, [turn.sessionId, turn.turnIndex]]);
    },
  });
  const call = 'call tool.t.Probe(userdata["fields"]["who"])';
  const ask = (model: string) => `ask "${model}", {"subject": "s", "fields": {"who": userdata["fields"]["who"]}}`;
  const agents = {
    outer: replies(envelope(call, 'emit 1', GO_ON), envelope(call, ask('deep'), call, DONE)),
    deep: replies(envelope(call, DONE)),
  };
  // Half of the workers are left to what is nested, so four programs of the sessions outside are under way at a time.
  const runtime = { tools: [probe], concurrency: 2, maxWorkers: 8, limits: { wallMs: 120_000 } };
  await using bench = await askBench({ agents, runtime });
  const agent = replies(envelope(call, ask('outer'), call, DONE));
  const names = Array.from({ length: 50 }, (_, index) => `s${index}`);
  const results = await Promise.all(
    names.map((sid) => bench.loop.runLoop({ userdata: { subject: 's', fields: { who: sid } }, agent, sid })),
  );
  expect(new Set(results.map(({ decision }) => decision))).toEqual(new Set(['DONE']));
  const kept = await bench.store.list();
  expect(kept).toHaveLength(150);
  for (const name of names) {
    const outer = kept.find(({ parent }) => parent?.sid === name)?.sid ?? '';
    const deep = kept.find(({ parent }) => parent?.sid === outer)?.sid ?? '';
    expect(seen.get(name)).toEqual([
      [name, 1],
      [outer, 1],
      [outer, 2],
      [deep, 1],
      [outer, 2],
      [name, 1],
    ]);
    expect(kept.find(({ sid }) => sid === deep)?.parent).toEqual({ sid: outer, turn: 2, seq: 2 });
  }
});

it('CTX-4-2, CTX-4-3: each turn of the loop has a fork of its own, which carries the new context before anything runs', async () => {
  const forks: ForkOptions[] = [];
  const requests: AskRequest[] = [];
  await using bench = await askBench({
    agents: { a: replies(envelope('emit 1', GO_ON), envelope('emit 2', DONE)) },
  });
  const { createRuntime } = await import('../../../src/runtime/index.ts');
  await using runtime = await createRuntime({
    concurrency: 1,
    ask: async (request) => {
      requests.push(request);
      const executor = askExecutor(
        {
          ...request,
          fork(options) {
            forks.push(options);
            return request.fork(options);
          },
        },
        new AskQuota(null, { turns: null, tokens: null }),
        undefined,
      );
      for (const turnIndex of [1, 2]) {
        const context = executor.context({ sessionId: 'nested', turnIndex });
        executor.fork({ context, tools: [], limits: executor.limits });
      }
      return { t: 'ok', value: null };
    },
  });
  using turn = runtime.turn({ sessionId: 'host', turnIndex: 3, values: { app: 'mine' } });
  await runtime.interpreter().fork({ turn }).execute('command\nask "a", "go"\nendcommand');
  expect(forks.map(({ turn, id }) => [turn?.sessionId, turn?.turnIndex, turn?.value('app'), id])).toEqual([
    ['nested', 1, 'mine', 'nested#1'],
    ['nested', 2, 'mine', 'nested#2'],
  ]);
  expect([requests[0]?.turn.sessionId, requests[0]?.turn.turnIndex]).toEqual(['host', 3]);
  expect(bench.runtime).not.toBe(runtime);
});

it('AL3-7-4: cancelling the session outside ends what is nested in it: nothing runs, no lease is held', async () => {
  const inside = Promise.withResolvers<AbortSignal>();
  const agents = {
    waits: functionAgent(async ({ signal }) => {
      inside.resolve(signal);
      await sleep(60_000, null, { signal });
      return '';
    }),
    spins: replies(envelope('call tool.t.Here()', 'while true', 'set x = 1', 'endwhile')),
  };
  const here = Promise.withResolvers<void>();
  const tool = defineTool({ name: 'tool.t.Here', run: () => here.resolve() });
  await using bench = await askBench({ agents, runtime: { tools: [tool] } });
  const cancelled = async (sid: string, model: string, reached: Promise<unknown>) => {
    const agent = replies(envelope(`ask "${model}", "go"`, DONE));
    const running = bench.loop.runLoop({ userdata: USERDATA, agent, sid });
    await reached;
    await bench.loop.cancel(sid);
    expect(await running).toMatchObject({ decision: 'HALT', reason: 'ERR_CANCELLED' });
    const nested = (await bench.store.list()).find(({ parent }) => parent?.sid === sid);
    // As soon as the session outside has its result, the one inside has ended.
    expect(nested).toMatchObject({ status: 'halted', reason: 'ERR_CANCELLED', lease: null });
  };
  await cancelled('one', 'waits', inside.promise);
  expect((await inside.promise).aborted).toBe(true);
  await cancelled('two', 'spins', here.promise);
});

it('progress of nested turns is told with the turn that asked', async () => {
  const told: string[] = [];
  const onEvent = (event: LoopEvent, parent: { readonly sid: string | null; readonly seq: number }) => {
    if (event.type === 'asked' || event.type === 'decided') told.push(`${parent.sid}.${parent.seq} ${event.turn} ${event.type}`);
  };
  await using bench = await askBench({
    agents: { a: replies(envelope('emit 1', GO_ON), envelope('emit 2', DONE)) },
    ask: { onEvent },
  });
  await bench.loop.runLoop({ userdata: USERDATA, agent: replies(envelope('ask "a", "go"', DONE)), sid: 's' });
  expect(told).toEqual(['s.1 1 asked', 's.1 1 decided', 's.1 2 asked', 's.1 2 decided']);
});

it('a nested session that a dead process left open is halted by who recovers, also in the middle of a turn', async () => {
  const folder = tempFolder();
  let now = 1_000_000;
  using store = await SqliteStore.open(join(folder, 'sessions.db'), { clock: { now: () => now } });
  const clock = { now: () => 1_000_000, monotonic: () => 0 };
  const later = { now: () => 2_000_000, monotonic: () => 0 };
  const userdata = '{"subject":"s","fields":{}}';
  const dead = new SessionCoordinator({ store, log: null, clock, replayTtl: 600, owner: 'dead' });
  await using bench = await askBench({ agents: {} });
  const { limits } = bench.runtime;
  const begun = { ...BEGUN, nonce: 'AAAAAAAAAAAAAAAAAAAAAA', limits };
  for (const [sid, parent] of [
    ['outer', null],
    ['between', { sid: 'outer', turn: 1, seq: 1 }],
    ['within', { sid: 'outer', turn: 1, seq: 2 }],
    ['ofarun', { sid: null, turn: null, seq: 1 }],
  ] as const) {
    await store.create(newSession(sid, userdata, parent), clock.now());
    const claimed = await dead.claim(sid);
    if (sid === 'within') await dead.start({ ...begun, sid }, claimed);
  }
  const recover = (at: typeof clock) =>
    new SessionCoordinator({ store, log: null, clock: at, replayTtl: 600, owner: 'next' }).recover();
  // While the other may live, nothing is taken from it.
  expect(await recover(clock)).toEqual([]);
  // One that was opened, or had a turn, a moment ago may be between two turns of a process that lives.
  now = later.now() - 10;
  await store.create(newSession('young', userdata, { sid: 'outer', turn: 1, seq: 3 }), now);
  now = later.now();
  expect(await recover(later)).toEqual(['outer']);
  const all = await store.list();
  expect(Object.fromEntries(all.map(({ sid, status, reason, lease }) => [sid, [status, reason, lease === null]]))).toEqual({
    outer: ['open', null, true],
    young: ['open', null, true],
    between: ['halted', 'ERR_INTERRUPTED', true],
    within: ['halted', 'ERR_INTERRUPTED', true],
    ofarun: ['halted', 'ERR_INTERRUPTED', true],
  });
  expect((await store.turns('within')).map(({ decision, reason }) => [decision, reason])).toEqual([['HALT', 'ERR_INTERRUPTED']]);
});
