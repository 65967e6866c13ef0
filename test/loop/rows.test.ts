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

const RUN = { sources: [], globals: {}, call: null, events: [], forkId: 'f', turn: true, stdin: false };
const AT = { fork: 'f', source: 'ACTIONS', line: 1, column: 1 };
/** A turn that waits for its second call, as the store keeps it. */
const suspendedUnder = (limits: unknown) => ({
  waiting: { seq: 2, tool: 'tool.t.x', args: [], at: AT, asked: [], reason: 'r', expiresIn: null, ms: 1 },
  promise: null,
  since: 5,
  expiresAt: 9,
  completion: null,
  acceptChanged: false,
  earlier: {
    startedAt: 5,
    nonce: 'n',
    clock: [],
    jtis: [],
    mints: 0,
    mintFailed: false,
    ranMs: 0,
    run: { ...RUN, limits },
    journal: [{ kind: 'tool', seq: 1, name: 'tool.t.x', args: [], at: AT, outcome: { ok: true, value: 1 }, ms: 1 }],
  },
  approved: null,
});

describe('a started turn of an older version', () => {
  it('gets the defaults of the limits that it lacks, and keeps its own', () => {
    const turn = readStarted(started(FIRST), 's', 1);
    expect(turn).toMatchObject({ sid: 's', agent: null, suspended: null });
    expect(turn.limits).toEqual({ ...FIRST, ...SINCE });
    expect(readStarted(started({ ...FIRST, emits: 4 }), 's', 1).limits).toEqual({ ...FIRST, ...SINCE, emits: 4 });
  });

  it('that waits goes on with them, too', () => {
    const suspended = suspendedUnder(FIRST);
    const { run } = readStarted(started(FIRST, { suspended }), 's', 1).suspended?.earlier ?? {};
    expect(run).toEqual({ ...RUN, limits: { ...FIRST, ...SINCE } });
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
    expect(() => readStarted(started(limits), 's', 1)).toThrow(StoreError);
    expect(() => readStarted(started(limits), 's', 1)).toThrow(problem);
    const suspended = suspendedUnder(limits);
    expect(() => readStarted(started(FIRST, { suspended }), 's', 1)).toThrow(StoreError);
  });
});

describe('a row of a turn that waits, to which others have written', () => {
  type Path = readonly (string | number)[];
  const changed = (value: unknown, [key, ...rest]: Path, to: unknown): unknown => {
    if (key === undefined) return to;
    if (Array.isArray(value)) return value.map((each, index) => (index === key ? changed(each, rest, to) : each));
    return { ...(value as object), [key]: changed((value as Record<string, unknown>)[key], rest, to) };
  };
  const read = (path: Path, to: unknown) => () =>
    readStarted(started(FIRST, { suspended: changed(suspendedUnder(FIRST), path, to) }), 's', 1);

  it.each<[Path, unknown]>([
    [['waiting', 'at'], undefined],
    [['waiting', 'at'], null],
    [['waiting', 'args'], 'x'],
    [['waiting', 'asked'], null],
    [['waiting', 'asked'], [null]],
    [['waiting', 'ms'], '1'],
    [['since'], undefined],
    [['expiresAt'], null],
    [['completion'], undefined],
    [['completion'], 'x'],
    [['completion'], { ok: false, code: 1.5, message: 'm' }],
    [['alsoWaiting'], {}],
    [['alsoWaiting'], [null]],
    [['earlier', 'clock'], 'x'],
    [['earlier', 'jtis'], [null]],
    [['earlier', 'mints'], -1],
    [['earlier', 'mints'], 1.5],
    [['earlier', 'ranMs'], null],
    [['earlier', 'journal'], [null]],
    [['earlier', 'journal', 0, 'at'], null],
    [['earlier', 'journal', 0, 'outcome'], {}],
    [['earlier', 'run', 'sources'], null],
    [['earlier', 'run', 'sources'], [null]],
    [['earlier', 'run', 'globals'], []],
    [['earlier', 'run', 'events'], {}],
  ])('%j = %j is damage, and the error names the session', (path, to) => {
    expect(read(path, to)).toThrow(StoreError);
    expect(read(path, to)).toThrow('the started turn of session "s" in the store cannot be read');
  });

  it('that is of another session or turn is damage', () => {
    expect(() => readStarted(started(FIRST), 'other', 1)).toThrow('it is of session "s", not "other"');
    expect(() => readStarted(started(FIRST), 's', 2)).toThrow('it is of turn 1, not 2');
  });

  it('keeps the order of its keys, which is signed', () => {
    const { suspended } = readStarted(started(FIRST, { suspended: suspendedUnder(FIRST) }), 's', 1);
    expect(JSON.stringify(suspended?.waiting)).toBe(JSON.stringify(suspendedUnder(FIRST).waiting));
  });
});
