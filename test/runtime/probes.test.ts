import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createRuntime,
  currentTurn,
  defineTool,
  type Interpreter,
  type RunResult,
  type Runtime,
  SILENT_LOGGER,
} from '../../src/entries/index.ts';
import { SLOW } from '../groups.ts';
import { command, func } from './sources.ts';

/** Who a probe found itself called by. */
interface Sight {
  readonly sid: string | null;
  readonly turn: number | null;
  readonly actor: string | null;
  readonly value: unknown;
  readonly mine: unknown;
  readonly fork: string;
}

/** Everything that a tool can know of its caller, gathered before and after it waited; null when anything disagrees. */
async function look(runtime: Parameters<Parameters<typeof defineTool>[0]['run']>[1], ms: number): Promise<Sight | null> {
  const sight = async (): Promise<Sight> => ({
    sid: runtime.turn.sessionId,
    turn: runtime.turn.turnIndex,
    actor: runtime.actor?.id ?? null,
    value: runtime.turn.value('tenant'),
    mine: await runtime.getVar('mine'),
    fork: runtime.forkId,
  });
  const before = await sight();
  if (currentTurn() !== runtime.turn || runtime.tools.forkId !== runtime.forkId) return null;
  if (ms > 0) await sleep(ms);
  else await null;
  const after = await sight();
  if (currentTurn() !== runtime.turn) return null;
  return JSON.stringify(after) === JSON.stringify(before) ? after : null;
}

const sights: (Sight | null)[] = [];
/** Latencies that are the same on every run, and differ from call to call. */
let seed = 1;
const latency = (): number => {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed % 16 === 0 ? seed % 5 : 0;
};

const TOOLS = [
  defineTool({
    name: 'tool.test.Probe',
    run: async (_args, runtime) => {
      const sight = await look(runtime, latency());
      sights.push(sight);
      return sight?.mine;
    },
  }),
  defineTool({
    name: 'tool.test.Via',
    args: [{ name: 'depth', type: 'int' }],
    run: ({ depth }, runtime) => (depth === 0 ? runtime.callTool('test.Probe', []) : runtime.callTool('test.Via', [depth - 1])),
  }),
  defineTool({
    name: 'tool.test.Nest',
    description: 'runs the same program in a turn of its own, on top of the one that called it',
    run: async (_args, runtime) => {
      using turn = runtime.turn.derive({ turnIndex: (runtime.turn.turnIndex ?? 0) + 100 });
      const result = await roots.get(String(runtime.turn.sessionId))?.fork({ turn }).run('inner', ['nested']);
      const after = await look(runtime, 0);
      return [result?.result ?? null, after?.turn];
    },
  }),
];

const LIBRARY =
  func('inner(needs mine returns r)', 'return tool.test.Probe()') +
  func('middle(needs mine returns r)', 'set other = inner(mine + 10000)', 'return [other, tool.test.Probe(), tool.test.Via(2)]') +
  func(
    'work(needs mine, rounds returns r)',
    'set bad = 0',
    'set i = 0',
    'while i < rounds',
    '  set got = middle(mine + i)',
    '  if got != [mine + i + 10000, mine + i, mine + i]',
    '    set bad = bad + 1',
    '  endif',
    '  if tool.test.Probe() != mine',
    '    set bad = bad + 1',
    '  endif',
    '  set i = i + 1',
    'endwhile',
    'return bad',
  ) +
  'on event "look" as e do\n  set mine = e["payload"][0]["Payload"]\n  emit [tool.test.Probe(), inner("deep")]\nendon\n';

const roots = new Map<string, Interpreter>();
let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({
    tools: TOOLS,
    policy: { allow: ['*'] },
    // Four programs whose calls are open at once, in any order, are enough to mix sessions up; each worker costs the time of its start.
    maxWorkers: 4,
    limits: { toolCalls: 100_000, wallMs: 120_000, cpuMs: 60_000 },
  });
});
afterAll(() => runtime.close());

async function root(sid: string): Promise<Interpreter> {
  const made = runtime.interpreter({ host: { logger: SILENT_LOGGER }, actor: { id: `did:x:${sid}` } });
  await made.load(LIBRARY);
  roots.set(sid, made);
  return made;
}

async function succeed(running: Promise<RunResult>): Promise<RunResult> {
  const result = await running;
  expect(result.error).toBeNull();
  return result;
}

describe('a probe, called through any nesting, sees its immediate caller and its own turn', () => {
  it('CTX-1-1 CTX-3-9 CTX-4-9: turn → procedure → procedure → tool → callTool → tool; event handler; a turn within a turn', async () => {
    const one = await root('one');
    using turn = runtime.turn({ sessionId: 'one', turnIndex: 1, values: { tenant: 'T1' } });
    sights.length = 0;
    const fork = one.fork({ turn });
    const lines = [
      'set mine = "top"',
      'emit tool.test.Probe()',
      'emit middle(1)',
      'emit tool.test.Via(3)',
      'emit tool.test.Nest()',
    ];
    const { values } = await succeed(fork.execute(command(...lines)));
    expect(values).toEqual(['top', [10_001, 1, 1], 'top', ['nested', 1]]);
    const event = await succeed(fork.emitEvent('look', 'test', 'handler'));
    expect(event.values).toEqual([['handler', 'deep']]);
    expect(sights.map((sight) => [sight?.mine, sight?.turn])).toEqual([
      ['top', 1],
      [10_001, 1],
      [1, 1],
      [1, 1],
      ['top', 1],
      ['nested', 101],
      ['handler', 1],
      ['deep', 1],
    ]);
    for (const sight of sights) expect(sight).toMatchObject({ sid: 'one', actor: 'did:x:one', value: 'T1' });
    // A tool that is called by a tool acts for the same fork; each procedure call and each handler is a fork of its own.
    expect(sights[4]?.fork).toBe(sights[0]?.fork);
    expect(sights[3]?.fork).toBe(sights[2]?.fork);
    expect(new Set(sights.map((sight) => sight?.fork)).size).toBe(6);
  });

  it('AL3-3-2 CTX-4-8: 100 sessions at once, nested forks, tools of varied latency, 10 000 calls: not one mismatch', {
    ...SLOW,
    timeout: 300_000,
  }, async () => {
    const SESSIONS = 100;
    const ROUNDS = 25; // four probes each
    sights.length = 0;
    const sessions = Array.from({ length: SESSIONS }, async (_, index) => {
      const sid = `s${index}`;
      const interpreter = await root(sid);
      using turn = runtime.turn({ sessionId: sid, turnIndex: index + 1, values: { tenant: `T${index}` } });
      const result = await interpreter.fork({ turn }).run('work', [index * 100, ROUNDS]);
      return { error: result.error, bad: result.result };
    });
    const results = await Promise.all(sessions);
    expect(results.filter(({ error, bad }) => error !== null || bad !== 0)).toEqual([]);
    expect(sights).toHaveLength(SESSIONS * ROUNDS * 4);
    const mismatches = sights.filter((sight) => {
      if (sight === null) return true;
      const index = Number(sight.sid?.slice(1));
      const mine = Number(sight.mine) % 10_000;
      const own = mine >= index * 100 && mine < index * 100 + ROUNDS;
      return !own || sight.turn !== index + 1 || sight.actor !== `did:x:s${index}` || sight.value !== `T${index}`;
    });
    expect(mismatches).toEqual([]);
  });
});
