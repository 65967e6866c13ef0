import { describe, expect, it } from 'vitest';
import { type Foreseen, type ForeseeOptions, foresee, parse } from '../../grammar/index.ts';
import { BOUNDING_COSTS } from '../../src/wire/costs.ts';
import { argumentsText } from '../../src/wire/foreseen.ts';
import { cpuMs } from '../cost.ts';
import { programs } from '../grammar/decoder/corpus.ts';
import { SLOW } from '../groups.ts';
import { driveFiles, Raise, type TestTool } from '../guest/driver.ts';
import { Gate } from './gate.ts';
import { escapeOf, examine, grantFor, isConstant, KEEPING, refusalOf, tally } from './harness.ts';
import { escapes, PLANTED, planted } from './planted.ts';

function filesOf(...sources: readonly string[]) {
  return sources.map((text, index) => {
    const result = parse(text, { name: `t${index}.ns` });
    if (!result.ok) throw new Error(`${result.errors[0].message}\n${text}`);
    return { file: result.file, text: result.text };
  });
}

const command = (...lines: readonly string[]): string => `command\n${lines.join('\n')}\nendcommand\n`;

function seen(source: string | readonly string[], options: ForeseeOptions = {}): Foreseen {
  return foresee(filesOf(...[source].flat()), BOUNDING_COSTS, { keeping: KEEPING, events: [], ...options });
}

/** The calls in words. */
function calls(source: string | readonly string[], options: ForeseeOptions = {}): readonly string[] {
  return seen(source, options).calls.map(({ name, args, most, when }) => {
    const conditions = when.map(({ kind, text }) => ` ${kind} ${text}`).join('');
    return `${name}${argumentsText(args)} ${most ?? 'any'}${conditions}`;
  });
}

describe('issue 22.3: what happens lies within what was foreseen', () => {
  for (const [programs, options] of [
    [40, {}],
    [200, SLOW],
  ] as const)
    it(`for ${programs} generated programs, each run a few times`, options, () => {
      const found = tally();
      for (let index = 0; index < programs; index++) examine(index, found);
      expect(found.escapes).toEqual([]);
      expect(found.refused).toBe(0);
      // Programs that call nothing, and an analysis that says nothing, would prove nothing.
      expect(found.calls).toBeGreaterThan(programs);
      expect(found.exact).toBeGreaterThan(found.calls / 10);
      // Issue 47: grants that are narrower by one stop runs, and costs have bounds.
      expect(found.outside).toBeGreaterThan(programs / 10);
      expect(found.priced).toBeGreaterThan(programs / 10);
    });

  it.each(PLANTED)('and the programs show when $what', async (error) => {
    await using wrong = await planted(error);
    expect(escapes(error.shownBy)).toBe(false);
    expect(escapes(error.shownBy, wrong.analysis)).toBe(true);
  });
});

describe('issue 22.3: no call escapes from where it stands', () => {
  const library = [
    'func twice(needs a) means\ncall tool.a.Put(a)\ncall tool.a.Put(a)\nreturn tool.a.Get(a)\nendfunc\n',
    'func again(needs n) means\nif n > 0\ncall tool.b.Send(n)\ncall again(n - 1)\nendif\nendfunc\n',
    'func len2(needs a) means\nreturn len(tool.a.Get(a))\nendfunc\n',
    'func fails(needs a) means\nset a = tool.a.Get(a)\nfail tool.a.Put("last", a)\nendfunc\n',
    'on event tool.a.Get("name") named "n" as e do\ncall tool.b.Send(e)\nemit twice("in an event")\nendon\n',
    'on event "x" as tool_ do\non error do\ncall tool.a.Put(system_error.code)\nclear_error\nendon\ncall fails(1)\nendon\n',
  ].join('');
  it.each<[string, readonly string[]]>([
    ['an argument', ['call tool.a.Put(tool.a.Get(tool.a.Get("deep")), twice(2))']],
    ['a placeholder', ['set s = ```{{ tool.a.Get("t") }} {{ twice("u") }}```', 'call tool.a.Put(s)']],
    ['must', ['on error do', 'clear_error', 'endon', 'must tool.a.Get("m")', 'must twice(1) == tool.a.Get("n")']],
    ['a condition that is skipped', ['set x = false and tool.a.Put("never")', 'set y = nobody or tool.a.Put("always")']],
    ['a condition', ['while tool.a.Get("w") and n < 3', 'set n = n + 1', 'call tool.a.Put(n)', 'endwhile']],
    ['an index and a target', ['set l = [1, 2]', 'set l[tool.a.Get("i")] = tool.a.Get("v")', 'set m[twice("k")].k = 1']],
    [
      'a key of a map',
      ['set m = {tool.a.Get("k"): twice("v"), "b": 1}', 'for each k, v in m', 'call tool.a.Put(k, v)', 'endfor'],
    ],
    ['a handler', ['on error do', 'call tool.a.Put(system_error.code, x)', 'set x = 2', 'endon', 'set x = 1', 'call fails("f")']],
    ['a handler that fails', ['on error do', 'call tool.set.Any(1)', 'fail tool.a.Get("h")', 'endon', 'fail tool.a.Get("f")']],
    [
      'what a handler outside does',
      [
        'on error do',
        'call tool.a.Put("outer")',
        'clear_error',
        'endon',
        'if true',
        'on error do',
        'call tool.a.Put("inner")',
        'endon',
        'fail "x"',
        'endif',
        'call tool.a.Put("after")',
      ],
    ],
    [
      'a loop that a handler continues',
      ['for each x in [1, 2, 3]', 'on error do', 'clear_error', 'continue', 'endon', 'call tool.a.Put(x)', 'fail "x"', 'endfor'],
    ],
    ['recursion', ['call again(4)', 'call again(tool.a.Get("n"))']],
    ['a variable that a tool sets', ['set a = "safe"', 'call tool.set.Any()', 'call tool.a.Put(a)', 'call tool.a.Put(b)']],
    [
      'a variable that a tool sets in a later pass',
      [
        'set a = "safe"',
        'set i = 0',
        'while i < 3',
        'call tool.a.Put(a)',
        'if i == 1',
        'call tool.set.Any()',
        'endif',
        'set i = i + 1',
        'endwhile',
      ],
    ],
    [
      'a name that shadows a global',
      [
        'for each g in [1, 2]',
        'call tool.a.Put(g)',
        'endfor',
        'call tool.a.Put(g)',
        'on error do',
        'clear_error',
        'endon',
        'set g = 5',
        'call tool.a.Put(g)',
      ],
    ],
    ['a copy', ['set a = {"k": [1]}', 'set b = a', 'set b.k[0] = tool.a.Get("z")', 'call tool.a.Put(a, b, a.k)']],
    [
      'a copy of a copy in a loop',
      ['set a = [1]', 'for each x in [a, a]', 'set x[0] = 2', 'set a[0] = 3', 'call tool.a.Put(x, a)', 'endfor'],
    ],
    [
      'several targets',
      ['set a, b = [tool.a.Get("p"), 2]', 'call tool.a.Put(a, b)', 'set a, b = [b, a]', 'call tool.a.Put(a, b)'],
    ],
    ['last', ['call tool.a.Get("l")', 'call tool.a.Put(last)', 'emit 1', 'call tool.a.Put(last)']],
    ['eval', ['set a = "x"', 'set t = "{" + "{a}" + "}"', 'call tool.a.Put(eval(t), eval("{" + "{tool.a.Get}" + "}"))']],
    [
      'calls that run together',
      [
        'set a = 1',
        'together',
        'set b = tool.a.Get(a)',
        'set c = tool.b.Send(twice("in"))',
        'call tool.a.Put(tool.set.Any(a), a)',
        'endtogether',
        'call tool.a.Put(a, b, c)',
      ],
    ],
    [
      'for each together',
      [
        'for each k, v in {"x": 1, "y": tool.a.Get("y")} together',
        'set r[k] = tool.a.Get(v)',
        'call tool.b.Send(k, v)',
        'endfor',
        'call tool.a.Put(r)',
      ],
    ],
    [
      'ask and promptuser',
      ['ask "m", "p" with {"k": tool.a.Get("o")} into a', 'promptuser tool.a.Get("q") into b', 'call tool.a.Put(a, b)'],
    ],
    [
      'whisper, emit, fail, clear event',
      ['whisper tool.a.Get("w"), twice(1)', 'emit tool.a.Get("e")', 'clear event tool.a.Get("c")', 'fail tool.a.Get("f")'],
    ],
    [
      'numbers at the edges',
      ['set z = -0', 'call tool.a.Put(z, 0 - 0, 1e308 * 10, 1e308 * 10 - 1e308 * 10, 2 ** 53 + 1, "5" + 1, "a" + 1.5)'],
    ],
    [
      'texts with lone surrogates and keys with a sign',
      ['call tool.a.Put(char(55296) + "x", {"$num": 1, "10": 2, "2": 3}, ["\\ud83d\\ude00"[0]])'],
    ],
    [
      'a name of another case',
      ['call Tool.A.pUT("case")'.replace('Tool', 'tool'), 'emit LEN(tool.a.Get("len"))', 'emit len2("x")'],
    ],
    ['a block after an early end', ['if tool.a.Get("stop")', 'return', 'endif', 'call tool.a.Put("went on")']],
  ])('%s', (_what, lines) => {
    const answers = [null, 1, 'k', true, [1, 'x'], { k: 1 }, ''];
    for (let seed = 0; seed < 12; seed++) {
      let made = seed;
      const answer: TestTool = () => {
        made = (made * 7 + 3) % 23;
        if (made === 5) throw new Raise(7, 'refused');
        return answers[made % answers.length] ?? null;
      };
      const files = filesOf(library, command(...lines));
      const events = [
        { name: 'k', source: 's', payload: 1 },
        { name: 'x', source: 's', payload: { a: 1 } },
      ];
      const globals = { g: [1], h: 'text' };
      const tools = {
        ...{ 'tool.a.get': answer, 'tool.a.put': answer, 'tool.b.send': answer },
        'tool.set.any': ((args, io) => {
          io.setVar('a', seed);
          io.setVar('b', 'set');
          return answer(args, io);
        }) satisfies TestTool,
      };
      const foreseen = foresee(files, BOUNDING_COSTS, {
        keeping: KEEPING,
        values: globals,
        ...(seed % 2 === 0 ? {} : { events: ['k', 'x'] }),
      });
      const gate = new Gate(grantFor(foreseen));
      const driven = driveFiles(
        files.map(({ file }) => file),
        { tools, ask: answer, stdin: ['line'], events, globals, limits: { fuel: 20_000 }, ...gate.hooks },
      );
      expect([escapeOf(foreseen, driven), refusalOf(gate)]).toEqual([null, null]);
    }
  });
});

describe('issue 22.3: what is known of a call', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['constants', ['call tool.a.Put("/x", 1, [true, nil], {"k": 2})'], ['tool.a.put("/x", 1, [true, nil], {"k": 2}) 1']],
    [
      'each item of a known list',
      ['for each f in ["a", "b"]', 'call tool.a.Put("/" + f)', 'endfor'],
      ['tool.a.put("/a") 1', 'tool.a.put("/b") 1'],
    ],
    [
      'one of several',
      ['if g', 'set x = "a"', 'else', 'set x = "b"', 'endif', 'call tool.a.Put(x)'],
      ['tool.a.put(one of "a" | "b") 1'],
    ],
    [
      'a range',
      ['set i = 0', 'while g', 'call tool.a.Put(i)', 'set i = i + 1', 'endwhile'],
      ['tool.a.put(0) 1 while g', 'tool.a.put(number from 1) any while g'],
    ],
    ['the beginning of a text', ['call tool.a.Put("/tmp/" + g)'], ['tool.a.put(text that begins with "/tmp/") 1']],
    [
      'an earlier result',
      ['set r = tool.a.Get(1)', 'call tool.a.Put([r.k, 2])'],
      ['tool.a.get(1) 1', 'tool.a.put([anything from call 1, 2]) 1'],
    ],
    ['a branch that is never taken', ['set debug = false', 'if debug', 'call tool.a.Put(1)', 'endif'], []],
    ['what follows an early end', ['if g', 'return', 'endif', 'must h', 'call tool.a.Put(1)'], ['tool.a.put(1) 1 unless g if h']],
    ['an endless loop', ['while true', 'call tool.a.Put(1)', 'endwhile'], ['tool.a.put(1) any']],
  ])('%s', (_what, lines, expected) => {
    expect(calls(command(...lines), { globals: ['g', 'h'] })).toEqual(expected);
  });

  it('of procedures, events and the call of the host', () => {
    const library =
      'func f(needs a optional b) means\ncall tool.a.Put(a, b)\nendfunc\non event "x" as e do\ncall f(e)\nendon\non event "y" do\ncall f(1)\nendon\n';
    expect(calls([library, command('call f(1)')])).toEqual(['tool.a.put(1, nil) 1 procedure f']);
    expect(calls(library, { call: { name: 'f', args: ['x', { k: 1 }] } })).toEqual(['tool.a.put("x", {"k": 1}) 1 procedure f']);
    expect(calls(library, { events: ['x', 'x', 'z'] })).toEqual(['tool.a.put(anything, nil) 2 event "x" procedure f']);
    const any: readonly string[] = [
      'tool.a.put(anything, nil) any event "x" procedure f',
      'tool.a.put(1, nil) any event "y" procedure f',
    ];
    const { calls: all } = foresee(filesOf(library), BOUNDING_COSTS, { keeping: KEEPING });
    expect(all.map(({ most }) => most)).toEqual([null, null]);
    expect(any.length).toBe(all.length);
  });

  it('a tool that may set variables makes them unknown; a known global stays', () => {
    const source = command('set a = 1', 'call tool.set.Any()', 'call tool.a.Put(a, g)');
    expect(calls(source, { values: { g: 'v' } })[1]).toBe('tool.a.put(anything from call 1, anything) 1');
    expect(calls(source, { values: { g: 'v' }, keeping: ['tool.set.any'] })[1]).toBe('tool.a.put(1, "v") 1');
  });

  it('bounds of fuel, memory, output and scratchpad', () => {
    const source = command('set t = "ab"', 'emit t', 'whisper "log", t');
    const { fuel, memoryBytes, outputBytes, scratchBytes } = seen(source);
    const driven = driveFiles(
      filesOf(source).map(({ file }) => file),
      {},
    );
    expect(driven.fuel).toBeLessThanOrEqual(fuel ?? 0);
    expect(driven.peakMemoryBytes).toBeLessThanOrEqual(memoryBytes ?? 0);
    expect([outputBytes, scratchBytes].every((bytes) => bytes !== null && bytes < 200)).toBe(true);
    expect(driven.outputBytes).toBeLessThanOrEqual(outputBytes ?? 0);
  });

  it('the bound of memory has room for what a procedure returns to the host', () => {
    const sources = filesOf('func main() means\nset c = "k" * 100000\nendfunc\n');
    const { memoryBytes } = foresee(sources, BOUNDING_COSTS, { call: MAIN, values: {} });
    const { peakMemoryBytes } = driveFiles(
      sources.map(({ file }) => file),
      { call: MAIN.name },
    );
    expect(peakMemoryBytes).toBeLessThanOrEqual(memoryBytes ?? 0);
  });
});

it('issue 22.3: much is known of the programs of this repository', () => {
  const all = programs().map((text) => seen(text, { values: {}, ...(/^func main\b/m.test(text) ? { call: MAIN } : {}) }));
  const made = all.flatMap((one) => one.calls);
  const share = (part: readonly unknown[], whole: readonly unknown[]): number => part.length / whole.length;
  expect(made.length).toBeGreaterThan(150);
  expect(
    share(
      all.filter(({ fuel }) => fuel !== null),
      all,
    ),
  ).toBeGreaterThan(0.65);
  expect(
    share(
      made.filter(({ most }) => most !== null),
      made,
    ),
  ).toBeGreaterThan(0.88);
  expect(
    share(
      made.filter(({ args }) => args?.every(isConstant)),
      made,
    ),
  ).toBeGreaterThan(0.7);
});

const MAIN = { name: 'main', args: [] };

describe('issue 22.3: the work and the size of a preview are bounded', () => {
  const each = (count: number, line: (index: number) => string): string =>
    Array.from({ length: count }, (_, i) => line(i)).join('');
  it.each<[string, string]>([
    ['7000 calls', command(each(7000, (i) => `call tool.a.Get("${i}", x)\n`))],
    ['2000 results that become arguments', command(each(2000, (i) => `set v${i} = tool.a.Get(v${i - 1})\n`))],
    [
      'nested loops',
      command(`${'for each x in [1, 2, 3, 4, 5, 6, 7, 8, 9]\n'.repeat(100)}call tool.a.Get(x)\n${'endfor\n'.repeat(100)}`),
    ],
    ['nested endless loops', command(`${'while g\n'.repeat(100)}call tool.a.Get(1)\n${'endwhile\n'.repeat(100)}`)],
    [
      'calls that double at each level',
      each(400, (i) => `func f${i}(needs a) means\ncall tool.a.Get(a)\nreturn f${i + 1}(a + 1) + f${i + 1}(a + 2)\nendfunc\n`),
    ],
    [
      '2000 procedures that all call each other',
      each(2000, (i) => `func f${i}(needs a) means\ncall tool.a.Get(${i})\ncall f${(i * 7 + 1) % 2000}(a)\nendfunc\n`),
    ],
    [
      'a text that doubles',
      command(`set s = "k"\nset l = [s]\n${'set s = s + s\nset l = l + l\n'.repeat(60)}call tool.a.Get(s, l)`),
    ],
    [
      'maps in maps',
      command(
        `set m = {"k": 1}\nset n = {"k": 2}\n${'set m = {"a": m, "b": m}\nset n = {"a": n, "b": n}\n'.repeat(60)}if g\nset m = n\nendif\ncall tool.a.Get(m)`,
      ),
    ],
    ['a long condition', command(`if ${'g + '.repeat(40_000)}g\n${each(900, (i) => `call tool.a.Get(${i})\n`)}endif`)],
    ['a long text', command(`for each x in [1, 2, 3]\ncall tool.a.Get("${'x'.repeat(190_000)}", x)\nendfor`)],
  ])('%s', SLOW, (_what, source) => {
    const work = (): void => {
      const foreseen = seen(source, { globals: ['g'], call: { name: 'f0', args: [1] } });
      expect(JSON.stringify(foreseen).length).toBeLessThan(1e6);
      expect(foreseen.calls.length).toBeGreaterThan(0);
    };
    expect(cpuMs(work, 1)).toBeLessThan(20_000);
  });
});
