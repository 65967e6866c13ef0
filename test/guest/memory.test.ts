import { describe, expect, it } from 'vitest';
import { type Driven, drive } from './driver.ts';

const MB = 1024 * 1024;
const run = (body: string, memoryBytes: number, more = {}): Driven =>
  drive(`command\n${body}\nendcommand\n`, { limits: { memoryBytes }, ...more });
const loop = (passes: number, body: string): string => `set i = 0\nwhile i < ${passes}\n${body}\nset i = i + 1\nendwhile`;
const breach = (memoryBytes: number) => ({ kind: 'quota', code: 'ERR_QUOTA', limit: 'memoryBytes', allowed: memoryBytes });

describe('memory is refused before it is allocated', () => {
  it('a text doubled for ever ends near the limit', () => {
    const driven = run("set s = 'x'\nwhile true\nset s = s + s\nendwhile", 32 * MB);
    expect(driven.error).toMatchObject({ ...breach(32 * MB), line: 4, column: 11 });
    expect(driven.error?.used).toBeGreaterThan(32 * MB);
    expect(driven.peakMemoryBytes).toBeGreaterThan(16 * MB);
    expect(driven.peakMemoryBytes).toBeLessThanOrEqual(32 * MB);
  });

  it.each([
    ['repetition', "set s = 'ab' * 1e12"],
    ['repetition beyond what V8 can hold', "set s = 'ab' * 1e300"],
    ['padding a list', 'set l[1000000] = 1'],
    ['a list that grows', 'set l = []\nwhile true\nset l[len(l)] = 1\nendwhile'],
    ['a map that grows', "set m = {}\nwhile true\nset m['k' + len(m)] = 1\nendwhile"],
    ['nested lists', 'set l = []\nwhile true\nset l = [l]\nendwhile'],
    ['a list joined to itself', 'set l = [1]\nwhile true\nset l = l + l\nendwhile'],
    ['a template', "set s = 'x'\nwhile true\nset s = ```{{s}}{{s}}```\nendwhile"],
    ['eval', 'set s = \'x\'\nwhile true\nset s = eval("{{s}}{{s}}")\nendwhile'],
    [
      'the text of a list',
      `set l = ['${'y'.repeat(1000)}']\nset i = 0\nwhile i < 13\nset l = l + l\nset i = i + 1\nendwhile\nset t = '' + l`,
    ],
    ['quoting a text inside of a list', "set s = [char(1) * 300000]\nemit len('' + s)"],
    ['keys', "set m = {}\nset m['x' * 3000000] = 1"],
    [
      'the text of what is emitted',
      "set l = ['x' * 100000]\nset i = 0\nwhile i < 9\nset l = [l, l]\nset i = i + 1\nendwhile\nemit l",
    ],
  ])('%s', (_name, body) => {
    const driven = run(body, 4 * MB);
    expect(driven.error).toMatchObject(breach(4 * MB));
    expect(driven.peakMemoryBytes).toBeLessThanOrEqual(4 * MB);
  });

  it('a result of a tool', () => {
    const driven = run('set x = tool.t.big()', MB, { tools: { 'tool.t.big': () => 'y'.repeat(600_000) } });
    expect(driven.error).toMatchObject(breach(MB));
  });

  it('the arguments of a tool', () => {
    const driven = run("set s = 'x' * 400000\ncall tool.t.take(s)", MB, { tools: { 'tool.t.take': () => null } });
    expect(driven.error).toMatchObject(breach(MB));
  });

  it('a global', () => {
    const driven = run('emit 1', MB, { globals: { g: 'y'.repeat(600_000) } });
    expect(driven).toMatchObject({ phase: 'load', error: breach(MB) });
  });

  it('frames with many variables', () => {
    const names = Array.from({ length: 2000 }, (_, index) => `set v${index} = 1`).join('\n');
    const source = `func f() means\ncall f()\n${names}\nendfunc\n`;
    expect(drive(source, { call: 'f', limits: { memoryBytes: 4 * MB } }).error).toMatchObject(breach(4 * MB));
  });

  it('texts that only statements in progress hold, over many frames', () => {
    const source = "func f(needs n) means\nreturn 'a' * 300000 + f(n + 1)\nendfunc\n";
    expect(drive(source, { call: 'f', args: [0], limits: { memoryBytes: 8 * MB } }).error).toMatchObject(breach(8 * MB));
  });

  it('lists that only statements in progress hold', () => {
    const source = `func big() means
set l = []
set l[20000] = 1
return l
endfunc
func f(needs n) means
return [big(), f(n + 1)]
endfunc
`;
    expect(drive(source, { call: 'f', args: [0], limits: { memoryBytes: 4 * MB } }).error).toMatchObject(breach(4 * MB));
  });

  it('what a statement holds while it calls and goes on', () => {
    const items = Array.from({ length: 10 }, () => "'x' * 1000000, id(1)").join(', ');
    const source = `func id(needs x) means\nreturn x\nendfunc\nfunc main() means\nset l = [${items}]\nreturn 1\nendfunc\n`;
    const { error } = drive(source, { call: 'main', limits: { memoryBytes: 8 * MB } });
    expect(error).toMatchObject({ ...breach(8 * MB), line: 5 });
  });

  it('a list that only a loop holds', () => {
    const source = `func big() means
set l = []
set l[80000] = 1
return l
endfunc
func main() means
for each x in big()
if x == 1
set s = 'y' * 1500000
endif
endfor
endfunc
`;
    expect(drive(source, { call: 'main', limits: { memoryBytes: 4 * MB } }).error).toMatchObject(breach(4 * MB));
  });

  it('no handler sees it', () => {
    const driven = run("on error do\nemit 'never'\nclear_error\nendon\nset s = 'x' * 1e9", MB);
    expect(driven.emits).toEqual([]);
    expect(driven.error).toMatchObject(breach(MB));
  });
});

describe('garbage does not count', () => {
  it.each([
    ['texts', "set s = 'x' * 10000 + i"],
    ['lists', 'set l = [i, [i, i], {"k": i}]'],
    ['texts of values', "set s = '' + [i, 'x' * 1000]"],
    ['emits', "if i % 100 == 0\nemit 'x' * 1000\nendif"],
    ['what a call left behind', 'call f(i)'],
    ['results of calls', 'set x = [f(i), f(i)]'],
    ['errors', 'call g(i)'],
    ['arguments of tools', "call tool.t.take(['x' * 5000])"],
  ])('%s', (_name, body) => {
    const library = `func f(needs i) means
  set s = 'y' * 5000 + i
  return [s, s]
endfunc
func g(needs i) means
  on error do
    clear_error
  endon
  fail 'z' * 5000
endfunc
`;
    const driven = drive([library, `command\n${loop(3000, body)}\nendcommand\n`], {
      limits: { memoryBytes: MB, toolCalls: 5000 },
      tools: { 'tool.t.take': () => null },
    });
    expect(driven.error).toBeNull();
    expect(driven.peakMemoryBytes).toBeLessThanOrEqual(MB);
  });

  it('nor what a callee made while its caller waits', () => {
    const source = `func work() means
${loop(3000, "set s = 'x' * 10000 + i")}
return 1
endfunc
func main() means
return 1 + work()
endfunc
`;
    expect(drive(source, { call: 'main', limits: { memoryBytes: MB } }).error).toBeNull();
  });

  it('nor does a text that many places hold count more than was ever allocated', () => {
    const body =
      "set s = 'x' * 100000\nset l = []\nset i = 0\nwhile i < 30\nset l[i] = s\nset i = i + 1\nendwhile\nset t = 'y' * 600000";
    expect(run(body, 4 * MB).error).toBeNull();
  });

  it('nor what the statements before made', () => {
    expect(run(Array.from({ length: 100 }, () => "set s = 'x' * 50000").join('\n'), MB).error).toBeNull();
    const guarded = `on error do\nclear_error\nendon\n${Array.from({ length: 100 }, () => "set s = 'x' * 50000").join('\n')}`;
    expect(run(guarded, MB).error).toBeNull();
  });

  it('a long sum of texts is not counted once for every step', () => {
    const terms = Array.from({ length: 5000 }, () => "'abcdefghij'").join(' + ');
    expect(run(`set s = ${terms}\nemit len(s)`, MB).emits).toEqual(['50000']);
  });
});

it('peak memory is what was alive at once, to a factor of two or a megabyte', () => {
  const driven = run(`set s = 'x' * 2000000\nset s = 1\n${loop(1000, "set t = 'y' * 10000")}`, 64 * MB);
  expect(driven.peakMemoryBytes).toBeGreaterThan(4_000_000);
  expect(driven.peakMemoryBytes).toBeLessThan(9_000_000);
});
