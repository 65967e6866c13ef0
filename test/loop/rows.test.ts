import { describe, expect, it } from 'vitest';
import { readStarted } from '../../src/loop/sessions/rows.ts';
import { StoreError } from '../../src/sqlite/error.ts';

/** The limits of a turn as the first version of the store kept them. */
const FIRST = {
  fuel: 5000,
  cpuMs: 100,
  wallMs: 2000,
  memoryBytes: 1_048_576,
  outputBytes: 524_288,
  lineBytes: 8192,
  scratchBytes: 524_288,
  toolCalls: 7,
  toolMs: 300,
  callDepth: 50,
  evalDepth: 900,
  sourceBytes: 65_536,
  toolBytes: 4096,
  journalBytes: 70_000,
  eventCount: 3,
};
/** What has come since, with the defaults of docs/limits.md. */
const SINCE = {
  deliveries: 10_000,
  emits: 1_000_000,
  toolCallsPerTool: 100_000,
  togetherCalls: 64,
  valueBytes: 4 * 1024 ** 3,
  valueDepth: 500_000,
  textLength: 32 * 1024 ** 2,
  listLength: 10_000_000,
  mapLength: 1_000_000,
  traceEvents: 100_000,
};

/** As the first version wrote it: without an agent's use and without what a turn waits for. */
const started = (limits: unknown, more: object = {}): string =>
  JSON.stringify({ sid: 's', turn: 1, attempt: 1, nonce: 'n', startedAt: 5, reply: null, limits, ...more });

describe('a started turn of an older version', () => {
  it('gets the defaults of the limits that it lacks, and keeps its own', () => {
    const turn = readStarted(started(FIRST));
    expect(turn).toMatchObject({ sid: 's', agent: null, suspended: null });
    expect(turn.limits).toEqual({ ...FIRST, ...SINCE });
    expect(readStarted(started({ ...FIRST, emits: 4 })).limits).toEqual({ ...FIRST, ...SINCE, emits: 4 });
  });

  it('that waits goes on with them, too', () => {
    const suspended = {
      waiting: { seq: 1, tool: 'tool.t.x', reason: 'r' },
      earlier: { nonce: 'n', run: { forkId: 'f', limits: FIRST }, journal: [] },
      expiresAt: 9,
    };
    const { run } = readStarted(started(FIRST, { suspended })).suspended?.earlier ?? {};
    expect(run).toEqual({ forkId: 'f', limits: { ...FIRST, ...SINCE } });
  });
});

describe('limits of a started turn that no version kept', () => {
  const { fuel: _, ...noFuel } = FIRST;
  it.each([
    ['one that is unknown', { ...FIRST, luck: 1 }, "unknown limit 'luck'"],
    ['one of a whole runtime', { ...FIRST, maxWorkers: 1 }, 'limit maxWorkers is one of a whole runtime'],
    ['one that has always been there lacks', noFuel, 'limit fuel is missing'],
    ['one that cannot be enforced', { ...FIRST, fuel: 0 }, 'limit fuel must be at least 1'],
    ['one above its maximum', { ...FIRST, callDepth: 501 }, 'limit callDepth must be at most 500'],
    ['one that is no whole number', { ...FIRST, emits: 1.5 }, 'limit emits must be a whole number'],
    ['one that is no number', { ...FIRST, fuel: '5' }, ''],
    ['a list', [], ''],
    ['none', null, ''],
  ])('%s is damage', (_, limits, problem) => {
    expect(() => readStarted(started(limits))).toThrow(StoreError);
    expect(() => readStarted(started(limits))).toThrow(problem);
    const suspended = {
      waiting: { seq: 1, tool: 'tool.t.x', reason: 'r' },
      earlier: { nonce: 'n', run: { limits }, journal: [] },
      expiresAt: 9,
    };
    expect(() => readStarted(started(FIRST, { suspended }))).toThrow(StoreError);
  });
});
