import { describe, expect, it } from 'vitest';
import { readStarted } from '../../src/loop/sessions/rows.ts';
import { StoreError } from '../../src/sqlite/error.ts';
import { defaultLimits } from '../../src/wire/limits.ts';
import { BEGUN } from './begun.ts';

/** The limits of a turn, of which some are tighter than usual. */
const LIMITS = { ...defaultLimits('turn'), fuel: 5000, cpuMs: 100, callDepth: 50 };

const started = (limits: unknown, suspended: unknown = null): string => JSON.stringify({ ...BEGUN, limits, suspended });

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
    journal: [{ kind: 'tool', seq: 1, name: 'tool.t.x', args: [], at: AT, outcome: { ok: true, value: 1 }, begin: 0, ms: 1 }],
  },
  approved: null,
});

describe('the limits of a started turn', () => {
  it('are read as they are, and so are those of a run that waits', () => {
    const turn = readStarted(started(LIMITS, suspendedUnder(LIMITS)), 's', 1);
    expect(turn).toMatchObject({ sid: 's', agent: null, limits: LIMITS });
    expect(turn.suspended?.earlier.run).toEqual({ ...RUN, limits: LIMITS });
  });

  const { fuel: _, ...noFuel } = LIMITS;
  it.each([
    ['one that is unknown', { ...LIMITS, luck: 1 }, "unknown limit 'luck'"],
    ['one of a whole runtime', { ...LIMITS, maxWorkers: 1 }, 'limit maxWorkers is one of a whole runtime'],
    ['one that is missing', noFuel, 'limit fuel is missing'],
    ['one that cannot be enforced', { ...LIMITS, fuel: 0 }, 'limit fuel must be at least 1'],
    ['one above its maximum', { ...LIMITS, callDepth: 501 }, 'limit callDepth must be at most 500'],
    ['one that is no whole number', { ...LIMITS, emits: 1.5 }, 'limit emits must be a whole number'],
    ['one that is no number', { ...LIMITS, fuel: '5' }, ''],
    ['a list', [], ''],
    ['none', null, ''],
  ])('%s is damage', (_, limits, problem) => {
    expect(() => readStarted(started(limits), 's', 1)).toThrow(StoreError);
    expect(() => readStarted(started(limits), 's', 1)).toThrow(problem);
    const suspended = suspendedUnder(limits);
    expect(() => readStarted(started(LIMITS, suspended), 's', 1)).toThrow(StoreError);
  });
});

describe('a row of a turn that waits, to which others have written', () => {
  type Path = readonly (string | number)[];
  const changed = (value: unknown, [key, ...rest]: Path, to: unknown): unknown => {
    if (key === undefined) return to;
    if (Array.isArray(value)) return value.map((each, index) => (index === key ? changed(each, rest, to) : each));
    return { ...(value as object), [key]: changed((value as Record<string, unknown>)[key], rest, to) };
  };
  const read = (path: Path, to: unknown) => () => readStarted(started(LIMITS, changed(suspendedUnder(LIMITS), path, to)), 's', 1);

  it.each<[Path, unknown]>([
    [['waiting', 'at'], undefined],
    [['waiting', 'at'], null],
    [['waiting', 'args'], 'x'],
    [['waiting', 'asked'], null],
    [['waiting', 'asked'], [null]],
    [['waiting', 'ms'], '1'],
    [['since'], undefined],
    [['promise'], undefined],
    [['acceptChanged'], undefined],
    [['approved'], undefined],
    [['approved'], 'hash'],
    [['earlier', 'run', 'limits', 'fuel'], undefined],
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
    [['earlier', 'run', 'flow'], {}],
    [['earlier', 'run', 'stopAt'], { fuel: 1, clock: 3 }],
  ])('%j = %j is damage, and the error names the session', (path, to) => {
    expect(read(path, to)).toThrow(StoreError);
    expect(read(path, to)).toThrow('the started turn of session "s" in the store cannot be read');
  });

  it('that is of another session or turn is damage', () => {
    expect(() => readStarted(started(LIMITS), 'other', 1)).toThrow('it is of session "s", not "other"');
    expect(() => readStarted(started(LIMITS), 's', 2)).toThrow('it is of turn 1, not 2');
  });

  it('keeps the order of its keys, which is signed', () => {
    const { suspended } = readStarted(started(LIMITS, suspendedUnder(LIMITS)), 's', 1);
    expect(JSON.stringify(suspended?.waiting)).toBe(JSON.stringify(suspendedUnder(LIMITS).waiting));
  });
});
