import { describe, expect, it } from 'vitest';
import type { Agent, AgentRequest } from '../../../src/loop/agents/agent.ts';
import { MemoryStore, runtimeExecutor, SqliteStore, seededIds } from '../../../src/loop/index.ts';
import type { TurnExecutor } from '../../../src/loop/turn/executor.ts';
import { createRuntime } from '../../../src/runtime/index.ts';
import { defineTool, type ToolDefinition } from '../../../src/tools/index.ts';
import { workerError } from '../../../src/wire/errorinfo.ts';
import { RunError } from '../../../src/wire/text/runerror.ts';
import { reply, TestClock } from '../fake.ts';
import { openHost, SESSION } from '../suspend/stage.ts';

const DONE = 'emit tool.aeiou.magic("LOOP", {"action": "done"})';
const program = (...lines: readonly string[]): string =>
  ['command', ...[...lines, DONE].map((line) => `  ${line}`), 'endcommand'].join('\n');
const FAILS = program('emit tool.w.Pay("ada")', 'emit tool.aeiou.magic("LOOP", {"action": "done"})', 'fail "no"');

/** A host that dies where `reached` resolves: in a call of the tool that `dies`, or while its agent is asked that number of times. */
function world(dies: string | number) {
  const made: string[] = [];
  const reached = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  let alive = false;
  const die = async (): Promise<void> => {
    if (alive) return;
    alive = true;
    reached.resolve();
    await over.promise;
  };
  const tool = (name: string): ToolDefinition =>
    defineTool({
      name: `tool.w.${name}`,
      args: [{ name: 'to', type: 'string' }],
      run: async ({ to }) => {
        made.push(`${name} ${to}`);
        if (dies === name) await die();
        return `${name} ${to}`;
      },
    });
  const agentOf = (...programs: readonly string[]): Agent & { readonly asked: AgentRequest[] } => {
    const asked: AgentRequest[] = [];
    return {
      asked,
      reply: async (request) => {
        asked.push(request);
        if (dies === asked.length) await die();
        return reply(programs[request.attempt - 1] ?? programs.at(-1) ?? '');
      },
    };
  };
  return { made, reached: reached.promise, over: over.resolve, agentOf, tools: [tool('Pay'), tool('Book')] };
}

const STORES = [
  ['memory', async (clock: TestClock) => new MemoryStore({ clock })],
  ['SQLite', (clock: TestClock) => SqliteStore.open(':memory:', { clock })],
] as const;
const CASES = STORES.flatMap((store) => (['turn', 'call'] as const).map((durable) => [...store, durable] as const));

type Store = MemoryStore | SqliteStore;

async function startedIn(store: Store) {
  const { next, fence } = await store.claim('s', { owner: 'test', ms: 1 });
  await store.release('s', fence);
  return next.kind === 'fresh' ? null : next.started;
}

/** Drives a session on a host until it dies, and resolves with a host that finds what the first one has left. */
async function afterDeath(
  { tools, reached, over }: ReturnType<typeof world>,
  store: Store,
  clock: TestClock,
  durable: 'turn' | 'call',
  agent: Agent,
  more: { readonly executor?: TurnExecutor } = {},
) {
  const dead = await openHost(tools, { store, clock, owner: 'dead', durable, ...more });
  const given = dead.loop.runLoop({ ...SESSION, agent }).catch((error: unknown) => error);
  await reached;
  clock.ms += 60_000;
  clock.elapsed += 60_000;
  await store.release('s', (await store.claim('s', { owner: 'other', ms: 1 })).fence);
  over();
  expect(await given).toMatchObject({ code: 'ERR_SESSION_LEASED' });
  await dead.runtime.close();
  const started = await startedIn(store);
  return { started, host: await openHost(tools, { store, clock, owner: 'next', ids: seededIds('next') }) };
}

describe.each(CASES)('a host that dies between the attempts at a turn, %s', (_, open, durable) => {
  it(`durable ${durable}: while the agent is asked again: it is asked again by the next host, under the same nonce`, async () => {
    const clock = new TestClock();
    const store = await open(clock);
    const here = world(2);
    const agent = here.agentOf(FAILS, program('emit tool.w.Pay("ada")', 'emit tool.w.Pay("bob")'));
    const { started, host } = await afterDeath(here, store, clock, durable, agent);
    await using next = host;
    expect(started).toMatchObject({ reply: null, attempts: [{ end: 'failed' }], agent: { asks: 1 } });
    expect(await next.loop.resume('s', { agent, repair: { changed: 'proceed' } })).toMatchObject({ decision: 'DONE' });
    expect(agent.asked.map(({ turn, attempt }) => [turn, attempt])).toEqual([
      [1, 1],
      [1, 2],
      [1, 2],
    ]);
    expect(agent.asked[2]?.prompt).toBe(agent.asked[1]?.prompt);
    expect(here.made).toEqual(['Pay ada', 'Pay bob']);
    const [record] = await store.turns('s');
    expect(record).toMatchObject({ turn: 1, agent: { asks: 2 }, inputs: { nonce: started?.nonce }, leftOver: [] });
    // The token of the first attempt was the first of the turn.
    expect(record?.inputs.jtis).toHaveLength(1);
    expect(record?.attempts?.[0]?.jtis).not.toEqual(record?.inputs.jtis);
  });

  it(`durable ${durable}: consulting alone stores the corrected program under the same nonce`, async () => {
    const clock = new TestClock();
    const store = await open(clock);
    const here = world(2);
    const agent = here.agentOf(FAILS, program('emit tool.w.Pay("ada")'));
    const { started, host } = await afterDeath(here, store, clock, durable, agent);
    await using next = host;
    expect(await next.loop.consult('s', { agent })).toBe(true);
    expect(await startedIn(store)).toMatchObject({ nonce: started?.nonce, reply: expect.stringContaining('Pay') });
    expect(await next.loop.resume('s', { agent })).toMatchObject({ decision: 'DONE' });
    expect((await store.turns('s'))[0]).toMatchObject({ agent: { asks: 2 }, inputs: { nonce: started?.nonce } });
    expect(here.made).toEqual(['Pay ada']);
  });

  it(`durable ${durable}: while the corrected program runs: what the first attempt did is not done again`, async () => {
    const clock = new TestClock();
    const store = await open(clock);
    const here = world('Book');
    const agent = here.agentOf(FAILS, program('emit tool.w.Pay("ada")', 'emit tool.w.Book("eve")', 'emit tool.w.Book("bob")'));
    const { started, host } = await afterDeath(here, store, clock, durable, agent);
    await using next = host;
    expect(started).toMatchObject({ attempts: [{ end: 'failed' }], reply: expect.stringContaining('eve') });
    expect(here.made).toEqual(['Pay ada', 'Book eve']);
    const result = await next.loop.resume('s', { agent });
    if (durable === 'call') {
      // Nobody knows what became of the call in which the host died, also in a second attempt.
      expect(result).toMatchObject({ decision: 'SUSPENDED', waiting: { tool: 'tool.w.book', args: ['eve'] } });
      await next.loop.complete('s', result.waiting?.call ?? '', { result: 'booked by hand' });
      expect(await next.loop.resume('s', { agent })).toMatchObject({ decision: 'DONE' });
      expect(here.made).toEqual(['Pay ada', 'Book eve', 'Book bob']);
    } else {
      expect(result).toMatchObject({ decision: 'DONE' });
      expect(here.made).toEqual(['Pay ada', 'Book eve', 'Book eve', 'Book bob']);
    }
    const [record] = await store.turns('s');
    expect(record).toMatchObject({
      attempts: [{ end: 'failed' }],
      leftOver: [],
      journal: [{ from: { attempt: 1, seq: 1 } }, {}, {}, {}],
    });
    expect(record?.output).toContain(durable === 'call' ? 'booked by hand' : 'Book eve');
    expect(agent.asked).toHaveLength(2);
    const limits = record?.inputs.limits.fuel ?? 0;
    const spent = record?.attempts?.[0]?.usage.fuel ?? 0;
    expect(limits + spent).toBe(started?.limits.fuel);
  });

  it(`durable ${durable}: after a worker was killed: the calls of the killed attempt are not made again`, async () => {
    const clock = new TestClock();
    const store = await open(clock);
    const here = world('Book');
    await using runtime = await createRuntime({ tools: here.tools, policy: { allow: ['*'] }, concurrency: 1 });
    const agent = here.agentOf(program('emit tool.w.Pay("ada")', 'emit tool.w.Book("eve")'));
    const { started, host } = await afterDeath(here, store, clock, durable, agent, {
      executor: killedOnce(runtimeExecutor(runtime)),
    });
    await using next = host;
    expect(started).toMatchObject({ attempts: [{ end: 'interrupted', journal: [{ seq: 1 }] }] });
    const result = await next.loop.resume('s', { agent });
    if (durable === 'call') {
      await next.loop.complete('s', result.waiting?.call ?? '', { result: 'by hand' });
      expect(await next.loop.resume('s', { agent })).toMatchObject({ decision: 'DONE' });
    } else expect(result).toMatchObject({ decision: 'DONE' });
    expect(here.made.filter((each) => each === 'Pay ada')).toHaveLength(1);
    expect((await store.turns('s'))[0]).toMatchObject({ inputs: { nonce: started?.nonce }, attempts: [{ end: 'interrupted' }] });
  });
});

/** Runs programs as `own` does, but the worker of the first run is killed after the first call. */
function killedOnce(own: TurnExecutor): TurnExecutor {
  let kills = true;
  return {
    ...own,
    fork(init) {
      const fork = own.fork(init);
      return {
        ...fork,
        async execute(request) {
          if (!kills) return fork.execute(request);
          kills = false;
          const cancel = new AbortController();
          const result = await fork.execute({ ...request, signal: cancel.signal, onCall: () => cancel.abort() });
          return result.ok
            ? result
            : { ...result, error: new RunError(workerError('killed'), []), journal: result.journal.slice(0, 1) };
        },
      };
    },
  };
}
