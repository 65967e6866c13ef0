import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createRuntime, currentTurn, defineTool, type RuntimeOptions } from '../../src/entries/index.ts';
import { BusyError, ConfigError } from '../../src/wire/errors.ts';
import { SLOW } from '../groups.ts';
import { fakeRuntime } from './fake.ts';

const NOTHING = async (): Promise<undefined> => undefined;
/** Every run of the fake sandbox takes 1 fuel. */
const SOURCE = 'command\n  emit 1\nendcommand';

describe('issue 19: the budgets of a tenant', () => {
  it('count what all its runs used, and refuse the next run with the limit and both amounts', async () => {
    const { runtime } = fakeRuntime(NOTHING, { tenants: { defaults: { fuel: 2 } } });
    for (let run = 0; run < 2; run++) expect((await runtime.run(SOURCE, { tenant: 'acme' })).ok).toBe(true);
    const { ok, phase, error } = await runtime.run(SOURCE, { tenant: 'acme' });
    expect({ ok, phase }).toEqual({ ok: false, phase: 'request' });
    expect(error).toMatchObject({ kind: 'quota', code: 'ERR_QUOTA', limit: 'tenantFuel', allowed: 2, used: 2 });
    expect(error?.message).toBe("the tenant 'acme' has used up its fuel: 2 of 2; raise its fuel");
    expect((await runtime.run(SOURCE, { tenant: 'other' })).ok).toBe(true);
    expect(runtime.tenant('acme')).toMatchObject({ used: { fuel: 2 }, left: { fuel: 0 }, refused: 1, active: 0, error });
    expect(runtime.stats()).toMatchObject({ tenants: 2, tenantRefusals: 1 });
  });

  it('give a run no more than they leave', async () => {
    const { runtime, sandbox } = fakeRuntime(NOTHING, { tenants: { defaults: { fuel: 100, toolCalls: 7, cpuMs: 50 } } });
    runtime.charge('acme', { fuel: 60, toolCalls: 3, cpuMs: 20 });
    await runtime.run(SOURCE, { tenant: 'acme' });
    expect(sandbox.inputs[0]?.limits).toMatchObject({ fuel: 40, toolCalls: 4, cpuMs: 30 });
  });

  it('outlast a process when the next one is charged with what it has used', async () => {
    const options = { tenants: { defaults: { fuel: 2 } } };
    const before = fakeRuntime(NOTHING, options).runtime;
    for (let run = 0; run < 2; run++) await before.run(SOURCE, { tenant: 'acme' });
    const { used } = before.tenant('acme');
    const after = fakeRuntime(NOTHING, options).runtime;
    after.charge('acme', used);
    expect(after.tenant('acme').used).toEqual(used);
    expect((await after.run(SOURCE, { tenant: 'acme' })).error).toMatchObject({ limit: 'tenantFuel', used: 2 });
  });

  it('are full again after a period, which begins with the first run', async () => {
    let now = Date.UTC(2030, 0, 1);
    const { runtime } = fakeRuntime(NOTHING, { now: () => now, tenants: { defaults: { fuel: 1, periodMs: 60_000 } } });
    expect((await runtime.run(SOURCE, { tenant: 'acme' })).ok).toBe(true);
    now += 59_999;
    const { error } = await runtime.run(SOURCE, { tenant: 'acme' });
    expect(error?.message).toContain('it is full again at 2030-01-01T00:01:00.000Z');
    now += 1;
    expect((await runtime.run(SOURCE, { tenant: 'acme' })).ok).toBe(true);
  });

  it('are full again after a period, also when it began while the clock was a year ahead', async () => {
    const right = Date.UTC(2030, 0, 1);
    let now = Date.UTC(2031, 0, 1);
    const { runtime } = fakeRuntime(NOTHING, { now: () => now, tenants: { defaults: { fuel: 1, periodMs: 60_000 } } });
    expect((await runtime.run(SOURCE, { tenant: 'acme' })).ok).toBe(true);
    now = right;
    const { error } = await runtime.run(SOURCE, { tenant: 'acme' });
    expect(error?.message).toContain('it is full again at 2030-01-01T00:01:00.000Z');
    now = right + 60_000;
    expect((await runtime.run(SOURCE, { tenant: 'acme' })).ok).toBe(true);
  });

  it('count tokens that the application charges', async () => {
    const { runtime } = fakeRuntime(NOTHING);
    const tenant = { id: 'acme', tokens: 10 };
    runtime.charge(tenant, { tokens: 10 });
    const { error } = await runtime.run(SOURCE, { tenant });
    expect(error).toMatchObject({ limit: 'tenantTokens', allowed: 10, used: 10 });
    expect(() => runtime.charge('acme', { tokens: -1 })).toThrow(ConfigError);
  });

  it('hold for a tenant that the run itself describes, from then on', async () => {
    const { runtime } = fakeRuntime(NOTHING, { tenants: { each: { acme: { fuel: 1 } } } });
    await runtime.run(SOURCE, { tenant: 'acme' });
    expect((await runtime.run(SOURCE, { tenant: 'acme' })).ok).toBe(false);
    expect((await runtime.run(SOURCE, { tenant: { id: 'acme', fuel: 2 } })).ok).toBe(true);
    expect((await runtime.run(SOURCE, { tenant: 'acme' })).error).toMatchObject({ allowed: 2, used: 2 });
  });

  it('are those of the turn for forks, for runs within a tool, and for what the tool itself reads', async () => {
    const seen: unknown[] = [];
    const { runtime } = fakeRuntime(async ({ tool }) => void (await tool('tool.t.Look')), {
      policy: { allow: ['*'] },
      tools: [defineTool({ name: 'tool.t.Look', run: () => void seen.push(currentTurn()?.tenant) })],
    });
    using turn = runtime.turn({ tenant: 'acme' });
    await runtime.interpreter().fork({ turn }).execute(SOURCE);
    expect(seen).toEqual(['acme']);
    expect(runtime.tenant('acme').used.fuel).toBe(1);
  });

  it.each([
    [{ defaults: { fuel: 0 } }, 'fuel must be at least 1'],
    [{ defaults: { share: 1.5 } }, 'share must be a whole number'],
    [{ each: { 'a b': {} } }, 'visible ASCII'],
    [{ each: { a: { memory: 1 } } }, "unknown key 'memory'"],
  ])('%j is refused', (tenants: object, message) => {
    expect(() => fakeRuntime(NOTHING, { tenants })).toThrow(message);
  });

  it.each([null, Number.NaN, -1, 1.5, {}, ''])('finding 8: %j is no limit of a tenant and no usage', (tokens: unknown) => {
    const limits: object = { tokens };
    expect(() => fakeRuntime(NOTHING, { tenants: { defaults: limits } })).toThrow(ConfigError);
    expect(() => fakeRuntime(NOTHING, { tenants: { each: { a: limits } } })).toThrow(ConfigError);
    const { runtime } = fakeRuntime(NOTHING);
    expect(() => runtime.charge('a', limits)).toThrow(ConfigError);
  });

  it('finding 8: an undefined limit of a tenant leaves the default in force', () => {
    const absent: object = { fuel: undefined };
    const { runtime } = fakeRuntime(NOTHING, { tenants: { defaults: { fuel: 1 }, each: { b: absent } } });
    expect(runtime.tenant('b').limits).toEqual({ fuel: 1 });
    runtime.charge(Object.assign({ id: 'a' }, absent), { fuel: 1 });
    expect(runtime.tenant('a').limits).toEqual({ fuel: 1 });
  });

  it.each(['', 'a b', 'a\n', 'ä', 'x'.repeat(129)])('the id %j is refused', async (tenant) => {
    const { runtime } = fakeRuntime(NOTHING);
    await expect(runtime.run(SOURCE, { tenant })).rejects.toThrow(ConfigError);
    expect(() => runtime.turn({ tenant })).toThrow(ConfigError);
  });

  it.each(['__proto__', 'constructor', 'toString'])('the id %s is one like any other', async (tenant) => {
    const { runtime } = fakeRuntime(NOTHING, { tenants: { defaults: { fuel: 1 } } });
    expect((await runtime.run(SOURCE, { tenant })).ok).toBe(true);
    expect((await runtime.run(SOURCE, { tenant })).error).toMatchObject({ limit: 'tenantFuel' });
    expect(runtime.tenant('other').used.fuel).toBe(0);
  });
});

describe('issue 19: what a runtime remembers of tenants', () => {
  it('is bounded when an attacker chooses the ids; listed tenants keep what they used', () => {
    const { runtime } = fakeRuntime(NOTHING, { tenants: { each: { listed: { fuel: 100 } } } });
    runtime.charge('listed', { fuel: 3 });
    for (let n = 0; n < 25_000; n++) runtime.charge(`id-${n}`, { fuel: 1 });
    expect(runtime.stats().tenants).toBe(10_001);
    expect(runtime.tenant('listed').used.fuel).toBe(3);
    expect([runtime.tenant('id-24999').used.fuel, runtime.tenant('id-0').used.fuel]).toEqual([1, 0]);
  });

  it('does not grow by reading', () => {
    const { runtime } = fakeRuntime(NOTHING);
    for (let n = 0; n < 100; n++) runtime.tenant(`id-${n}`);
    expect(runtime.stats().tenants).toBe(0);
  });

  it('always has the tenants with runs', async () => {
    const open = Promise.withResolvers<undefined>();
    const { runtime } = fakeRuntime(() => open.promise, { tenants: { defaults: { fuel: 1 } } });
    const run = runtime.run(SOURCE, { tenant: 'acme' });
    for (let n = 0; n < 10_050; n++) runtime.charge(`id-${n}`, { fuel: 1 });
    open.resolve(undefined);
    await run;
    expect(runtime.tenant('acme')).toMatchObject({ used: { fuel: 1 }, active: 0 });
  });
});

const WAIT = 'command\n  call tool.t.Wait()\nendcommand';
const EMIT = 'command\n  emit "there"\nendcommand';

/** A runtime whose tool answers all its calls when it is told to, and a promise for the moment when so many are open. */
async function service(calls: number, options: RuntimeOptions = {}) {
  const opened = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  let open = 0;
  const wait = defineTool({
    name: 'tool.t.Wait',
    run: async () => {
      if (++open === calls) opened.resolve();
      await answer.promise;
    },
  });
  const runtime = await createRuntime({ tools: [wait], policy: { allow: ['*'] }, concurrency: 1, ...options });
  return { runtime, opened: opened.promise, answer: answer.resolve };
}

describe('issue 19: runs of many callers', () => {
  it.each([
    ['of a tenant', 6, { tenant: 'slow' }, { tenant: 'quick' }],
    ['without a name', 7, {}, {}],
  ])('twenty slow calls %s hold up no other program', { timeout: 300_000 }, async (_, held, slow, quick) => {
    const { runtime, opened, answer } = await service(held, { maxWorkers: 8, launcher: 'none' });
    await using _runtime = runtime;
    const sleeps = Array.from({ length: 20 }, () => runtime.run(WAIT, slow));
    await opened;
    // The slow calls are answered only after this run.
    expect((await runtime.run(EMIT, quick)).emits).toEqual(['there']);
    answer();
    expect((await Promise.all(sleeps)).every(({ ok }) => ok)).toBe(true);
  });

  it('of one tenant begin as many at once as its concurrency says, and wait in its part of the queue', async () => {
    const tenants = { defaults: { concurrency: 2, queueLength: 1 } };
    const { runtime, opened, answer } = await service(2, { tenants, launcher: 'none' });
    await using _ = runtime;
    const runs = Array.from({ length: 2 }, () => runtime.run(WAIT, { tenant: 'acme' }));
    await opened;
    runs.push(runtime.run(WAIT, { tenant: 'acme' }));
    await sleep(0);
    expect(runtime.stats()).toMatchObject({ waitingForHost: 2, queued: 1 });
    expect(runtime.tenant('acme').active).toBe(3);
    const refused = runtime.run(WAIT, { tenant: 'acme' });
    await expect(refused).rejects.toThrow(BusyError);
    await expect(refused).rejects.toMatchObject({ limit: 'tenantQueueLength', allowed: 1, used: 1 });
    expect(runtime.tenant('acme').refused).toBe(1);
    expect((await runtime.run(EMIT, { tenant: 'other' })).ok).toBe(true);
    answer();
    await Promise.all(runs);
  });

  it('say how long they waited for a worker', SLOW, async () => {
    const { runtime, opened, answer } = await service(1, { maxWorkers: 1 });
    await using _ = runtime;
    const first = runtime.run(WAIT);
    await opened;
    const begun = performance.now();
    const second = runtime.run(EMIT);
    const third = runtime.run(EMIT, { signal: AbortSignal.timeout(20) });
    const { error, usage } = await third;
    expect(error?.code).toBe('ERR_CANCELLED');
    expect(usage.queueMs).toBeGreaterThan(10);
    answer();
    const { queueMs, wallMs } = (await second).usage;
    expect(queueMs).toBeGreaterThan(10);
    expect((queueMs ?? 0) + wallMs).toBeLessThanOrEqual(performance.now() - begun + 1);
    expect((await first).usage.queueMs).toBeGreaterThanOrEqual(0);
  });
});
