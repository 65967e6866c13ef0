import { describe, expect, it } from 'vitest';
import { breachOf, LIMITS, type LimitKey, limitOf } from '../../src/wire/limits.ts';
import { type DriveOptions, drive } from '../guest/driver.ts';

/** A program that uses exactly so much of a limit, or fewer, and a place in it. */
interface Exact {
  readonly key: LimitKey;
  readonly what: string;
  /** The program that uses `n`; in a command block unless it brings its own blocks. */
  program(n: number): string;
  readonly at: readonly number[];
  readonly options?: DriveOptions | ((n: number) => DriveOptions);
  /** What the error says was used, when that is not one more than allowed. */
  used?(n: number): number;
}

const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n');
const loop = (count: number, body: string): string => `set i = 0\nwhile i < ${count}\n${body}\nset i = i + 1\nendwhile`;
const tools = { 'tool.t.echo': (args: readonly unknown[]) => (args[0] ?? null) as null, 'tool.t.other': () => null };

/** Published costs, written down apart from the code: a text 40 and 2 a unit, a list 176 and 32 an item. */
const TEXT = 40;
const LIST = 176;
const ITEM = 32;
const BLOCK = 160;
const VARIABLE = 24;
const HANDLER = 'on event "e" do\nset n = 1\nendon\n';

const CASES: readonly Exact[] = [
  { key: 'fuel', what: 'statements', program: (n) => lines(n, () => 'set v = 1'), at: [1, 100] },
  {
    key: 'memoryBytes',
    what: 'a block with a variable that holds a text',
    program: (n) => `set t = "a" * ${(n - BLOCK - VARIABLE - TEXT) / 2}`,
    at: [70_000],
    used: (n) => n + 2,
  },
  { key: 'outputBytes', what: 'one line with its line feed', program: (n) => `emit "${'a'.repeat(n - 1)}"`, at: [1, 100] },
  { key: 'lineBytes', what: 'one line without its line feed', program: (n) => `emit "${'a'.repeat(n)}"`, at: [1, 100] },
  {
    key: 'scratchBytes',
    what: 'a whisper with its line feed',
    program: (n) => `whisper "t", "${'a'.repeat(n - 1)}"`,
    at: [1, 100],
  },
  { key: 'toolCalls', what: 'calls', program: (n) => lines(n, () => 'call tool.t.echo()'), at: [1, 5], options: { tools } },
  {
    key: 'toolBytes',
    what: 'the arguments of a call',
    program: (n) => `call tool.t.other("${'a'.repeat(n - '[""]'.length)}")`,
    at: [10, 500],
    options: { tools },
  },
  {
    key: 'eventCount',
    what: 'events',
    program: () => HANDLER,
    at: [1, 4],
    options: (n) => ({ events: Array.from({ length: n }, () => ({ name: 'e', source: '', payload: null })) }),
  },
  { key: 'emits', what: 'emit statements', program: (n) => lines(n, () => 'emit ""'), at: [1, 7] },
  { key: 'emits', what: 'whisper statements', program: (n) => lines(n, () => 'whisper "", ""'), at: [1, 7] },
  {
    key: 'toolCallsPerTool',
    what: 'calls of one tool',
    program: (n) => lines(n, () => 'call tool.t.echo()'),
    at: [1, 5],
    options: { tools },
  },
  {
    key: 'toolCallsPerTool',
    what: 'calls of a tool in other casings, with another tool in between',
    program: (n) => lines(n, (i) => `call tool.T.e${i % 2 === 0 ? 'C' : 'c'}ho()\ncall tool.t.other()`),
    at: [4],
    options: { tools },
  },
  {
    key: 'togetherCalls',
    what: 'calls of one block',
    program: (n) => `together\n${lines(n, () => 'call tool.t.echo()')}\nendtogether`,
    at: [1, 5],
    options: { tools },
  },
  {
    key: 'togetherCalls',
    what: 'calls of all passes',
    program: (n) => `for each x in "a" * ${n} together\ncall tool.t.echo(x)\nendfor`,
    at: [1, 5],
    options: { tools },
  },
  {
    key: 'deliveries',
    what: 'handlers of one event',
    program: (n) => HANDLER.repeat(n),
    at: [1, 6],
    options: { events: [{ name: 'e', source: '', payload: null }] },
  },
  {
    key: 'deliveries',
    what: 'one handler of many events',
    program: () => HANDLER,
    at: [3],
    options: (n) => ({ events: Array.from({ length: n }, () => ({ name: 'e', source: '', payload: null })) }),
  },
  { key: 'textLength', what: 'a text repeated', program: (n) => `set t = "a" * ${n}`, at: [2, 100] },
  { key: 'textLength', what: 'a literal', program: (n) => `set t = "${'a'.repeat(n)}"`, at: [2, 100] },
  { key: 'textLength', what: 'a sum', program: (n) => `set a = "a"\nset t = a * ${n - 1} + a`, at: [5, 2000] },
  { key: 'textLength', what: 'a template', program: (n) => `set t = \`\`\`{{"x"}}${'a'.repeat(n - 1)}\`\`\``, at: [5] },
  { key: 'textLength', what: 'eval', program: (n) => `set a = "a" * ${n - 1}\nset t = eval("{{a}}b")`, at: [2000] },
  { key: 'textLength', what: 'the text of a list', program: (n) => `set l = ["${'b'.repeat(n - 4)}"]\nset t = "" + l`, at: [30] },
  {
    key: 'textLength',
    what: 'a result of a tool',
    program: () => 'set t = tool.t.long()',
    at: [9],
    options: (n) => ({ tools: { 'tool.t.long': () => 'x'.repeat(n) } }),
  },
  { key: 'textLength', what: 'a global', program: () => 'emit 1', at: [9], options: (n) => ({ globals: { g: 'x'.repeat(n) } }) },
  { key: 'textLength', what: 'a key', program: (n) => `set m.${'k'.repeat(n)} = 1`, at: [9] },
  { key: 'listLength', what: 'a literal', program: (n) => `set l = [${lines(n, () => '1').replaceAll('\n', ',')}]`, at: [1, 5] },
  { key: 'listLength', what: 'items appended', program: (n) => `set l = []\n${loop(n, 'set l[len(l)] = 1')}`, at: [1, 50] },
  { key: 'listLength', what: 'a list padded', program: (n) => `set l[${n - 1}] = 1`, at: [1, 50] },
  {
    key: 'listLength',
    what: 'a list within a map, padded',
    program: (n) => `set m = {"l": []}\nset m.l[${n - 1}] = 1`,
    at: [50],
  },
  {
    key: 'listLength',
    what: 'lists joined',
    program: (n) => `set l = [1] + [${lines(n - 1, () => '1').replaceAll('\n', ',')}]`,
    at: [4],
  },
  {
    key: 'listLength',
    what: 'a result of a tool',
    program: () => 'set l = tool.t.many()',
    at: [4],
    options: (n) => ({ tools: { 'tool.t.many': () => Array(n).fill(1) } }),
  },
  {
    key: 'mapLength',
    what: 'a literal',
    program: (n) => `set m = {${lines(n, (i) => `"k${i}": 1`).replaceAll('\n', ',')}}`,
    at: [1, 5],
  },
  { key: 'mapLength', what: 'entries set', program: (n) => `set m = {}\n${loop(n, 'set m["k" + i] = 1')}`, at: [1, 50] },
  {
    key: 'mapLength',
    what: 'an argument of a call',
    program: () => 'func f(needs m) means\nreturn 1\nendfunc\n',
    at: [3],
    options: (n) => ({ call: 'f', args: [Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, 1]))] }),
  },
  { key: 'valueDepth', what: 'a literal', program: (n) => `set l = ${'['.repeat(n)}${']'.repeat(n)}`, at: [2, 6] },
  {
    key: 'valueDepth',
    what: 'lists within each other',
    program: (n) => `set l = []\n${loop(n - 1, 'set l = [l]')}`,
    at: [2, 60],
  },
  {
    key: 'valueDepth',
    what: 'maps within each other',
    program: (n) => `set m = {}\n${loop(n - 1, 'set m = {"m": m}')}`,
    at: [2, 60],
  },
  { key: 'valueDepth', what: 'a path written at once', program: (n) => `set m${'.a'.repeat(n)} = 1`, at: [2, 6] },
  {
    key: 'valueDepth',
    what: 'an inner part that is replaced',
    program: (n) => `set v = []\n${loop(n - 3, 'set v = [v]')}\nset m = {"a": {"b": 1}}\nset m.a.b = v`,
    at: [4, 9],
  },
  {
    key: 'valueDepth',
    what: 'a result of a tool',
    program: () => 'set l = tool.t.deep()',
    at: [5],
    options: (n) => ({ tools: { 'tool.t.deep': () => JSON.parse('['.repeat(n) + ']'.repeat(n)) } }),
  },
  { key: 'valueBytes', what: 'a text', program: (n) => `set t = "a" * ${(n - TEXT) / 2}`, at: [2000], used: (n) => n + 2 },
  {
    key: 'valueBytes',
    what: 'a list',
    program: (n) => `set l[${(n - LIST) / ITEM - 1}] = 1`,
    at: [LIST + 40 * ITEM],
    used: (n) => n + ITEM,
  },
  {
    key: 'valueBytes',
    what: 'a text that stands in a list twice',
    program: (n) => `set t = "a" * ${(n - LIST - 2 * ITEM - 2 * TEXT) / 4}\nset l = [t, t]`,
    at: [LIST + 2 * ITEM + 2 * TEXT + 4000],
    used: (n) => n + 4,
  },
  {
    key: 'valueBytes',
    what: 'the innermost part of a value that grows in place',
    program: (n) => `set l = [[[]]]\nset t = "a" * ${(n - 3 * LIST - 3 * ITEM - TEXT) / 2}\nset l[0][0][0] = t`,
    at: [3 * LIST + 3 * ITEM + TEXT + 2000],
    used: (n) => n + 2,
  },
];

/** How much more a program of the next size uses. */
const step = ({ used }: Exact, n: number): number => (used === undefined ? 1 : used(n) - n);

describe('a limit is met exactly: what is allowed runs, one more is refused', () => {
  const rows = CASES.flatMap((each) =>
    each.at.map((allowed) => ({ name: `${each.key} of ${allowed}: ${each.what}`, each, allowed })),
  );
  it.each(rows)('$name', ({ each, allowed }) => {
    const source = (n: number): string =>
      /^(func|on) /.test(each.program(n)) ? each.program(n) : `command\n${each.program(n)}\nendcommand\n`;
    const run = (n: number, turn = false) => {
      const options = typeof each.options === 'function' ? each.options(n) : each.options;
      return drive(source(n), { ...options, limits: { [each.key]: allowed }, turn });
    };
    expect(run(allowed).error).toBeNull();
    const more = allowed + step(each, allowed);
    const { error, ok } = run(more);
    const [code, inTurn = code] = promised(each.key);
    expect(error).toMatchObject({ kind: 'quota', code, nsCode: null, limit: each.key, allowed, used: more });
    expect(ok).toBe(false);
    expect(run(more, true).error?.code).toBe(inTurn);
  });
});

/** The codes of a breach that `docs/limits.md` promises: that of a run, and that of a turn if it is another. */
function promised(key: LimitKey): readonly [code: string, inTurn: string | undefined] {
  const [code = '', inTurn] = breachOf(limitOf(key)).split(', in a turn ');
  return [code, inTurn];
}

/** Depths are errors of the language, which `test/guest/depth.test.ts` meets exactly. No time is exact. */
const INEXACT: readonly (readonly [LimitKey, DriveOptions])[] = [
  ['cpuMs', { clock: () => 1 }],
  ['wallMs', { clock: () => 2 }],
  ['callDepth', {}],
  ['evalDepth', {}],
];

it.each(INEXACT)('a breach of %s is what the page says', (key, options) => {
  const source = 'func f() means\nreturn f()\nendfunc\n';
  expect(drive(source, { ...options, call: 'f', limits: { [key]: 100 } }).error?.code).toBe(promised(key)[0]);
});

it('every limit that the interpreter counts is tried here', () => {
  const counted = LIMITS.filter(({ ring, key }) => ring === 1 || key === 'wallMs').map(({ key }) => key);
  const tried = new Set([...CASES.map(({ key }) => key), ...INEXACT.map(([key]) => key)]);
  expect([...tried].sort()).toEqual(counted.sort());
});

describe('no script sees a breach of them', () => {
  it.each(CASES.filter(({ program }) => !/^(func|on) /.test(program(100))))('$key: $what', (each) => {
    const allowed = each.at[0] ?? 0;
    const more = allowed + step(each, allowed);
    const options = typeof each.options === 'function' ? each.options(more) : each.options;
    const source = `command\non error do\nclear_error\nendon\n${each.program(more)}\nendcommand\n`;
    expect(drive(source, { ...options, limits: { [each.key]: allowed } }).error?.limit).toBe(each.key);
  });
});

it('a literal that is too long is refused itself, whatever is put behind it', () => {
  const { error } = drive('command\nset s = "abcdef" + 1\nendcommand\n', { limits: { textLength: 5 } });
  expect(error).toMatchObject({ limit: 'textLength', used: 6, column: 9 });
});

it.each(['1e308 * "xyz"', '"xyz" * 1e308'])('the breach of %s names an amount that a host accepts', (product) => {
  const { error } = drive(`command\nset s = ${product}\nendcommand\n`);
  expect(error).toMatchObject({ code: 'ERR_QUOTA', used: expect.any(Number) });
});

describe('the measures of a value', () => {
  it('a value that became flatter may grow again: depth is what it is, not what it was', () => {
    const body = 'set l = [[[[1]]]]\nset l[0] = 1\nset m = {"a": l}\nset m.a[0] = [[]]\nemit m';
    expect(drive(`command\n${body}\nendcommand\n`, { limits: { valueDepth: 4 } }).error).toBeNull();
    expect(drive(`command\n${body}\nset m.a[0] = [[[]]]\nendcommand\n`, { limits: { valueDepth: 4 } }).error).toMatchObject({
      limit: 'valueDepth',
      used: 5,
    });
  });

  it('a value that became smaller may grow again', () => {
    const body = 'set l = ["a" * 1000, 1]\nset l[0] = 1\nset l[1] = "b" * 1000';
    expect(drive(`command\n${body}\nendcommand\n`, { limits: { valueBytes: LIST + 2 * ITEM + TEXT + 2000 } }).error).toBeNull();
    expect(
      drive(`command\n${body}\nset l[0] = "c" * 1000\nendcommand\n`, { limits: { valueBytes: LIST + 2 * ITEM + TEXT + 2000 } })
        .error,
    ).toMatchObject({
      limit: 'valueBytes',
      used: LIST + 2 * ITEM + 2 * (TEXT + 2000),
    });
  });

  it('a copy is as large as what it was copied from, and a change of one leaves the other', () => {
    const body = 'set a = ["x" * 400]\nset b = a\nset b[0] = 1\nset c = [a]\nset d = [b, b]';
    const bytes = 2 * LIST + 2 * ITEM + TEXT + 800;
    expect(drive(`command\n${body}\nendcommand\n`, { limits: { valueBytes: bytes } }).error).toBeNull();
    expect(drive(`command\n${body}\nendcommand\n`, { limits: { valueBytes: bytes - 1 } }).error?.used).toBe(bytes);
  });

  it('what is used up is never more than what is allowed', () => {
    const fuel = drive('command\nwhile true\nset n = 1 + 1\nendwhile\nendcommand\n', { limits: { fuel: 1001 } });
    expect(fuel).toMatchObject({ fuel: 1001, error: { limit: 'fuel', allowed: 1001 } });
    expect(fuel.error?.used).toBeGreaterThan(1001);
    const calls = drive('command\nwhile true\ncall tool.t.echo()\nendwhile\nendcommand\n', { tools, limits: { toolCalls: 3 } });
    expect(calls).toMatchObject({ toolCalls: 3, error: { limit: 'toolCalls', allowed: 3, used: 4 } });
  });
});
