// @module-tag slow
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createRuntime, defineTool } from '../../src/entries/index.ts';
import type { LimitOptions, Sandbox, SandboxResult, TenantShare } from '../../src/sandbox/index.ts';
import { MAX_ISOLATE_RUNS } from '../../src/sandbox/isolates.ts';
import { WorkerProcess } from '../../src/sandbox/worker.ts';
import { quotaError } from '../../src/wire/errorinfo.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { pureTools } from '../../stdlib-tools/index.ts';
import { childrenOf } from './children.ts';
import { closeSandboxes, handlers, inputOf, never, OK, sandboxOf } from './kit.ts';

afterAll(closeSandboxes);

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await sandboxOf({ isolation: 'tenant' });
});

interface Deed {
  readonly globals?: Record<string, TaggedJson>;
  readonly limits?: LimitOptions;
  readonly on?: ReturnType<typeof handlers>;
  readonly signal?: AbortSignal;
}

/** A deed of a tenant, or of the application. */
function act(tenant: string | Partial<TenantShare> | null, deed: string, { globals, limits, on, signal }: Deed = {}) {
  const share: TenantShare | null =
    tenant === null ? null : { id: 'x', share: 1, ...(typeof tenant === 'string' ? { id: tenant } : tenant) };
  return sandbox.run(inputOf(deed, globals, limits), { ...(on ?? handlers()), tenant: share }, signal);
}

/** Whether a run of the tenant finds what a deed `leave` has left in its isolate. */
async function finds(tenant: Parameters<typeof act>[0], deed?: Deed): Promise<boolean> {
  const { result } = await act(tenant, 'find', deed);
  return Array.isArray(result.result) && result.result.at(-1) === 'number';
}

/** Whether the isolate in which something was left serves another run after this one. */
async function survives(tenant: string, between: () => Promise<SandboxResult>): Promise<boolean> {
  await act(tenant, 'leave');
  await between();
  return finds(tenant);
}

describe("isolation 'tenant'", () => {
  it('an isolate serves the next run of its tenant, and none of another tenant or of the application', async () => {
    await act('own', 'leave');
    expect([await finds('own'), await finds('other'), await finds(null), await finds('own')]).toEqual([true, false, false, true]);
    await act(null, 'leave');
    expect([await finds(null), await finds('own'), await finds('third')]).toEqual([true, true, false]);
  });

  it('the globals and the intrinsics are frozen in it, so that only what the interpreter has itself can stay', async () => {
    await act('frozen', 'leave');
    const { result } = await act('frozen', 'find');
    expect(result.result).toEqual([...['undefined', 'undefined', 'undefined', 1, 2, 'a', 'undefined', 'undefined', 'number']]);
  });

  const failing = (kind: string, code: string, nsCode: number | null) => () =>
    act('ends', 'fails', { globals: { kind, code, nsCode } });
  it.each([
    ['a success', true, () => act('ends', 'nothing')],
    ['an error of the program', true, failing('runtime', 'NS9', 9)],
    ['a denied call', true, failing('policy', 'NS1003', 1003)],
    ['a breach that the interpreter tells', false, failing('quota', 'ERR_QUOTA', null)],
    ['a time that is over', false, () => act('ends', 'loop', { limits: { cpuMs: 30 } })],
    ['an internal error', false, failing('internal', 'ERR_INTERNAL', null)],
    ['a hole in the interpreter', false, () => act('ends', 'throws')],
    ['a frame out of turn', false, () => act('ends', 'raw', { globals: { frames: ['{"t":"result"}'] } })],
    [
      'a halt by the host',
      false,
      () =>
        act('ends', 'call', {
          on: handlers(async () => ({ t: 'halt', error: quotaError({ limit: 'fuel', allowed: 1 }, 'no more') })),
        }),
    ],
    [
      'a halt that the program hides',
      false,
      () => act('ends', 'raw', { on: handlers(async () => halted), globals: { frames: [CALL] } }),
    ],
    ['a heap that has grown', false, () => act('ends', 'grow', { globals: { mb: 20 } })],
    ['a heap that has grown a little', true, () => act('ends', 'grow', { globals: { mb: 2 } })],
  ] as const)('after %s an isolate is kept: %s', async (_, kept, between) => {
    expect(await survives('ends', between)).toBe(kept);
  });

  it('a cancelled run ends it, also one that waits for a call', async () => {
    const cancelled = async (deed: string): Promise<SandboxResult> => {
      const controller = new AbortController();
      const on = handlers(never);
      const running = act('ends', deed, {
        on: { ...on, onStarted: () => setTimeout(() => controller.abort(), 20) },
        signal: controller.signal,
      });
      return running;
    };
    expect(await survives('ends', () => cancelled('call'))).toBe(false);
    expect(await survives('ends', () => cancelled('loop'))).toBe(false);
  });

  it('another limit of memory ends it, and what is left of a budget does not', async () => {
    await act('limits', 'leave');
    expect(await finds('limits', { limits: { fuel: 1000 } })).toBe(true);
    expect(await finds('limits', { limits: { memoryBytes: 1 << 25 } })).toBe(false);
    expect(await finds('limits')).toBe(false);
  });

  it(`it serves ${MAX_ISOLATE_RUNS} runs`, async () => {
    await act('many', 'leave');
    for (let n = 2; n < MAX_ISOLATE_RUNS; n++) await act('many', 'nothing');
    expect(await finds('many')).toBe(true);
    expect(await finds('many')).toBe(false);
  });

  it('a worker is woken for its next isolate only when a run had a fresh one', async () => {
    const sent = vi.spyOn(WorkerProcess.prototype, 'send');
    const woken = async (tenant: string): Promise<number> => {
      await act(tenant, 'nothing');
      sent.mockClear();
      await act(tenant, 'nothing');
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      return sent.mock.calls.filter(([frame]) => frame.t === 'prepare').length;
    };
    expect(await woken('often')).toBe(0);
    const fresh = await sandboxOf({ isolation: 'run' });
    sent.mockClear();
    await fresh.run(inputOf('nothing'), handlers());
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(sent.mock.calls.filter(([frame]) => frame.t === 'prepare')).toHaveLength(1);
    sent.mockRestore();
    await fresh.close();
  });

  it('a tenant with an isolation of its own has that one', async () => {
    const fresh = { id: 'fresh', isolation: 'run' } as const;
    await act(fresh, 'leave');
    expect(await finds(fresh)).toBe(false);
    const before = childrenOf(process.pid);
    await act({ id: 'alone', isolation: 'process' }, 'nothing');
    await act(null, 'nothing');
    expect(childrenOf(process.pid).some((pid) => before.includes(pid))).toBe(false);
  });

  it('runs of many tenants at once stay in isolates of their own', async () => {
    const several = await sandboxOf({ isolation: 'tenant', concurrency: 2 });
    const wrong: string[] = [];
    const lane = async (id: string): Promise<void> => {
      const on = { ...handlers(async () => OK), tenant: { id, share: 1 } };
      for (let n = 0; n < 20; n++) {
        await several.run(inputOf('mark', { name: id }), on);
        const { result } = await several.run(inputOf('marks'), on);
        const marks: TaggedJson = result.result;
        if (!Array.isArray(marks) || marks.some((mark) => mark !== id)) wrong.push(`${id}: ${JSON.stringify(marks)}`);
      }
    };
    await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(lane));
    expect(wrong).toEqual([]);
  });
});

describe("a runtime with isolation 'tenant'", () => {
  it('gives the results, amounts and journals of one with fresh isolates, run after run', async () => {
    const echo = defineTool({ name: 'tool.t.Echo', args: [{ name: 'n', type: 'int' }], run: ({ n }) => [n, { n }] });
    const open = (isolation: 'run' | 'tenant') =>
      createRuntime({ isolation, concurrency: 1, tools: [echo, ...pureTools('regex', 'str')], policy: { allow: ['*'] } });
    await using fresh = await open('run');
    await using kept = await open('tenant');
    const source = (n: number): string =>
      `command\n  set l[${n}] = tool.t.Echo(${n})\n  emit tool.regex.FindAll("[a-z]+", "a b ${n} c")\n  emit l\n  ${n % 3 === 0 ? "fail 'x'" : 'emit typeof k'}\nendcommand\n`;
    const told = async (runtime: typeof fresh, n: number) => {
      const { usage, journal, ...rest } = await runtime.run(source(n), { tenant: `t${n % 2}` });
      const { cpuMs: _, wallMs: __, queueMs: ___, ...used } = usage;
      return {
        ...rest,
        used,
        journal: JSON.stringify(journal, (key, value) => (key === 'ms' || key === 'begin' ? undefined : value)),
      };
    };
    for (let n = 1; n <= 12; n++) expect(await told(kept, n)).toEqual(await told(fresh, n));
  });

  it('refuses what is no kind of isolation, by the name of the tenant', async () => {
    const isolation: string = 'none';
    const each = { acme: { isolation: isolation as 'run' } };
    await expect(createRuntime({ tenants: { each } })).rejects.toThrow(/acme.*isolation must be one of process, run, tenant/);
  });
});

const halted = { t: 'halt', error: quotaError({ limit: 'fuel', allowed: 1 }, 'no more') } as const;
const CALL = JSON.stringify({
  t: 'tool',
  seq: 1,
  name: 'tool.x',
  args: [],
  at: { fork: 'f', source: 'src', line: 1, column: 1 },
});
