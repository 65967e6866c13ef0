// @module-tag slow
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { readWorkerFrame } from '../../src/sandbox/workerframes.ts';
import { excessOf, frameLimit, frameValues, MAX_FRAME_VALUES, MAX_MAP_KEYS, parseFrame } from '../../src/wire/frames.ts';
import { PIECE_UNITS } from '../../src/wire/frametext.ts';
import { defaultLimits } from '../../src/wire/limits.ts';
import { cpuMs } from '../cost.ts';
import { closeSandboxes, handlers, inputOf, REAL, rogue, run, sandboxOf } from './kit.ts';

afterAll(closeSandboxes);

/** The largest frame of a run with the default limits. */
const BYTES = frameLimit(defaultLimits('run')) - 1000;
/** The host may compute for this multiple of the calibration loop on one frame. It takes up to 170 times; without a limit on values it took 1400 times. */
const MULTIPLE = 400;

/** CPU time of a loop of 2 million steps: the least of six tries. */
function calibration(): number {
  return cpuMs(() => {
    let sum = 0;
    for (let step = 0; step < 2e6; step++) sum = (sum * 31 + step) | 0;
    expect(sum).not.toBe(1);
  }, 6);
}

let allowedMs: number | null = null;

/** Fails unless one of three tries takes less than may be computed on one frame. */
function mustBeBrief(work: () => void): void {
  allowedMs ??= calibration() * MULTIPLE;
  expect(cpuMs(work, 3, allowedMs)).toBeLessThan(allowedMs);
}

const USAGE = '"fuel":1,"peakMemoryBytes":1,"toolCalls":0,"outputBytes":0';
const FRAMES: Readonly<Record<string, (value: string) => string>> = {
  tool: (value) => `{"t":"tool","seq":1,"name":"t","args":[${value}],"at":{"fork":"f","source":"s","line":1,"column":1}}`,
  result: (value) =>
    `{"t":"result","id":1,"result":{"ok":true,"phase":"exec","result":${value},"eventErrors":[],"error":null,${USAGE}},"usage":{"cpuMs":1,"wallMs":1,${USAGE}},"errors":[],"last":false}`,
  out: (value) => `{"t":"out","emits":["x"],"values":[${value}],"whispers":[]}`,
  var: (value) => `{"t":"var","found":true,"value":${value},"error":null}`,
};

/** Items until a list has so many bytes, or as many values as a frame may have. */
function listOf(
  item: (index: number) => string,
  values: number,
  [open, close]: readonly [string, string] = ['[', ']'],
): readonly string[] {
  const size = item(100_000).length + 1;
  const counts = [Math.floor(BYTES / size), Math.floor((MAX_FRAME_VALUES - 200) / values)];
  // Millions of equal items are copied at once.
  if (item(0) === item(1)) return counts.map((count) => `${open}${`${item(0)},`.repeat(count - 1)}${item(0)}${close}`);
  // The shorter list is the beginning of the longer one.
  const most = Math.max(...counts);
  const lengths = new Map<number, number>();
  let text = open;
  for (let index = 0; index < most; index++) {
    text += index === 0 ? item(0) : `,${item(index)}`;
    if (counts.includes(index + 1)) lengths.set(index + 1, text.length);
  }
  return counts.map((count) => text.slice(0, lengths.get(count)) + close);
}

const VALUES: readonly (readonly [string, readonly string[]])[] = [
  ['empty lists', listOf(() => '[]', 2)],
  ['numbers', listOf(() => '0', 1)],
  ['nested lists', listOf(() => '[[[]]]', 4)],
  ['small maps', listOf((index) => `{"a${index}":0}`, 5)],
  ['one map', listOf((index) => `"k${index}":0`, 4, ['{', '}'])],
];

describe('finding 8: the host computes for no longer than a multiple of a calibration loop on one frame', () => {
  it.each(Object.keys(FRAMES).flatMap((kind) => VALUES.map(([name, texts]) => [kind, name, texts] as const)))(
    '%s with %s',
    (kind, _name, texts) => {
      const [largest = '', fullest = ''] = texts.map((text) => FRAMES[kind]?.(text));
      mustBeBrief(() => expect(() => readWorkerFrame(parseFrame(largest, MAX_FRAME_VALUES))).toThrow('values'));
      mustBeBrief(() => readWorkerFrame(parseFrame(fullest, MAX_FRAME_VALUES)));
    },
  );

  it('and reads long frames in pieces, in their order, and before the end of their worker', async () => {
    const value = VALUES[3]?.[1][1] ?? '';
    const out = FRAMES['out']?.(value) ?? '';
    const said = [out, FRAMES['out']?.('1') ?? '', out, JSON.parse(FRAMES['result']?.(value) ?? '')];
    const files = rogue({
      echo: true,
      run: [{ frame: { t: 'started', id: 0 } }, ...said.map((frame) => ({ frame })), { exit: 3 }],
    });
    const sandbox = await sandboxOf({ files });
    // A plain function: a spy would keep all texts, and take longer than the host itself.
    const { parse } = JSON;
    let longest = 0;
    JSON.parse = (text: string, ...rest) => {
      longest = Math.max(longest, text.length);
      return parse(text, ...rest);
    };
    onTestFinished(() => {
      JSON.parse = parse;
    });
    const told: number[] = [];
    let rounds = 0;
    const timer = setInterval(() => rounds++, 0);
    const { result } = await sandbox.run(inputOf('nothing', {}, { outputBytes: 1 << 28 }), {
      ...handlers(),
      onOut: ({ values }) => void told.push(JSON.stringify(values).length),
    });
    clearInterval(timer);
    JSON.parse = parse;
    expect(result.error).toBeNull();
    expect(told).toEqual([value.length + 2, 3, value.length + 2]);
    expect(longest).toBeLessThan(3 * PIECE_UNITS);
    expect(rounds).toBeGreaterThan(10);
    await sandbox.close();
  });

  it('a map may have so many keys, also beside others, and no more', () => {
    const map = (keys: number) => `{${Array.from({ length: keys }, (_, index) => `"k${index}":[{"a":0}]`).join(',')}}`;
    expect(excessOf(`[${map(MAX_MAP_KEYS)},${map(MAX_MAP_KEYS)}]`)).toBeNull();
    expect(excessOf(`[{},${map(MAX_MAP_KEYS + 1)}]`)).toBe(`${MAX_MAP_KEYS} keys in one map`);
  });

  it('issue 44, finding 6: a run with a small journal has frames of few values', async () => {
    const limits = defaultLimits('run');
    expect([1, 2 ** 22, limits.journalBytes, 2 ** 30].map((journalBytes) => frameValues({ ...limits, journalBytes }))).toEqual([
      65_536,
      131_072,
      MAX_FRAME_VALUES,
      MAX_FRAME_VALUES,
    ]);
    const maps = `[${'{},'.repeat(399_999)}{}]`;
    const files = rogue({
      echo: true,
      run: [{ frame: { t: 'started', id: 0 } }, { frame: JSON.parse(FRAMES['tool']?.(maps) ?? '') }],
    });
    const sandbox = await sandboxOf({ files });
    const heap = process.memoryUsage().heapUsed;
    const { result } = await sandbox.run(inputOf('nothing', {}, { journalBytes: 2 ** 22 }), handlers());
    expect(result.error).toMatchObject({ code: 'ERR_WORKER', message: expect.stringContaining('131072 values') });
    expect(process.memoryUsage().heapUsed - heap).toBeLessThan(64 * 1024 * 1024);
    await sandbox.close();
  });

  it('issue 44, finding 6: a program gets a breach that says what it needs', async () => {
    const sandbox = await sandboxOf({ files: REAL });
    const lines = ['set l = []', 'while len(l) < 70000', 'set l[len(l)] = {}', 'endwhile', 'call tool.t.take(l)'];
    const text = `command\n${lines.join('\n')}\nendcommand\n`;
    const input = { ...inputOf('nothing', {}, { journalBytes: 2 ** 22 }), sources: [{ name: 'src', text }] };
    const { result } = await sandbox.run(input, handlers());
    const message = 'a call to the host has more than 131072 values: each needs 32 bytes of journalBytes';
    expect(result.error).toMatchObject({ code: 'ERR_QUOTA', message });
    await sandbox.close();
  });

  it('a text of any length is one value, whatever it holds', () => {
    expect(excessOf(JSON.stringify('[,:"\\'.repeat(1_000_000)))).toBeNull();
  });
});

describe('finding 8: a program with too many values for a frame', () => {
  const program = (...lines: readonly string[]) => ({
    ...inputOf('', {}, { fuel: 1e9 }),
    globals: {},
    sources: [{ name: 'src', text: `${lines.join('\n')}\n` }],
  });
  const list = ['set l = [0]', 'while len(l) < 1000000', 'set l = l + l', 'endwhile'];

  it.each([
    ['as arguments', program('command', ...list, 'call tool.t.take(l)', 'endcommand')],
    ['as its result', { ...program('func f() means', ...list, 'return l', 'endfunc'), call: { name: 'f', args: [] } }],
  ])('%s ends with a quota, and its worker lives on', async (_how, input) => {
    const sandbox = await sandboxOf({ files: REAL });
    const { result } = await sandbox.run(input, handlers());
    expect(result.error).toMatchObject({ code: 'ERR_QUOTA', limit: 'toolBytes' });
    expect(result.error?.message).toContain('values');
    expect(sandbox.boundaryBreaches).toBe(0);
    await sandbox.close();
  });

  it('a worker that sends one all the same is ended', async () => {
    const frame = FRAMES['tool']?.(VALUES[0]?.[1][0] ?? '');
    const sandbox = await sandboxOf({
      files: rogue({ echo: true, run: [{ frame: { t: 'started', id: 0 } }, { frame: frame ?? '' }] }),
    });
    const { result } = await run(sandbox, 'nothing');
    expect(result.error).toMatchObject({ code: 'ERR_WORKER' });
    expect(sandbox.boundaryBreaches).toBe(1);
    await sandbox.close();
  });
});
