// @module-tag slow
import { expect, it, vi } from 'vitest';
import { ToolBench } from '../../src/testing/index.ts';
import { type ToolDefinition, ToolError } from '../../src/tools/index.ts';
import { loadMockTools } from '../../src/tools/mock/file.ts';
import type { Value } from '../../src/wire/values.ts';

const KEYS = 16_000;
const map = Object.fromEntries(Array.from({ length: KEYS }, (_, index) => [`k${index}`, index]));
const empty = Array.from({ length: 5 }, () => ({}));

function mockOf(wanted: readonly Value[]): readonly ToolDefinition[] {
  const cases = wanted.map((x) => ({ when: { x }, returns: 1 }));
  return loadMockTools(JSON.stringify({ tools: { 'tool.a.B': { args: ['x'], cases } } }), 'f');
}

/** The message of the mock that expects no such call, and the CPU milliseconds of the call. */
async function refused(wanted: readonly Value[], arg: Value): Promise<{ readonly message: string; readonly ms: number }> {
  await using bench = new ToolBench(mockOf(wanted));
  const begun = process.cpuUsage();
  const error: unknown = await bench.call('tool.a.B', [arg]).catch((reason: unknown) => reason);
  const { user } = process.cpuUsage(begun);
  if (!(error instanceof ToolError)) throw new Error('the call was answered', { cause: error });
  return { message: error.message, ms: user / 1000 };
}

it.each<[string, readonly Value[], Value, string]>([
  [
    'a long list',
    Array.from({ length: 200 }, (_, index) => index),
    Array.from({ length: 100_000 }, (_, index) => index),
    'case 1 of 200, which wants x = 0, not [0,1,2,',
  ],
  [
    'maps of many keys',
    Array.from({ length: 200 }, () => empty),
    Array.from({ length: 5 }, () => map),
    'case 1 of 200, which wants x[0].k0 left out, not 0; x[0].k1 left out, not 1; x[0].k2 left out, not 2, and many more',
  ],
  ['a long text', Array.from({ length: 200 }, (_, index) => `a${index}`), 'a'.repeat(2 ** 20), 'not "aaa'],
])('13: a mock with 200 cases looks at %s once, and not for each case', async (_, wanted, arg, message) => {
  const one = await refused(wanted.slice(0, 1), arg);
  const all = await refused(wanted, arg);
  expect(all.message).toContain(message);
  expect(all.ms).toBeLessThan(3 * one.ms + 500);
});

it('13: a mock with 200 patterns puts a long text into small letters once, and not for each case', async () => {
  const text = 'A'.repeat(2 ** 16);
  const lower = vi.spyOn(String.prototype, 'toLowerCase');
  try {
    const patterns = Array.from({ length: 200 }, (_, index) => ({ $like: `*b${index}*` }));
    expect((await refused(patterns, text)).message).toContain('case 1 of 200, which wants x like "*b0*", not "AAA');
    const long = lower.mock.contexts.filter((each) => String(each).length === text.length);
    expect(long).toHaveLength(1);
  } finally {
    lower.mockRestore();
  }
});

it('tells the beginning of a value, also of a text whose character would be cut in two', async () => {
  const { message } = await refused([1], ['👩'.repeat(60), { b: [1, { a: nested(300) }], '2': 1, '1': 2 }]);
  expect(message).toContain(`x = ["${'👩'.repeat(39)}…;`);
  expect((await refused([1], [{ b: [1], 2: 1 }, [[]], null])).message).toContain('x = [{"2":1,"b":[1]},[[]],null];');
});

function nested(depth: number): Value {
  let value: Value = 1;
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}
