import { setImmediate as nextRound } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { leastBytes } from '../../src/tools/dispatch/hold.ts';
import { defineTool, ToolError } from '../../src/tools/index.ts';
import { encode } from '../../src/wire/codec.ts';
import { ErrorValue, Fuzzy, Handle, TimeDate } from '../../src/wire/values.ts';
import { Bench, variables } from './probe.ts';

/** A tool that holds bytes until the test lets it go, and a bench whose journal takes 1000 bytes and what a call has around them. */
function holding() {
  const open: { readonly bytes: number; readonly end: (result: unknown) => void }[] = [];
  const hold = defineTool({
    name: 'tool.t.Hold',
    maxResultBytes: 10,
    args: [{ name: 'bytes', type: 'int' }],
    run: async ({ bytes }, runtime) => {
      await runtime.reserve(bytes);
      return new Promise((end) => open.push({ bytes, end }));
    },
  });
  const outer = defineTool({
    name: 'tool.t.Outer',
    maxResultBytes: 10,
    run: async (_, runtime) => {
      await runtime.reserve(900);
      return runtime.callTool('tool.t.Hold', [900]);
    },
  });
  const bench = new Bench([hold, outer], { limits: { journalBytes: 3000 } });
  return { open, bench };
}

it('issue 44, finding 1: what does not fit beside other calls waits for them, in the order of the calls', async () => {
  const { open, bench } = holding();
  const calls = [2000, 2000, 100].map((bytes) => bench.call('tool.t.Hold', [bytes]));
  await nextRound();
  expect(open.map(({ bytes }) => bytes)).toEqual([2000]);
  open[0]?.end('a');
  await calls[0];
  await nextRound();
  expect(open.map(({ bytes }) => bytes)).toEqual([2000, 2000, 100]);
  for (const { end } of open) end('b');
  expect(await Promise.all(calls)).toEqual([
    { t: 'ok', value: 'a' },
    { t: 'ok', value: 'b' },
    { t: 'ok', value: 'b' },
  ]);
});

it('issue 44, finding 1: a call that is alone need not fit, and one that another call waits for never waits', async () => {
  const { open, bench } = holding();
  const large = bench.call('tool.t.Hold', [1e9]);
  await nextRound();
  open.pop()?.end(1);
  expect(await large).toMatchObject({ t: 'ok' });
  const nested = bench.call('tool.t.Outer');
  await nextRound();
  open.pop()?.end(2);
  expect(await nested).toEqual({ t: 'ok', value: 2 });
});

it('issue 44, finding 1: a call that is over waits no longer, and the next one gets its place', async () => {
  const { open, bench } = holding();
  const first = bench.call('tool.t.Hold', [2000]);
  const port = variables();
  const second = bench.call('tool.t.Hold', [2500], port);
  const third = bench.call('tool.t.Hold', [100]);
  await nextRound();
  expect(open.map(({ bytes }) => bytes)).toEqual([2000]);
  port.abort.abort();
  expect(await second).toMatchObject({ t: 'halt', error: { code: 'ERR_CANCELLED' } });
  await nextRound();
  expect(open.map(({ bytes }) => bytes)).toEqual([2000, 100]);
  for (const { bytes, end } of open) end(bytes);
  expect(await Promise.all([first, third])).toEqual([
    { t: 'ok', value: 2000 },
    { t: 'ok', value: 100 },
  ]);
});

/** Tools of a size of result, and what began. `Outer` calls `Inner` as often as it is told, at once. */
function sized(bytes: number, journalBytes = 20_000) {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const tool = (name: string, init: object) =>
    defineTool({
      name: `tool.t.${name}`,
      ...init,
      run: async () => {
        begun.push(name);
        await new Promise<void>((end) => ends.push(end));
        return 1;
      },
    });
  const outer = defineTool({
    name: 'tool.t.Outer',
    maxResultBytes: 100,
    args: [{ name: 'times', type: 'int' }],
    run: async ({ times }, runtime) => {
      begun.push('Outer');
      await Promise.all(Array.from({ length: times }, () => runtime.callTool('tool.t.Inner', [])));
      return times;
    },
  });
  const tools = [tool('Inner', { maxResultBytes: bytes }), tool('Silent', {}), tool('Short', { returns: 'int' }), outer];
  const bench = new Bench(tools, { limits: { journalBytes, toolBytes: 8000, togetherCalls: 2 } });
  const next = async (): Promise<void> => {
    await nextRound();
    ends.shift()?.();
    await nextRound();
  };
  return { begun, bench, next };
}

it.each([
  ['declares', 'Inner', 6],
  ['gets as its share, because it says nothing', 'Silent', 3],
  ['can have by its type', 'Short', 8],
])(
  'issue 44, reserve, then begin: a call begins when there is room for the largest result that its tool %s',
  async (_, name, most) => {
    const { begun, bench, next } = sized(3000);
    const calls = Array.from({ length: 8 }, () => bench.call(`tool.t.${name}`));
    await nextRound();
    expect(begun).toHaveLength(most);
    for (let ended = 1; ended <= 8; ended++) {
      await next();
      expect(begun).toHaveLength(Math.min(8, most + ended));
    }
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 8 }, () => ({ t: 'ok', value: 1 })));
  },
);

it('issue 44, reserve, then begin: calls that tools make wait too, before those that have not begun, and one always goes on', async () => {
  const { begun, bench, next } = sized(8000, 5000);
  const calls = Array.from({ length: 3 }, () => bench.call('tool.t.Outer', [2]));
  await nextRound();
  // None of the inner calls fits. Without one of them nothing would end.
  expect(begun).toEqual(['Outer', 'Outer', 'Outer', 'Inner']);
  const late = bench.call('tool.t.Silent');
  for (let ended = 1; ended <= 5; ended++) {
    await next();
    expect(begun.slice(4)).toEqual(Array(ended).fill('Inner'));
  }
  await next();
  expect(begun.at(-1)).toBe('Silent');
  await next();
  expect(await Promise.all([...calls, late])).toMatchObject(Array.from({ length: 4 }, () => ({ t: 'ok' })));
});

it('issue 44, finding 1: results count when they come, before any of them is in the journal', async () => {
  const { open, bench } = holding();
  const calls = Array.from({ length: 8 }, () => bench.call('tool.t.Hold', [0]));
  await nextRound();
  for (const { end } of open) end('x'.repeat(1000));
  const replies = await Promise.all(calls);
  expect(replies.filter(({ t }) => t === 'halt').length).toBeGreaterThanOrEqual(6);
  expect(replies.at(-1)).toMatchObject({ t: 'halt', error: { code: 'ERR_QUOTA', limit: 'journalBytes', allowed: 3000 } });
});

it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('issue 44, finding 1: %d bytes cannot be reserved', async (bytes) => {
  const tool = defineTool({ name: 'tool.t.Wrong', run: (_, runtime) => runtime.reserve(bytes) });
  expect(await new Bench([tool]).call('tool.t.Wrong')).toMatchObject({ t: 'error', code: 21 });
});

/** A tool that works on pieces of 100 KB, and says at the end of each what `note` returns. */
const working = (note: () => unknown) =>
  defineTool({
    name: 'tool.t.Work',
    args: [{ name: 'pieces', type: 'int' }],
    run: async ({ pieces }, runtime) => {
      for (let piece = 0; piece < pieces; piece++) {
        await runtime.charge(100_000);
        note();
      }
      return 'done';
    },
  });

it('issue 44, finding 2: the calls of a run take turns at their work, one in a round of the event loop', async () => {
  let round = 0;
  let watching = true;
  const watch = (): void => {
    round += 1;
    if (watching) setImmediate(watch);
  };
  setImmediate(watch);
  const rounds: number[] = [];
  const bench = new Bench([working(() => rounds.push(round))]);
  const replies = await Promise.all([3, 2, 3, 1].map((pieces) => bench.call('tool.t.Work', [pieces])));
  watching = false;
  expect(new Set(rounds).size).toBe(9);
  // 32 bytes take one fuel.
  expect(replies.map((reply) => ('work' in reply ? reply.work : null))).toEqual([9375, 6250, 9375, 3125]);
  expect(bench.dispatcher.finish(null).entries.map((entry) => entry.kind === 'tool' && entry.work)).toEqual([
    9375, 6250, 9375, 3125,
  ]);
});

it('issue 44, finding 2: a program pays for the work of tools that its tool calls, and for that of calls that fail', async () => {
  const outer = defineTool({
    name: 'tool.t.Outer',
    run: async (_, runtime) => {
      await runtime.callTool('tool.t.Work', [2]);
      throw new ToolError(9, 'none');
    },
  });
  const bench = new Bench([working(() => null), outer]);
  expect(await bench.call('tool.t.Outer')).toMatchObject({ t: 'error', code: 9, work: 6250 });
  expect(await bench.call('tool.t.Work', [0])).toEqual({ t: 'ok', value: 'done' });
});

it.each([-1, Number.NaN])('issue 44, finding 2: %d bytes cannot be charged', async (bytes) => {
  const tool = defineTool({ name: 'tool.t.Wrong', run: (_, runtime) => runtime.charge(bytes) });
  expect(await new Bench([tool]).call('tool.t.Wrong')).toMatchObject({ t: 'error', code: 21 });
});

it('issue 44, finding 1: what is counted of a result when it comes is never more than its JSON', () => {
  const shared = { text: 'é"\n', list: [1, null, undefined, -0] };
  const circle: unknown[] = [];
  circle.push(circle);
  const values: readonly unknown[] = [
    null,
    'a"\n',
    [shared, shared],
    { left: undefined, out: undefined },
    new Map<string, unknown>([
      ['a', undefined],
      ['b', shared],
    ]),
    new Uint8Array(10),
    new Float64Array(10),
    new Date(0),
    new TimeDate('2026-01-01T00:00:00Z'),
    new Fuzzy(0.5),
    new Handle('file', '1'),
    new ErrorValue({ message: 'm', details: [1, 2] }),
    Array.from({ length: 10_000 }, () => ({})),
    Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, undefined])),
  ];
  for (const value of values) expect(leastBytes(value)).toBeLessThanOrEqual(Buffer.byteLength(JSON.stringify(encode(value))));
  expect(leastBytes(circle)).toBeLessThan(100);
  // What is not of the value itself does not count, and what it has beside its items does not hide them.
  expect(leastBytes(Object.create({ inherited: 'x'.repeat(100) }))).toBe(2);
  expect(leastBytes(Object.assign(['x'.repeat(100)], { values: 1 }))).toBe(102);
  let read = 0;
  const counted = { enumerable: true, get: () => ++read };
  leastBytes(Object.defineProperties({}, Object.fromEntries(Array.from({ length: 9000 }, (_, index) => [`k${index}`, counted]))));
  expect(read).toBeLessThan(5000);
  expect(leastBytes('x'.repeat(1000))).toBe(1000);
});
