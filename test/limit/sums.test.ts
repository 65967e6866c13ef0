import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AskRequest, createRuntime, type Runtime } from '../../src/runtime/index.ts';
import { defineTool, type ToolRuntime } from '../../src/tools/index.ts';
import {
  defaultLimits,
  LIMITS,
  type LimitKey,
  POOL_LIMITS,
  type PoolKey,
  TENANT_LIMITS,
  type TenantKey,
} from '../../src/wire/limits.ts';
import { sumUsd } from '../../src/wire/money.ts';
import type { RunResult } from '../../src/wire/result.ts';
import { askBench, envelope, replies, token } from '../loop/ask/bench.ts';

const KB = 1024;
const MB = 1024 * KB;
const BRANCHES = 64;
const SESSIONS = 16;

/** What the tools of this file have done since the test began. */
const done = { calls: 0, active: 0, most: 0, worked: 0, cpuMs: 0, cost: 0 };

function compute(ms: number): void {
  const before = process.threadCpuUsage();
  for (;;) {
    const { user, system } = process.threadCpuUsage(before);
    if (user + system >= ms * 1000) break;
  }
  done.cpuMs += ms;
}

/** Counts the calls that are under way at once. */
async function counted<T>(work: () => Promise<T>): Promise<T> {
  done.calls++;
  done.most = Math.max(done.most, ++done.active);
  try {
    return await work();
  } finally {
    done.active--;
  }
}

const number = [{ name: 'n', type: 'int' }] as const;
const PIECE = 256 * KB;
const tools = [
  defineTool({ name: 'tool.t.One', returns: 'int', run: () => counted(async () => 1) }),
  defineTool({
    name: 'tool.t.Calls',
    args: number,
    returns: 'int',
    run: ({ n }, runtime: ToolRuntime) =>
      counted(async () => {
        for (let left = n; left > 0; left--) await runtime.callTool('tool.t.One', []);
        return n;
      }),
  }),
  defineTool({
    name: 'tool.t.Work',
    args: number,
    returns: 'int',
    run: async ({ n }, runtime) => {
      for (let left = n; left > 0; left--) {
        await runtime.charge(PIECE);
        done.worked += PIECE / 32;
      }
      return n;
    },
  }),
  defineTool({
    name: 'tool.t.Paid',
    args: number,
    returns: 'int',
    cost: { usd: { each: 0.001, of: 'n' } },
    run: ({ n }) =>
      counted(async () => {
        done.cost = sumUsd(done.cost, 0.001 * n);
        await sleep(1);
        return n;
      }),
  }),
  defineTool({ name: 'tool.t.Compute', args: number, returns: 'int', run: ({ n }) => compute(n) ?? n }),
  defineTool({ name: 'tool.t.Text', args: number, run: ({ n }) => 'x'.repeat(n) }),
  defineTool({ name: 'tool.t.Echo', args: [{ name: 'text', type: 'string' }], run: ({ text }) => text }),
  defineTool({ name: 'tool.t.List', args: number, run: ({ n }) => Array(n).fill(0) }),
  defineTool({
    name: 'tool.t.Map',
    args: number,
    run: ({ n }) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, 0])),
  }),
  defineTool({
    name: 'tool.t.Deep',
    args: number,
    run: ({ n }) => Array.from({ length: n - 1 }).reduce<unknown>((inner) => [inner], []),
  }),
  defineTool({
    name: 'tool.t.Slow',
    args: number,
    maxResultBytes: MB,
    run: ({ n }, { signal }) => counted(() => sleep(n, 'x', { signal })),
  }),
];

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ tools, policy: { allow: ['*'] }, concurrency: 1 });
});
afterAll(() => runtime.close());

const together = (call: string, branches = BRANCHES, target = 'r[i]'): string =>
  `command\n  for each i, x in "${'x'.repeat(branches)}" together\n    set ${target} = tool.t.${call}\n  endfor\n  emit "end"\nendcommand\n`;

interface Together {
  /** The call that 64 branches make. */
  readonly call: string;
  readonly limits: Partial<Record<LimitKey, number>>;
  readonly branches?: number;
  /** Whether each branch has the limit for itself, so that all of them end well. */
  readonly each?: true;
  /** What all branches did together, which the limit bounds up to `slack`. */
  readonly sum?: () => number;
  readonly slack?: number;
}

/** What 64 branches do to each limit. A text says why calls that run together cannot use it. */
const TOGETHER: Readonly<Record<LimitKey, string | Together>> = {
  fuel: { call: 'Work(20)', limits: { fuel: 200_000 }, sum: () => done.worked },
  cpuMs: { call: 'Compute(40)', limits: { cpuMs: 100 }, sum: () => done.cpuMs, slack: 40 },
  wallMs: { call: 'Slow(500)', limits: { wallMs: 150 } },
  memoryBytes: { call: 'Text(50000)', limits: { memoryBytes: MB } },
  outputBytes: 'the program emits, not its calls',
  lineBytes: 'the program emits, not its calls',
  scratchBytes: 'the program whispers, not its calls',
  toolCalls: { call: 'Calls(3)', limits: { toolCalls: 100 }, sum: () => done.calls },
  cost: { call: 'Paid(3)', limits: { cost: 0.1 }, sum: () => done.cost },
  // Two calls at once take 1.9 s in all, and a busy machine may keep each of them waiting for over a second.
  toolMs: { call: 'Slow(60)', limits: { toolMs: 1500, journalBytes: 2 * MB }, each: true },
  callDepth: 'a tool calls no procedure',
  evalDepth: 'a tool evaluates nothing in the program',
  sourceBytes: 'the host sends the sources',
  toolBytes: { call: 'Text(2000)', limits: { toolBytes: 64 * KB }, each: true },
  journalBytes: { call: 'Text(50000)', limits: { journalBytes: MB } },
  eventCount: 'the host sends the events',
  deliveries: 'the host sends the events',
  emits: 'the program emits, not its calls',
  toolCallsPerTool: { call: 'Calls(3)', limits: { toolCallsPerTool: 100 }, sum: () => done.calls - BRANCHES },
  togetherCalls: { call: 'One()', limits: { togetherCalls: BRANCHES }, branches: BRANCHES + 1, sum: () => done.calls },
  valueBytes: { call: 'Text(50000)', limits: { valueBytes: 128 * KB }, each: true },
  valueDepth: { call: 'Deep(40)', limits: { valueDepth: 50 }, each: true },
  textLength: { call: 'Text(900)', limits: { textLength: 1000 }, each: true },
  listLength: { call: 'List(90)', limits: { listLength: 100 }, each: true },
  mapLength: { call: 'Map(90)', limits: { mapLength: 100 }, each: true },
  traceEvents: 'a run is traced only when the host asks for it, and then its sum is bounded',
};

async function run(source: string, limits: Partial<Record<LimitKey, number>>): Promise<RunResult> {
  Object.assign(done, { calls: 0, active: 0, most: 0, worked: 0, cpuMs: 0, cost: 0 });
  return runtime.run(source, { limits: { ...limits } });
}

describe('issue 44, reserve, then begin: the sum over 64 branches', () => {
  it.each(LIMITS.map(({ key }) => key).filter((key) => typeof TOGETHER[key] !== 'string'))('%s', async (key) => {
    const row = TOGETHER[key];
    if (typeof row === 'string') throw new Error(row);
    const { error, emits } = await run(together(row.call, row.branches, row.each && 'r'), row.limits);
    const allowed = row.limits[key] ?? Number.NaN;
    if (row.each === true) {
      expect([error, emits]).toEqual([null, ['end']]);
      return;
    }
    expect(error).toMatchObject({ limit: key, allowed });
    expect(row.sum?.() ?? 0).toBeLessThanOrEqual(allowed + (row.slack ?? 0));
  });

  it('toolBytes, of the arguments', async () => {
    const long = together(`Echo("${'a'.repeat(2000)}")`);
    expect((await run(long, { toolBytes: 64 * KB })).error).toMatchObject({ limit: 'toolBytes' });
  });

  it('what runs at once is what the journal has room for', async () => {
    const { error } = await run(together('Slow(5)'), { journalBytes: 8 * MB });
    expect(error).toBeNull();
    expect([done.calls, done.most]).toEqual([BRANCHES, 7]);
  });

  it('the first breach stops the rest', async () => {
    const { error } = await run(together('Work(1000)'), { cpuMs: 60 });
    expect(error).toMatchObject({ limit: 'cpuMs' });
    const { worked } = done;
    await sleep(50);
    expect(done.worked).toBe(worked);
    expect(worked).toBeLessThanOrEqual(600_000);
  });
});

describe('issue 44, reserve, then begin: the sum over nested asks', () => {
  const USES = `command
  set text = "a" * 100000
  set i = 0
  while i < 1000
    set i = i + 1
  endwhile
  set r = tool.t.Text(1000)
  call tool.t.Compute(5)
  call tool.t.Paid(5)
  ask "a", "go" into x
endcommand
`;

  it('is bounded by what the caller has left of each shared limit, and each has its own of the others', async () => {
    const asked: AskRequest[] = [];
    await using asking = await createRuntime({
      tools,
      policy: { allow: ['*'] },
      concurrency: 1,
      ask: async (request) => {
        asked.push(request);
        return { t: 'ok', value: 1 };
      },
    });
    expect((await asking.run(USES)).error).toBeNull();
    const [request] = asked;
    if (request === undefined) throw new Error('nothing was asked');
    const usual = defaultLimits('run');
    const budget: Partial<Record<LimitKey, number>> = request.left;
    for (const { key, shared } of LIMITS) {
      const left = Math.min(request.limits[key], budget[key] ?? Number.POSITIVE_INFINITY);
      if (shared === true) expect(left, key).toBeLessThan(usual[key]);
      else expect(left, key).toBe(usual[key]);
    }
  });
});

it('issue 44, reserve, then begin: the journals of asks within asks hold no more together than one may', async () => {
  let texts = 0;
  const text = defineTool({ name: 'tool.t.Text', args: number, run: ({ n }) => 'x'.repeat(n + 0 * texts++) });
  const deeper = envelope('set r = tool.t.Text(300000)', 'ask "a", "go" into x', token('done'));
  await using bench = await askBench({
    agents: { a: replies(deeper) },
    runtime: { tools: [text], limits: { journalBytes: MB } },
  });
  const { error } = await bench.run('set r = tool.t.Text(300000)', 'ask "a", "go" into x');
  expect(error).not.toBeNull();
  // Three fit, and a program that got none may be corrected. With a journal of its own, each of five programs would make one and be corrected.
  expect(texts).toBeLessThanOrEqual(6);
});

/** How each limit of a runtime or a tenant bounds 16 sessions. A text says why there is no sum. */
const SESSIONS_OF: Readonly<Record<PoolKey | TenantKey, string | ((key: string) => Promise<void>)>> = {
  concurrency: async () => {
    const { most } = await sessions({ concurrency: 1, maxWorkers: 4 }, 'Compute(5)');
    expect(most).toBeLessThanOrEqual(1);
  },
  maxWorkers: async () => {
    const { most, calls } = await sessions({ concurrency: 1, maxWorkers: 3 }, 'Slow(10)');
    expect(most).toBeLessThanOrEqual(3);
    expect(calls).toBe(SESSIONS);
  },
  queueLength: async () => {
    const { calls, refused } = await sessions({ concurrency: 1, maxWorkers: 2, queueLength: 5 }, 'Slow(20)');
    // One run begins at once, and another when it waits for its tool.
    expect(calls + refused).toBe(SESSIONS);
    expect(calls).toBeLessThanOrEqual(7);
  },
  tenantConcurrency: async () => {
    const { most, calls } = await sessions(
      { concurrency: 1, maxWorkers: 6, tenants: { defaults: { concurrency: 2 } } },
      'Slow(10)',
    );
    expect(most).toBeLessThanOrEqual(2);
    expect(calls).toBe(SESSIONS);
  },
  tenantQueueLength: async () => {
    const tenants = { defaults: { concurrency: 1, queueLength: 4 } };
    const { calls, refused } = await sessions({ concurrency: 1, maxWorkers: 6, tenants }, 'Slow(20)');
    expect([calls, refused]).toEqual([5, SESSIONS - 5]);
  },
  tenantShare: 'a weight, which is no amount',
  tenantFuel: () => budget('fuel', 110),
  tenantCpuMs: () => budget('cpuMs', 30),
  tenantToolCalls: () => budget('toolCalls', 3),
  tenantTokens: 'the loop charges them for replies, each of which has a limit of its own',
  tenantCost: async () => {
    const { cost, used } = await sessions({ concurrency: 1, maxWorkers: 6, tenants: { defaults: { maxCost: 0.01 } } }, 'Paid(3)');
    expect([cost, used.maxCost]).toEqual([0.009, 0.009]);
  },
  tenantPeriodMs: 'a time, which is no amount',
};

/** Runs one program in 16 sessions at once. */
async function sessions(options: NonNullable<Parameters<typeof createRuntime>[0]>, call: string) {
  await using own = await createRuntime({ tools, policy: { allow: ['*'] }, ...options });
  Object.assign(done, { calls: 0, active: 0, most: 0, worked: 0, cpuMs: 0, cost: 0 });
  const runs = Array.from({ length: SESSIONS }, (_, n) =>
    own.run(`command\n  call tool.t.${call}\nendcommand\n`, { session: `s${n}`, tenant: 'acme' }),
  );
  const ends = await Promise.allSettled(runs);
  const { used } = own.tenant('acme');
  return { ...done, used, refused: ends.filter(({ status }) => status === 'rejected').length };
}

/** The runs that have begun at once may each take the whole rest of a budget, and so may those that begin as these end. */
async function budget(name: 'fuel' | 'cpuMs' | 'toolCalls', amount: number): Promise<void> {
  const CONCURRENCY = 2;
  const tenants = { defaults: { [name]: amount, concurrency: CONCURRENCY } };
  const { used } = await sessions({ concurrency: 1, maxWorkers: 6, tenants }, name === 'cpuMs' ? 'Compute(20)' : 'Calls(2)');
  expect(used[name]).toBeGreaterThanOrEqual(amount);
  // A call may end beyond the limit of its run for CPU time, by the time that it takes.
  expect(used[name]).toBeLessThanOrEqual(2 * CONCURRENCY * (amount + (name === 'cpuMs' ? 30 : 0)));
}

describe('issue 44, reserve, then begin: the sum over 16 sessions', () => {
  it.each([...POOL_LIMITS, ...TENANT_LIMITS].map(({ key }) => key))('%s', async (key) => {
    const bounds = SESSIONS_OF[key];
    if (typeof bounds !== 'string') await bounds(key);
    else expect(bounds).not.toBe('');
  });
});

it('issue 44, reserve, then begin: every limit of the table has its case', () => {
  expect(Object.keys(TOGETHER)).toEqual(LIMITS.map(({ key }) => key));
  expect(Object.keys(SESSIONS_OF)).toEqual([...POOL_LIMITS, ...TENANT_LIMITS].map(({ key }) => key));
});
