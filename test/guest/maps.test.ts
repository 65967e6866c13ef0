import { describe, expect, it } from 'vitest';
import type { LimitOptions } from '../../src/sandbox/limits.ts';
import { type DriveOptions, drive } from './driver.ts';

// A key in brackets is the same key, but the compiler takes it for one that is known only when the program runs.

/** What a program does that makes 300 maps of keys that are written this way. */
function done(key: (text: string) => string, limits: LimitOptions) {
  const entries = ['id: i', 'name: "n" + i', 'tags: [i, {"deep": i}]'].map((entry) =>
    entry.replace(/^\w+/, (name) => key(`"${name}"`)),
  );
  const source = [
    'command',
    'set all = []',
    'set i = 0',
    'while i < 300',
    `set m = {${entries.join(', ')}}`,
    `set all[i] = [m[${key('"name"')}], m[${key('"none"')}], m]`,
    'set i = i + 1',
    'endwhile',
    'emit all',
    `emit "text"[${key('"name"')}]`,
    'endcommand',
  ];
  const { emits, fuel, peakMemoryBytes, error } = drive(source.join('\n'), { limits });
  return { emits, fuel, peakMemoryBytes, code: error?.code, line: error?.line, message: error?.message, used: error?.used };
}

describe('a map literal whose keys are known', () => {
  it.each<LimitOptions>([
    {},
    ...[1, 7, 2000, 2900, 3100].map((fuel) => ({ fuel })),
    ...[100_000, 200_000, 300_000].map((memoryBytes) => ({ memoryBytes })),
    { valueBytes: 900 },
    { valueBytes: 40_000 },
    { valueDepth: 2 },
    { mapLength: 2 },
    { textLength: 3 },
  ])('does what one does whose keys are worked out, for the same fuel and memory: %o', (limits) => {
    expect(done((text) => text, limits)).toEqual(done((text) => `(${text})`, limits));
  });
});

const NIL = 'a variable that was never set and a missing map key are nil; test with is_nil() first';
const COUNT =
  'a variable that was never set and a missing map key are nil; to count in a map, write set m[k] = tool.map.Get(m, k, 0) + 1';

describe('the hint of an error about nil', () => {
  it.each<[program: string, hint: string]>([
    ['emit 1 + m.price', 'there is no key "price": did you mean "Price"?'],
    ['set p = m["price"]⏎emit p < 1', 'there is no key "price": did you mean "Price"?'],
    ['emit m.price.net', 'there is no key "price": did you mean "Price"?'],
    ['emit m.n < 1', `${NIL}; the map without "n" has "Price", "m"`],
    ['set k = "price"⏎emit m[k] < 1', NIL],
    ['set m.price = nil⏎emit m.price < 1', NIL],
    ['set k = "price"⏎set m[k] = m[k] + 1', COUNT],
    ['emit m + m', 'tool.map.Merge(a, b) has the keys of both'],
    ['emit [1] * 2', 'to repeat a list, add it to a new list in a loop: set all = all + l'],
  ])('%s', (program, hint) => {
    const text = `command\nset m = {"Price": 1, "m": {"a": 1}}\n${program.replaceAll('⏎', '\n')}\nendcommand\n`;
    expect(drive(text).error?.hint).toBe(hint);
  });
});

describe('the map that a hint about nil is of', () => {
  // The loop reads nothing with a label, so it runs in the form that keeps none.
  const program = [
    ...['command', 'set m = {"Price": 1}', 'for each i in [1]', 'set x = m.zz', 'endfor', 'set page = tool.web.Get()'],
    ...['set m[page] = 1', 'set y = m2', 'emit y.name', 'endcommand'],
  ].join('\n');
  const hint = (options: DriveOptions): string | undefined =>
    drive(program, { tools: { 'tool.web.get': () => 'call me' }, ...options }).error?.hint;

  it('is told in a run without labels', () => {
    expect(hint({})).toBe(`${NIL}; the map without "zz" has "Price", "call me"`);
  });

  it('is not told where values carry labels: an error has those of its own statement', () => {
    const flow = { program: [], globals: [], events: [] };
    const answers = { 'tool.web.get': { adds: ['web'], drops: [] } };
    expect(hint({ flow, answers })).toBe(NIL);
  });

  it('is let go where memory is counted: it may be large, and nobody else may hold it', () => {
    const filled = 'set big = []\nfor each i in tool.list.Range(0, 60000)\nset big[i] = "item" + i\nendfor';
    const text = `command\nset m = {"Price": 1}\nset x = m.zz\nset m = 1\n${filled}\nset y = m2\nemit y.name\nendcommand`;
    expect(drive(text, { pure: true }).error?.hint).toBe(NIL);
  });
});
