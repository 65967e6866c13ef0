import { expect, it } from 'vitest';
import { type Logger, SILENT_LOGGER } from '../../src/context/index.ts';
import { rootTurn } from '../../src/context/turn.ts';
import { CallQuotas } from '../../src/tools/dispatch/quotas.ts';
import {
  APPROVAL,
  Approval,
  type ArgSpecs,
  type AuditRecord,
  CostMeter,
  defineTool,
  type Gate,
  ToolError,
  type ToolInit,
} from '../../src/tools/index.ts';
import { defaultLimits } from '../../src/wire/limits.ts';
import { Bench, testHost, variables } from './probe.ts';

const away = (retryAfterMs: unknown = 0) =>
  new ToolError(1002, 'the shop is away', 'later', { retryAfterMs: retryAfterMs as number });

/** A tool that fails with these errors, one a call, and then answers; and how often it was called. */
function failing(errors: readonly unknown[], more: Partial<ToolInit<ArgSpecs>> = {}) {
  const seen: (string | null)[] = [];
  const tool = defineTool({
    name: 'tool.t.x',
    ...more,
    run: (_args: object, { call }) => {
      const error = errors[seen.push(call.key) - 1];
      if (error !== undefined) throw error;
      return 'done';
    },
  });
  return { tool, seen };
}

it('a call that had no effect is made again, as the same call: paid, audited and recorded once', async () => {
  const { tool, seen } = failing([away()], { cost: { usd: 0.25 } });
  const audits: AuditRecord[] = [];
  const entries: unknown[] = [];
  const warned: string[] = [];
  const logger: Logger = { ...SILENT_LOGGER, warn: (_fields, message) => void warned.push(message ?? '') };
  const costs = new CostMeter(1);
  const turn = rootTurn(() => Date.now()).derive({ sessionId: 's', turnIndex: 2, origin: 's' });
  const init = {
    costs,
    asTurn: true,
    audit: (record: AuditRecord) => audits.push(record),
    onCall: (entry: unknown) => entries.push(entry),
  };
  const bench = new Bench([tool], { host: testHost({ logger }), turn, init });
  expect(await bench.call('tool.t.x')).toEqual({ t: 'ok', value: 'done' });
  expect([seen.length, new Set(seen).size, audits.length, entries.length]).toEqual([2, 1, 1, 1]);
  expect(costs.used).toBe(0.25);
  expect(warned).toEqual([expect.stringMatching(/^tool\.t\.x is tried again in \d{3} ms: the shop is away$/)]);
});

it.each([
  ['another failure', new ToolError(1002, 'no')],
  ['a time that is none', away('soon')],
  ['a negative time', away(-1)],
  ['a time that is not a number', away(Number.NaN)],
  ['a longer time than a quarter of the time limit of a call', away(7501)],
])('%s is not tried again', async (_name, error) => {
  const { tool, seen } = failing([error]);
  expect(await new Bench([tool]).call('tool.t.x')).toMatchObject({ t: 'error', code: 1002 });
  expect(seen).toHaveLength(1);
});

/** A turn in which a person has approved every call. */
function approvedTurn() {
  const gate: Gate = async (work) => {
    try {
      return { state: 'executed', value: await work() };
    } catch (error) {
      return { state: 'failed', error };
    }
  };
  const approval = new Approval({ hash: 'h', hashOf: () => 'h', gate });
  return rootTurn(() => Date.now()).derive({ values: { [APPROVAL]: approval } });
}

it('a person has approved one try', async () => {
  const { tool, seen } = failing([away()], { requiresApproval: true });
  expect(await new Bench([tool], { turn: approvedTurn() }).call('tool.t.x')).toMatchObject({
    code: 1002,
    message: 'the shop is away',
  });
  expect(seen).toHaveLength(1);
});

it('a tool that called the failed one is not called again: what it did before is done', async () => {
  const { tool } = failing([away()], { requiresApproval: true });
  let calls = 0;
  const outer = defineTool({
    name: 'tool.t.outer',
    run: async (_args: object, runtime) => {
      calls += 1;
      return runtime.callTool('t.x', []);
    },
  });
  expect(await new Bench([tool, outer], { turn: approvedTurn() }).call('tool.t.outer')).toMatchObject({
    code: 1002,
    hint: 'later',
  });
  expect(calls).toBe(1);
});

it('pauses grow and are bounded; after a call in vain, no further one of the run waits', () => {
  const quotas = new CallQuotas(defaultLimits('run'));
  const pauses = [1, 2, 3, 4].map((tries) => quotas.pauseBefore(0, tries, 0, Number.POSITIVE_INFINITY));
  const bounds = [250, 1000, 4000];
  for (const [index, bound] of bounds.entries()) {
    expect(pauses[index]).toBeGreaterThanOrEqual(bound);
    expect(pauses[index]).toBeLessThanOrEqual(bound * 1.25);
  }
  expect(pauses[3]).toBeNull();
  expect(quotas.pauseBefore(0, 1, 0, Number.POSITIVE_INFINITY)).toBeNull();
});

it.each([
  ['wallMs', { wallMs: 900 }, Number.POSITIVE_INFINITY],
  ['toolMs', { toolMs: 900 }, Number.POSITIVE_INFINITY],
  ['timeoutMs of the tool', {}, 900],
])('pauses take at most a quarter of %s', (_name, limits, mostMs) => {
  expect(new CallQuotas({ ...defaultLimits('run'), ...limits }).pauseBefore(0, 1, 0, mostMs)).toBeNull();
  expect(new CallQuotas(defaultLimits('run')).pauseBefore(7000, 1, 501, Number.POSITIVE_INFINITY)).toBeNull();
  expect(new CallQuotas(defaultLimits('run')).pauseBefore(7000, 1, 499, Number.POSITIVE_INFINITY)).toBe(7000);
});

it('a process that has lost its session in the pause makes no further try, and its tools call no others', async () => {
  let holds = true;
  const turn = rootTurn(() => Date.now()).derive({ mayAct: () => holds });
  const { tool, seen } = failing([away()]);
  const reply = new Bench([tool], { turn }).call('tool.t.x');
  await expect.poll(() => seen.length).toBe(1);
  holds = false;
  expect(await reply).toMatchObject({ t: 'halt', error: { code: 'ERR_CANCELLED' } });
  expect(seen).toHaveLength(1);
  holds = true;
  const outer = defineTool({
    name: 'tool.t.outer',
    run: (_args: object, runtime) => {
      holds = false;
      return runtime.callTool('t.x', []);
    },
  });
  expect(await new Bench([tool, outer], { turn }).call('tool.t.outer')).toMatchObject({ t: 'halt' });
  expect(seen).toHaveLength(1);
});

it('a call that is given up in a pause ends at once', async () => {
  const { tool, seen } = failing([away(6000)]);
  const port = variables();
  const reply = new Bench([tool]).call('tool.t.x', [], port);
  await expect.poll(() => seen.length).toBe(1);
  port.abort.abort();
  expect(await reply).toMatchObject({ t: 'halt' });
  expect(seen).toHaveLength(1);
});
