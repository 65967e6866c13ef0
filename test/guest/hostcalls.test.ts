import { describe, expect, it } from 'vitest';
import { STEP_FUEL } from '../../src/wire/costs.ts';
import { type Driven, type DriveOptions, drive, Halt, Raise } from './driver.ts';
import { TEST_TOOLS } from './tools.ts';

const run = (source: string, options: DriveOptions = {}): Driven =>
  drive(source, { tools: TEST_TOOLS, call: 'main', ...options });
const main = (body: string): string => `func main() means\n${body}\nendfunc\n`;

describe('a call to the host', () => {
  it('carries its arguments in order, its place and its number', () => {
    const driven = run(main("  set x = 1 + tool.t.give(2)\n  call tool.T.Give('a', nil, {'$k': [1e308 * 10]})"));
    expect(driven.calls).toEqual([
      { t: 'tool', seq: 1, name: 'tool.t.give', args: [2], at: { fork: 'fork.1', source: 'test.ns', line: 2, column: 15 } },
      {
        t: 'tool',
        seq: 2,
        name: 'tool.t.give',
        args: ['a', null, { $$k: [{ $num: 'Infinity' }] }],
        at: { fork: 'fork.1', source: 'test.ns', line: 3, column: 8 },
      },
    ]);
    expect(driven.toolCalls).toBe(2);
  });

  it('names the fork it comes from: ids are counted where they are needed', () => {
    const library = 'func f() means\ncall tool.t.give(1)\ncall tool.t.give(2)\nendfunc\nfunc quiet() means\nreturn 1\nendfunc\n';
    const commands = 'command\ncall quiet()\ncall f()\ncall f()\ncall tool.t.give(3)\nendcommand\n';
    const driven = drive([library, commands], { tools: TEST_TOOLS, forkId: 'turn-7' });
    expect(driven.calls.map(({ at }) => at.fork)).toEqual(['turn-7.1', 'turn-7.1', 'turn-7.2', 'turn-7.2', 'turn-7']);
  });

  it("P29: a tool sees the calling fork's variables, not others'", () => {
    const source = `func f(needs p) means
  set x = 'inner'
  return [tool.t.getvar('x'), tool.t.getvar('p'), tool.t.getvar('outer'), tool.t.getvar('g')]
endfunc
func main() means
  set x = 'main'
  set outer = 1
  set r = f([5])
  emit x
  return r
endfunc
`;
    const driven = run(source, { globals: { g: 7 } });
    expect(driven.emits).toEqual(['main']);
    expect(driven.result).toEqual([
      { found: true, value: 'inner' },
      { found: true, value: [5] },
      { found: false, value: null },
      { found: true, value: 7 },
    ]);
  });

  it('P29: a tool sets variables of the calling fork, named in the source or not', () => {
    const driven = run(
      main(
        "call tool.t.setvar('x', 5)\ncall tool.t.setvar('dynamic', 6)\nemit [x, tool.t.getvar('dynamic').value, eval('{{dynamic}}')]",
      ),
    );
    expect(driven.emits).toEqual(['[5, 6, "6"]']);
  });

  it('P7: a tool cannot set a global, but a local of its name', () => {
    const source =
      "func f(needs g) means\ncall tool.t.setvar('g', 9)\nreturn g\nendfunc\nfunc main() means\nemit f(1)\ncall tool.t.setvar('g', 2)\nendfunc\n";
    const driven = run(source, { globals: { g: 0 } });
    expect(driven.emits).toEqual(['9']);
    expect(driven.error).toMatchObject({ code: 'NS43', line: 7, column: 6 });
  });

  it('raises what the host raises, at the call, and policy errors are of kind policy', () => {
    const tools = {
      'tool.t.deny': () => {
        throw new Raise(1003, "tool 'tool.t.deny' denied");
      },
      'tool.t.own': () => {
        throw new Raise(1234, 'own');
      },
    };
    expect(run(main('  emit 1 + tool.t.deny()'), { tools }).error).toMatchObject({
      kind: 'policy',
      code: 'NS1003',
      name: 'Policy',
      line: 2,
      column: 12,
    });
    expect(run(main('emit tool.t.own()'), { tools }).error).toMatchObject({
      kind: 'runtime',
      code: 'NS1234',
      name: 'ToolSpecific',
    });
  });

  it('ends the run when the host halts it; no handler sees that', () => {
    const error = {
      kind: 'cancelled',
      code: 'ERR_CANCELLED',
      nsCode: null,
      name: 'Cancelled',
      message: 'taken back',
      source: null,
      line: null,
      column: null,
      stack: [],
    } as const;
    const tools = {
      'tool.t.halt': () => {
        throw new Halt(error);
      },
    };
    const driven = run(main("on error do\nemit 'never'\nclear_error\nendon\nemit 'before'\ncall tool.t.halt()"), { tools });
    expect(driven.emits).toEqual(['before']);
    expect(driven.error).toEqual(error);
  });

  it('ends with the error of the host, although the time is over when its long answer is read (A3-1.1-1)', () => {
    const message = 'late'.repeat(20_000);
    const error = { kind: 'timeout', code: 'ERR_TIMEOUT', nsCode: null, name: 'Timeout', message } as const;
    const ended = { ...error, source: null, line: null, column: null, stack: [], limit: 'wallMs', allowed: 1, used: 2 } as const;
    let halted = false;
    const tools = {
      'tool.t.halt': () => {
        halted = true;
        throw new Halt(ended);
      },
    };
    // Live, the clock says that the time is over; in a replay, it never does.
    for (const clock of [() => (halted ? 2 : 0), () => 0])
      expect(run(main('call tool.t.halt()'), { tools, clock }).error).toEqual(ended);
  });

  it('toolCalls: as many as allowed, and one more', () => {
    const body = 'call tool.t.give(1)\ncall tool.t.give(2)';
    expect(run(main(body), { limits: { toolCalls: 2 } }).error).toBeNull();
    const driven = run(main(body), { limits: { toolCalls: 1 } });
    expect(driven.error).toMatchObject({ code: 'ERR_QUOTA', limit: 'toolCalls', allowed: 1, used: 2, line: 3 });
    expect(driven.calls).toHaveLength(1);
  });

  it.each([
    ['alone', 'call tool.t.give(1)'],
    ['with others', 'together\ncall tool.t.give(1)\ncall tool.t.give(2)\nendtogether'],
  ])('a call %s that another limit ends before it is made does not count', (_, body) => {
    const cheap = run(main(body), { limits: { fuel: STEP_FUEL.host.amount } });
    expect(cheap.error).toMatchObject({ code: 'ERR_QUOTA', limit: 'fuel' });
    expect([cheap.calls.length, cheap.toolCalls]).toEqual([0, 0]);
    expect(run(main(body), { limits: { toolBytes: 1 } })).toMatchObject({ error: { limit: 'toolBytes' }, toolCalls: 0 });
  });

  it.each(['toolCalls', 'toolCallsPerTool'])('%s: a call whose arguments cannot be written does not count', (limit) => {
    const fails = 'func fails(needs value) means\non error do\nclear_error\nendon\ncall tool.t.give(value)\nendfunc\n';
    const deep = 'set deep = 1\nset n = 0\nwhile n < 600\nset deep = [deep]\nset n = n + 1\nendwhile\n';
    const source = `${fails}${main(`${deep}call fails(deep)\ncall fails(deep)\ncall tool.t.give(1)`)}`;
    const driven = run(source, { limits: { [limit]: 1 } });
    expect(driven).toMatchObject({ error: null, toolCalls: 1, calls: [{ args: [1] }] });
  });

  it('toolBytes: arguments as JSON, to the byte', () => {
    const call = main("call tool.t.retnil('é', 12)");
    const bytes = Buffer.byteLength('["é",12]');
    expect(run(call, { limits: { toolBytes: bytes } }).error).toBeNull();
    expect(run(call, { limits: { toolBytes: bytes - 1 } }).error).toMatchObject({
      code: 'ERR_QUOTA',
      limit: 'toolBytes',
      used: bytes,
    });
  });

  it('toolBytes: a result as JSON, to the byte', () => {
    const tools = { 'tool.t.text': () => 'é'.repeat(100) };
    expect(run(main('call tool.t.text()'), { tools, limits: { toolBytes: 202 } }).error).toBeNull();
    expect(run(main('call tool.t.text()'), { tools, limits: { toolBytes: 201 } }).error).toMatchObject({
      limit: 'toolBytes',
      used: 202,
    });
  });

  it('an answer that is no reply is an internal error, not a guess', () => {
    const tools = { 'tool.t.bad': () => ({ $strange: 1 }) };
    expect(run(main('emit tool.t.bad()'), { tools }).error).toMatchObject({ kind: 'internal', code: 'ERR_INTERNAL', line: 2 });
  });
});

describe('values that cross to the host and back', () => {
  it.each([
    ['numbers JSON lacks', [{ $num: 'NaN' }, { $num: 'Infinity' }, { $num: '-Infinity' }, { $num: '-0' }, 0, 1e21]],
    ['bytes', [{ $bytes: '' }, { $bytes: 'AA==' }, { $bytes: 'AAE=' }, { $bytes: 'AAEC' }]],
    ['times', { $time: '2025-10-15T08:00:00.25+02:00' }],
    ['a fuzzy', { $fuzzy: 0.25 }],
    ['an error', { $error: { code: 5, message: 'm', details: null } }],
    ['keys with dollars', { $$: 1, $$a: 2, $$$b: 3 }],
    ['keys of Object', JSON.parse('{"__proto__": 1, "constructor": 2, "toString": {"__proto__": 3}}')],
    ['text', ['', 'é😀', '\u0000\n"\\', '\u2028']],
  ])('%s', (_name, value) => {
    const driven = run(main('set x = tool.t.give(g)\nreturn [x, g]'), { globals: { g: value } });
    expect(driven.error).toBeNull();
    expect(driven.calls[0]).toMatchObject({ args: [value] });
    expect(driven.result).toEqual([value, value]);
  });

  it('a handle keeps its id between host and script, and shows it to nobody else', () => {
    const tools = { 'tool.t.open': () => ({ $handle: { kind: 'file', id: 'f-1' } }), 'tool.t.read': () => null };
    const driven = run(
      main('set h = tool.t.open()\ncall tool.t.read(h)\nemit h\nemit h == tool.t.open()\nemit typeof h\nreturn h'),
      { tools },
    );
    expect(driven.calls[1]).toMatchObject({ args: [{ $handle: { kind: 'file', id: 'f-1' } }] });
    expect(driven.emits).toEqual(['<handle file>', 'true', 'handle']);
    expect(driven.values[0]).toEqual({ $handle: 'file' });
    expect(driven.result).toEqual({ $handle: 'file' });
  });

  it('P9: the order of keys survives in arguments', () => {
    const frames: string[] = [];
    const tools = {
      'tool.t.keys': ([map]: readonly unknown[]) => {
        frames.push(JSON.stringify(map));
        return null;
      },
    };
    run(main("call tool.t.keys({'z': 1, 'a': 2, 'm': 3})"), { tools });
    expect(frames).toEqual(['{"z":1,"a":2,"m":3}']);
  });
});

describe('ask', () => {
  const asked = (statement: string, ask: DriveOptions['ask']): Driven => run(main(`${statement}\nemit [r, last]`), { ask });

  it('P27: sends the model as text, the prompt and the options as they are, and stores the answer', () => {
    const driven = asked("ask 5, {'p': 1} with {'max_turns': 3} into r", () => 'answer');
    expect(driven.calls[0]).toMatchObject({ t: 'ask', seq: 1, model: '5', prompt: { p: 1 }, options: { max_turns: 3 } });
    expect(driven.emits).toEqual(['["answer", "answer"]']);
    expect(driven.toolCalls).toBe(0);
  });

  it('without options they are null, and without into the answer is only the last value', () => {
    const driven = asked("ask 'm', 'p'", () => ['a']);
    expect(driven.calls[0]).toMatchObject({ options: null });
    expect(driven.emits).toEqual(['[nil, ["a"]]']);
  });

  it('raises what the host raises', () => {
    const driven = asked("ask 'm', 'p'", () => {
      throw new Raise(16, 'provider failed');
    });
    expect(driven.error).toMatchObject({ code: 'NS16', line: 2, column: 1 });
  });
});
