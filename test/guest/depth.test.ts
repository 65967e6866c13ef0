import { describe, expect, it } from 'vitest';
import { type Driven, drive } from './driver.ts';

/** Calls itself `n` times, with `nest` levels of brackets around each call. */
function recursion(nest: number): string {
  return `func f(needs n) means
  if n == 0
    return 0
  endif
  return ${'(1 + '.repeat(nest)}f(n - 1)${')'.repeat(nest)}
endfunc
`;
}

const descend = (n: number, nest = 0, limits = {}): Driven => drive(recursion(nest), { call: 'f', args: [n], limits });
const tooDeep = { kind: 'runtime', code: 'NS37', name: 'ResourceExhaustion' };

describe('depth', () => {
  it('P24: 500 frames, the outermost included', () => {
    expect(descend(499).error).toBeNull();
    expect(descend(500).error).toMatchObject({ ...tooDeep, line: 5, column: 10 });
    expect(descend(500).error?.stack).toHaveLength(500);
  });

  it('the command block is a frame', () => {
    const files = (n: number): string[] => [recursion(0), `command\nemit f(${n})\nendcommand\n`];
    expect(drive(files(498)).error).toBeNull();
    expect(drive(files(499)).error).toMatchObject(tooDeep);
  });

  it('the event handler is a frame', () => {
    const source = (n: number): string => `${recursion(0)}on event 'x' do\nemit f(${n})\nendon\n`;
    const events = [{ name: 'x', source: 's', payload: null }];
    expect(drive(source(498), { events }).eventErrors).toEqual([]);
    expect(drive(source(499), { events }).eventErrors).toMatchObject([{ event: 'x', error: tooDeep }]);
  });

  it('callDepth can be tightened', () => {
    expect(descend(9, 0, { callDepth: 10 }).error).toBeNull();
    expect(descend(10, 0, { callDepth: 10 }).error).toMatchObject(tooDeep);
    expect(descend(0, 0, { callDepth: 1 }).error).toBeNull();
  });

  it('P24: evaluation depth over all frames', () => {
    expect(descend(8, 100, { evalDepth: 1000 }).error).toBeNull();
    expect(descend(11, 100, { evalDepth: 1000 }).error).toMatchObject(tooDeep);
  });

  it('evaluation depth within one statement, exactly', () => {
    const nested = (levels: number): Driven =>
      drive(`command\nemit ${'[1] + ['.repeat(levels)}2${']'.repeat(levels)}\nendcommand\n`, { limits: { evalDepth: 20 } });
    expect(nested(8).error).toBeNull();
    expect(nested(12).error).toMatchObject(tooDeep);
  });

  it('a branch that does not run does not count', () => {
    const source = `command\nif false\nemit ${'('.repeat(50)}1${')'.repeat(50)}\nendif\nemit 'done'\nendcommand\n`;
    expect(drive(source, { limits: { evalDepth: 20 } }).emits).toEqual(['done']);
  });

  it('is catchable, and the run goes on', () => {
    const source = `${recursion(0)}func main() means\non error do\nemit system_error.code\nclear_error\nendon\nemit f(1000)\nemit f(3)\nendfunc\n`;
    expect(drive(source, { call: 'main' }).emits).toEqual(['37', '0']);
  });

  it('is catchable at the bottom, where there is room for the handler', () => {
    const source = `func f(needs n) means\non error do\nclear_error\nendon\nset x = 'at ' + n\nset x = f(n + 1)\nreturn x\nendfunc\n`;
    expect(drive(source, { call: 'f', args: [0] }).error).toBeNull();
  });

  it('P33: sums and chains of ten thousand terms run', () => {
    const sum = Array.from({ length: 10_000 }, () => '1').join(' + ');
    const both = Array.from({ length: 10_000 }, () => 'true').join(' and ');
    const source = `command\nemit ${sum}\nemit ${both}\nset m = {}\nset l = [m]\nemit len(${'l + '.repeat(9999)}l)\nendcommand\n`;
    expect(drive(source, { limits: { fuel: 1e9 } }).emits).toEqual(['10000', 'true', '10000']);
  });
});

describe('values that nest deeply', () => {
  const build = (levels: number, then: string): Driven =>
    drive(
      `func main() means\nset l = 1\nset i = 0\nwhile i < ${levels}\nset l = [l]\nset i = i + 1\nendwhile\n${then}\nendfunc\n`,
      {
        call: 'main',
        tools: { 'tool.t.take': () => null },
      },
    );

  it.each([
    ['as text', "set t = '' + l"],
    ['as a key', 'set m = {l: 1}'],
    ['emitted', 'emit l'],
    ['as a result', 'return l'],
    ['as an argument of a tool', 'call tool.t.take(l)'],
    ['compared', 'set e = l == [l]'],
  ])('%s: 500 levels, one more is code 37', (_name, then) => {
    expect(build(500, then).error).toBeNull();
    const compared = then.includes('==');
    expect(build(501, compared ? 'set k = [l]\nset e = [k] == [[l]]' : then).error).toMatchObject(tooDeep);
  });

  it('can be built, held and counted far deeper', () => {
    expect(build(100_000, 'emit len(l)').emits).toEqual(['1']);
  });
});
