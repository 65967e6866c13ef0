// @module-tag slow
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/index.ts';
import { Ledger } from '../../src/sandbox/ledger.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { ROGUE } from './input.ts';
import { closeSandboxes, handlers, inputOf, REAL, rogue, run, sandboxOf } from './kit.ts';

afterAll(closeSandboxes);

const out = (emits: readonly string[], whispers: readonly object[] = []): string =>
  JSON.stringify({ t: 'out', emits, values: emits, whispers });
const at = { fork: 'f', source: 'src', line: 1, column: 1 };
const tool = (seq: number): string => JSON.stringify({ t: 'tool', seq, name: 'tool.x', args: [], at });
const empty = { to: '', text: '' };

/** Each row: the limit, its value, the frames that keep it, and one frame too many. */
const ROWS: readonly [string, object, readonly string[], string, number][] = [
  ['emits', { emits: 2 }, [out(['a']), out(['b'])], out(['c']), 3],
  ['emits', { emits: 2 }, [out([], [empty, empty])], out([], [empty]), 3],
  ['emits', { emits: 2 }, [out([]), out([])], out([]), 3],
  ['outputBytes', { outputBytes: 6 }, [out(['ab']), out(['é'])], out(['']), 7],
  ['lineBytes', { lineBytes: 3 }, [out(['abc\nabc'])], out(['a\nabcd']), 4],
  [
    'scratchBytes',
    { scratchBytes: 5 },
    [
      out(
        [],
        [
          { to: 'x'.repeat(64), text: 'a' },
          { to: 'x'.repeat(66), text: '' },
        ],
      ),
    ],
    out([], [empty]),
    6,
  ],
  ['toolCalls', { toolCalls: 2 }, [tool(1), tool(2)], tool(3), 3],
  ['toolCallsPerTool', { toolCallsPerTool: 1 }, [tool(1)], tool(2), 2],
];

describe('finding 3: limits that the guest lets a program exceed are kept by the host', () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await sandboxOf();
  });

  it.each(ROWS)('%s, %j', async (limit, limits, within, beyond, used) => {
    const breaches = sandbox.boundaryBreaches;
    const frames: TaggedJson = [...within];
    expect((await run(sandbox, 'raw', { frames }, limits)).result.error).toBeNull();
    expect(sandbox.boundaryBreaches).toBe(breaches);
    const seen = handlers();
    const { result, outputComplete } = await sandbox.run(
      inputOf('raw', { frames: [...within, beyond, out(['late'])] }, limits),
      seen,
    );
    const allowed = Object.values(limits)[0];
    expect(result.error).toMatchObject({ kind: 'quota', code: 'ERR_QUOTA', limit, allowed, used });
    expect(outputComplete).toBe(false);
    expect(seen.emits).not.toContain('late');
    expect(seen.calls.length).toBe(within.filter((frame) => frame === tool(1) || frame === tool(2)).length);
    expect((await run(sandbox, 'echo', { value: 'next' })).result.result).toBe('next');
    expect(sandbox.boundaryBreaches).toBe(breaches + 1);
  });

  it.each(['outputBytes', 'lineBytes', 'scratchBytes'])('in a turn %s is ERR_ENV_SIZE', async (limit) => {
    const frames = [out(['xx'], [{ to: '', text: 'xx' }])];
    const ended = await sandbox.run({ ...inputOf('raw', { frames }, { [limit]: 1 }), turn: true }, handlers());
    expect(ended.result.error).toMatchObject({ kind: 'quota', code: 'ERR_ENV_SIZE', name: 'EnvelopeSize', limit, allowed: 1 });
  });

  it('20,000 calls under toolCalls: 0 are none', async () => {
    const seen = handlers();
    const { result, usage } = await sandbox.run(inputOf('calls', { count: 20_000 }, { toolCalls: 0 }), seen);
    expect(result.error).toMatchObject({ code: 'ERR_QUOTA', limit: 'toolCalls', allowed: 0, used: 1 });
    expect([seen.calls.length, usage.toolCalls]).toEqual([0, 0]);
  });
});

describe('finding 7: a worker is believed what is possible', () => {
  const nothing = { fuel: 0, cpuMs: 0, wallMs: 0, peakMemoryBytes: 0, toolCalls: 0, outputBytes: 0 };
  const claim = { fuel: 1.7e308, cpuMs: 1e300, wallMs: 1e300, peakMemoryBytes: 1e300, toolCalls: 9e15, outputBytes: 9e15 };
  let rogues: Sandbox;
  let honest: Sandbox;
  beforeAll(async () => {
    rogues = await sandboxOf({ files: { worker: ROGUE, guest: REAL.guest } });
    honest = await sandboxOf({ files: REAL });
  });

  const ended = (usage: { readonly [name: string]: TaggedJson }, before: readonly TaggedJson[] = []) => {
    const good = { ok: true, phase: 'exec', result: null, eventErrors: [], error: null, ...usage };
    const steps = [
      { frame: { t: 'started', id: 0 } },
      ...before,
      { frame: { t: 'result', id: 0, result: good, usage, errors: [], last: false } },
    ];
    const limits = { fuel: 1000, memoryBytes: 2 ** 20, toolCalls: 5, outputBytes: 50 };
    return rogues.run(inputOf('nothing', { steps }, limits), handlers());
  };

  it('never more than the limits and the time allow', async () => {
    const { usage, result } = await ended(claim);
    const most = { fuel: 1000, peakMemoryBytes: 2 ** 20, toolCalls: 5, outputBytes: 50 };
    expect(usage).toMatchObject(most);
    expect(result).toMatchObject({ ok: true, ...most });
    expect(usage.wallMs).toBeLessThan(60_000);
    expect(usage.cpuMs).toBeLessThan(60_000);
  });

  it('never less than the host has counted', async () => {
    const said = { frame: { t: 'out', emits: ['abc'], values: ['abc'], whispers: [] } };
    const { usage } = await ended(nothing, [said, { frame: JSON.parse(tool(1)), read: true }]);
    expect(usage).toMatchObject({ fuel: 101, toolCalls: 1, outputBytes: 4 });
  });

  it('never less than the prices of its output and of every kind of call', async () => {
    const text = 'x'.repeat(24);
    const said = { frame: { t: 'out', emits: [text], values: [text], whispers: [{ to: 'y'.repeat(8), text }] } };
    const prompt = { t: 'prompt', seq: 1, text: '', at: JSON.parse(tool(1)).at };
    const { usage } = await ended(nothing, [said, { frame: prompt, read: true }]);
    expect(usage).toMatchObject({ fuel: 4 + 5 + 100, toolCalls: 0 });
  });

  it.each([
    ['emits', ['emit "abcdefgh" * 5', 'emit [1, "x", {"k": nil}]', 'emit 5', 'emit "é\\n" * 100']],
    ['whispers', ['whisper self, "x" * 100', 'whisper "t" * 20, 7']],
    ['calls', ['set x = tool.t.x("x" * 100)', 'promptuser "?" into y', 'emit x', 'emit tool.t.x(1)']],
  ])('and an honest run pays more than that for its %s: one fuel less than it used is too little', async (_what, lines) => {
    const answered = { onOut() {}, onCall: async () => ({ t: 'ok', value: 'a' }) as const };
    const text = `command\n${lines.join('\n')}\nendcommand\n`;
    const runWith = (fuel: number) =>
      honest.run({ ...inputOf('', {}, { fuel }), globals: {}, stdin: true, sources: [{ name: 'src', text }] }, answered);
    const { result, usage } = await runWith(100_000);
    expect(result.error).toBeNull();
    expect((await runWith(usage.fuel)).result.error).toBeNull();
    expect((await runWith(usage.fuel - 1)).result.error).toMatchObject({ limit: 'fuel' });
  });

  it('in whole units', async () => {
    expect((await ended({ ...nothing, fuel: 1.5, peakMemoryBytes: 7.5 })).usage).toMatchObject({ fuel: 1, peakMemoryBytes: 7 });
  });
});

describe('finding 17: what a worker says of an error is bounded', () => {
  it('a text of 8 MB is cut, and a worker that reports a defect is not used again', async () => {
    const huge = 'x'.repeat(8_000_000);
    const error = {
      kind: 'internal',
      code: 'ERR_INTERNAL',
      nsCode: null,
      name: 'Internal',
      message: huge,
      source: null,
      line: null,
      column: null,
      hint: huge,
      stack: [],
    };
    const usage = { fuel: 1, cpuMs: 1, wallMs: 1, peakMemoryBytes: 1, toolCalls: 0, outputBytes: 0 };
    const bad = { ok: false, phase: 'exec', result: null, eventErrors: [], error, ...usage };
    const frame = { t: 'result', id: 1, result: bad, usage, errors: [], last: false };
    const sandbox = await sandboxOf({ files: rogue({ run: [{ frame: { t: 'started', id: 1 } }, { frame }] }) });
    const { result } = await run(sandbox, 'nothing');
    expect(result.error?.code).toBe('ERR_INTERNAL');
    expect(result.error?.message.length).toBeLessThan(9000);
    expect(result.error?.hint?.length).toBeLessThan(9000);
    await sandbox.close();
  });
});

describe('the fork of a call', () => {
  it.each([
    ['f', 1, true],
    ['f.1', 1, true],
    ['f.2', 1, false],
    ['f.2', 2, true],
    ['f.0', 9, false],
    ['f.01', 9, false],
    ['f.1.1', 9, false],
    ['f.', 9, false],
    ['g', 9, false],
    ['ff', 9, false],
    ['', 9, false],
  ])('finding 9: %s in call %i: %s', (fork, seq, known) => {
    expect(new Ledger(inputOf('nothing')).knows({ ...at, fork }, seq)).toBe(known);
  });
});
